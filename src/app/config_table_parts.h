// What the parts of the configuration table share. Internal to config_table*.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "app/config_table.h"

namespace zerohop {

/// The keys of the sections server, tls, instance, auth and admin: who may reach the server, and as
/// what it is known.
std::span<const ConfigKey> network_config_keys();
/// Those of the sections metrics and slo.
std::span<const ConfigKey> metrics_config_keys();
/// Those of the section otlp.
std::span<const ConfigKey> otlp_config_keys();
/// Those of the section queue.
std::span<const ConfigKey> queue_config_keys();

// `Member` is a captureless lambda Config& → enum&; the names stand in the order of the enum.
template <auto Member>
constexpr ChoiceType choice(std::span<const std::string_view> names) {
  using Enum = std::remove_reference_t<decltype(Member(std::declval<Config&>()))>;
  return {names,
          [](Config& config, std::size_t index) { Member(config) = static_cast<Enum>(index); },
          [](Config& config) { return static_cast<std::size_t>(Member(config)); }};
}

// Nothing sensible takes longer than a day.
inline constexpr std::uint64_t kSecondsMax = 86'400;

}  // namespace zerohop
