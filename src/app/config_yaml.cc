// YAML to settings. The only file that knows yaml-cpp, whose exceptions end here.
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <set>
#include <variant>

#include "app/config_load.h"
#include "app/suggest.h"
#include "base/utf8.h"

namespace zerohop {
namespace {

namespace json = boost::json;

// Hand-written files have a few kilobytes; yaml-cpp takes about 50 bytes of memory for one of text.
constexpr std::size_t kYamlBytesMax = std::size_t{1} << 20;

bool is_json_number(const std::string& text) {
  boost::system::error_code fault;
  const json::value value = json::parse(text, fault);
  return !fault && value.is_number();
}

// A word without quotes is a number or a truth value where it looks like one, as in YAML. Numbers
// keep their digits: schemas are compared as text.
std::string json_of_word(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  const bool quoted = node.Tag() == "!";
  if (!quoted && (text == "true" || text == "false" || is_json_number(text))) return text;
  if (!quoted && (text == "null" || text == "~")) return "null";
  return json::serialize(json::string(text));
}

// What a map of a map says, as JSON.
std::string json_of(const YAML::Node& node) {
  std::string out;
  if (node.IsMap()) {
    for (const auto& entry : node) {
      out += out.empty() ? "{" : ",";
      out += json::serialize(json::string(entry.first.Scalar())) + ":" + json_of(entry.second);
    }
    return out.empty() ? "{}" : out + "}";
  }
  if (node.IsSequence()) {
    for (const YAML::Node& item : node) {
      out += out.empty() ? "[" : ",";
      out += json_of(item);
    }
    return out.empty() ? "[]" : out + "]";
  }
  return node.IsScalar() ? json_of_word(node) : "null";
}

class YamlReader {
 public:
  explicit YamlReader(const std::string& name) : name_(name) {}

  Result<std::vector<YamlSetting>> read(const std::string& text) {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.empty()) return std::move(settings_);
    if (documents.size() > 1) return at(documents[1], "only one YAML document is allowed");
    const YAML::Node& root = documents[0];
    if (root.IsNull()) return std::move(settings_);
    if (!root.IsMap()) return at(root, "must be a map of sections");
    for (const auto& entry : root) ZH_RETURN_IF_ERROR(read_section(entry.first, entry.second));
    return std::move(settings_);
  }

 private:
  Error at(const YAML::Node& node, const std::string& message) const {
    return Error{ErrorCode::kConfiguration, place(node) + ": " + message, {}, {}};
  }

  std::string place(const YAML::Node& node) const {
    return name_ + ":" + std::to_string(line_of(node));
  }

  static int line_of(const YAML::Node& node) { return std::max(node.Mark().line, 0) + 1; }

  Result<void> read_section(const YAML::Node& name, const YAML::Node& content) {
    if (!name.IsScalar()) return at(name, "a section's name must be a word");
    const std::string& section = name.Scalar();
    std::vector<std::string_view> sections;
    for (const ConfigKey& key : config_table()) {
      if (sections.empty() || sections.back() != key.section()) sections.push_back(key.section());
    }
    if (std::ranges::find(sections, section) == sections.end()) {
      return at(name, "unknown section '" + section + "'" + did_you_mean(section, sections));
    }
    if (!seen_.insert(section).second) return at(name, "section '" + section + "' is given twice");
    if (content.IsNull()) return {};
    if (!content.IsMap()) return at(name, "section '" + section + "' must be a map of keys");
    for (const auto& entry : content) {
      ZH_RETURN_IF_ERROR(read_key(section, entry.first, entry.second));
    }
    return {};
  }

  Result<void> read_key(const std::string& section, const YAML::Node& name,
                        const YAML::Node& content) {
    if (!name.IsScalar()) return at(name, "a key of section '" + section + "' must be a word");
    const std::string path = section + "." + name.Scalar();
    const ConfigKey* key = find_config_key(path);
    if (key == nullptr) {
      std::vector<std::string_view> paths;
      for (const ConfigKey& known : config_table()) paths.push_back(known.path);
      return at(name, "unknown key '" + path + "'" + did_you_mean(path, paths));
    }
    if (!seen_.insert(path).second) return at(name, "key '" + path + "' is given twice");
    ZH_ASSIGN_OR_RETURN(RawValue value, read_value(*key, name, content));
    settings_.push_back({key, std::move(value), line_of(name), lines_of(content)});
    return {};
  }

  static std::map<std::string, int> lines_of(const YAML::Node& content) {
    std::map<std::string, int> lines;
    if (!content.IsMap()) return lines;
    // Of one that is given twice the second one is wrong.
    for (const auto& entry : content) lines[entry.first.Scalar()] = line_of(entry.first);
    return lines;
  }

  Result<RawValue> read_value(const ConfigKey& key, const YAML::Node& name,
                              const YAML::Node& content) const {
    const std::string path(key.path);
    if (content.IsScalar()) return RawValue(content.Scalar());
    if (content.IsSequence()) {
      std::vector<std::string> items;
      for (const YAML::Node& item : content) {
        if (!item.IsScalar()) return at(item, path + ": an item must be one word or number");
        items.push_back(item.Scalar());
      }
      return RawValue(std::move(items));
    }
    if (content.IsMap()) {
      RawEntries entries;
      for (const auto& entry : content) {
        const auto* type = std::get_if<TextMapType>(&key.type);
        const bool nested = type != nullptr && type->values == MapValues::kJson;
        if (!entry.first.IsScalar() || nested != entry.second.IsMap()) {
          return at(entry.first,
                    path + ": an entry must be of the form name: " + (nested ? "map" : "text"));
        }
        entries.emplace_back(entry.first.Scalar(),
                             nested ? json_of(entry.second) : entry.second.Scalar());
      }
      return RawValue(std::move(entries));
    }
    return at(name, path + ": has no value");
  }

  const std::string& name_;
  std::vector<YamlSetting> settings_;
  std::set<std::string> seen_;  // sections and paths
};

}  // namespace

Result<std::vector<YamlSetting>> parse_config_yaml(const std::string& text,
                                                   const std::string& name) {
  if (text.size() > kYamlBytesMax) {
    return Error{ErrorCode::kConfiguration, name + ": is larger than 1 MiB", {}, {}};
  }
  // The YAML library would guess at other encodings and may then see an empty file.
  if (!utf8_is_valid(text)) {
    return Error{ErrorCode::kConfiguration, name + ": is not UTF-8 text", {}, {}};
  }
  try {
    return YamlReader(name).read(text);
  } catch (const YAML::Exception& fault) {
    const std::string line = std::to_string(std::max(fault.mark.line, 0) + 1);
    return Error{
        ErrorCode::kConfiguration, name + ":" + line + ": not valid YAML: " + fault.msg, {}, {}};
  }
}

}  // namespace zerohop
