// The configuration table: one entry per key, from which come the YAML reader, the environment
// variables, the command-line flags, `--help`, `check-config` and docs/CONFIG.md.
//
// An entry binds a path such as `server.port` to a member of Config, with its range and help. Every
// source (YAML, environment, flag) hands over text; apply_value() turns it into the typed member or
// says what is wrong. Immutable; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "app/config.h"
#include "core/error.h"

namespace zerohop {

/// A value as a source gave it, before it has a type.
using RawEntries = std::vector<std::pair<std::string, std::string>>;
using RawValue = std::variant<std::string, std::vector<std::string>, RawEntries>;

template <class T>
using ConfigMember = T& (*)(Config&);

/// What is wrong with a text, as the end of "'X' …"; nothing when it is fine.
using TextRule = std::optional<std::string> (*)(std::string_view text);

struct IntegerType {
  std::variant<ConfigMember<std::uint16_t>, ConfigMember<std::uint32_t>,
               ConfigMember<std::uint64_t>>
      member;
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  std::string_view word;         ///< a word that stands for `word_value`: "auto"; empty: none
  std::uint64_t word_value = 0;  ///< may lie outside min to max
};

struct NumberType {
  ConfigMember<double> member;
  double min = 0;
  double max = 0;
};

struct BooleanType {
  ConfigMember<bool> member;
};

struct TextType {
  ConfigMember<std::string> member;
  TextRule rule = nullptr;
};

struct ChoiceType {
  std::span<const std::string_view> names;  ///< in the order of the enum
  void (*set)(Config&, std::size_t index);
  std::size_t (*get)(Config&);
};

/// What an item of a list may be.
enum class ListItems : std::uint8_t {
  kNames,  ///< without commas, so that a flag or variable can name several
  kTexts,  ///< anything; a flag or variable is one item
};

struct TextListType {
  ConfigMember<std::vector<std::string>> member;
  ListItems items = ListItems::kNames;
};

struct NumberListType {
  ConfigMember<std::vector<double>> member;  ///< each ≥ 0
};

/// What an entry of a map may be.
enum class MapValues : std::uint8_t {
  kTexts,
  kJson,  ///< a map again: the source hands it over as JSON
};

struct TextMapType {
  ConfigMember<std::map<std::string, std::string>> member;
  TextRule key_rule;
  TextRule value_rule;
  MapValues values = MapValues::kTexts;
};

using ConfigType = std::variant<IntegerType, NumberType, BooleanType, TextType, ChoiceType,
                                TextListType, NumberListType, TextMapType>;

/// When a changed value of a key comes into force.
enum class TakesEffect : std::uint8_t {
  kRestart,
  kReload,  ///< on SIGHUP and POST /admin/reload (live_config.h)
};

struct ConfigKey {
  std::string_view path;        ///< section.key, as in YAML
  std::string_view flag;        ///< "--port"; empty when there is none
  std::string_view flag_value;  ///< what help shows after it: "PORT"; empty for an on-switch
  ConfigType type;
  std::string_view unit;          ///< for people; empty when there is none
  std::string_view help;          ///< a sentence
  std::string_view default_note;  ///< shown in place of a default that is computed
  TakesEffect takes_effect = TakesEffect::kRestart;

  std::string_view section() const { return path.substr(0, path.find('.')); }
  std::string_view name() const { return path.substr(path.find('.') + 1); }
  /// `server.port` → `ZEROHOP_SERVER_PORT`.
  std::string variable() const;
};

/// All keys, grouped by section.
std::span<const ConfigKey> config_table();

/// Nothing for an unknown path.
const ConfigKey* find_config_key(std::string_view path);

/// What a value may be: "0 to 65535", "auto, or 1 to 512", "true or false", "json or text".
std::string allowed_values(const ConfigKey& key);

/// Splits the text of a flag or variable as the key's type wants it: `a,b` for lists, `k=v,k=v` for
/// maps, otherwise unchanged. Errors: kConfiguration when an entry of a map lacks its `=`.
Result<RawValue> split_text(const ConfigKey& key, std::string_view text);

/// Sets the member that `key` binds. Errors: kConfiguration; the message names the value and what
/// would be right, `field` the path. The config is unchanged then.
Result<void> apply_value(const ConfigKey& key, const RawValue& value, Config& config);

/// The value that `config` holds, in the form that apply_value() accepts.
RawValue current_value(const ConfigKey& key, const Config& config);
/// The same without a copy of `config`, which stays as it is: for whoever asks for many keys.
RawValue value_in(const ConfigKey& key, Config& config);

/// current_value() on one line, in the form of a flag: `a,b` and `k=v,k=v`.
std::string value_text(const RawValue& value);

}  // namespace zerohop
