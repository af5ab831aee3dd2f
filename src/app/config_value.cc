// Texts to typed members and back: the part of config_table.h that is code, not data.
#include <charconv>
#include <cmath>
#include <optional>

#include "app/config_table.h"
#include "app/suggest.h"
#include "base/check.h"
#include "base/whole_number.h"

namespace zerohop {
namespace {

constexpr std::size_t kListItemsMax = 256;

Error wrong(const ConfigKey& key, std::string message) {
  return Error{ErrorCode::kConfiguration, std::move(message), std::string(key.path), {}};
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

// ---- Allowed values, for messages and documents ----

std::string allowed(const IntegerType& type) {
  std::string range = std::to_string(type.min) + " to " + std::to_string(type.max);
  return type.word.empty() ? range : range + ", or " + std::string(type.word);
}

std::string number_text(double number) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number);
  ZH_CHECK(end.ec == std::errc{});
  return {buffer, end.ptr};
}

std::string allowed(const NumberType& type) {
  return number_text(type.min) + " to " + number_text(type.max) + ", with a fraction";
}

std::string allowed(const ChoiceType& type) {
  std::string list;
  for (std::size_t i = 0; i < type.names.size(); ++i) {
    if (i > 0) list.append(i + 1 == type.names.size() ? " or " : ", ");
    list.append(type.names[i]);
  }
  return list;
}

std::string allowed(const BooleanType&) { return "true or false"; }
std::string allowed(const TextType&) { return "text"; }
std::string allowed(const TextListType& type) {
  return type.items == ListItems::kNames ? "a list of names" : "a list of texts";
}
std::string allowed(const NumberListType&) { return "a list of numbers, 0 or more each"; }
std::string allowed(const TextMapType& type) {
  return type.values == MapValues::kTexts ? "a map of name to text" : "a map of name to map";
}

// ---- Setting ----

Result<std::string> as_scalar(const ConfigKey& key, const RawValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const bool list = std::holds_alternative<std::vector<std::string>>(value);
  return wrong(key, std::string("needs one value (") + allowed_values(key) + "), not a " +
                        (list ? "list" : "map"));
}

Result<std::vector<std::string>> as_list(const ConfigKey& key, const RawValue& value) {
  RawValue list = value;
  if (const auto* text = std::get_if<std::string>(&value)) {
    ZH_ASSIGN_OR_RETURN(list, split_text(key, *text));
  }
  auto* items = std::get_if<std::vector<std::string>>(&list);
  if (items == nullptr) return wrong(key, "needs " + allowed_values(key) + ", not a map");
  if (items->size() > kListItemsMax) return wrong(key, "has more than 256 items");
  return std::move(*items);
}

Result<void> set(const ConfigKey& key, const IntegerType& type, const RawValue& raw,
                 Config& config) {
  ZH_ASSIGN_OR_RETURN(const std::string text, as_scalar(key, raw));
  std::uint64_t number = 0;
  if (!type.word.empty() && text == type.word) {
    number = type.word_value;
  } else {
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    const bool negative =
        text.size() > 1 && text[0] == '-' && text.find_first_not_of("0123456789", 1) == text.npos;
    const bool whole = parsed.ptr == end && parsed.ec != std::errc::invalid_argument;
    if (!whole && !negative) {
      return wrong(key, quoted(text) + " is not a whole number (" + allowed(type) + ")");
    }
    if (negative || parsed.ec != std::errc{} || number < type.min || number > type.max) {
      return wrong(key, text + " is out of range (" + allowed(type) + ")");
    }
  }
  std::visit([&config,
              number]<class T>(ConfigMember<T> member) { member(config) = static_cast<T>(number); },
             type.member);
  return {};
}

// Nothing when `text` is no number, or none that is finite.
std::optional<double> finite_number(const std::string& text) {
  const auto number = whole_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

Result<void> set(const ConfigKey& key, const NumberType& type, const RawValue& raw,
                 Config& config) {
  ZH_ASSIGN_OR_RETURN(const std::string text, as_scalar(key, raw));
  const std::optional<double> number = finite_number(text);
  if (!number) return wrong(key, quoted(text) + " is not a number (" + allowed(type) + ")");
  if (*number < type.min || *number > type.max) {
    return wrong(key, text + " is out of range (" + allowed(type) + ")");
  }
  type.member(config) = *number;
  return {};
}

Result<void> set(const ConfigKey& key, const BooleanType& type, const RawValue& raw,
                 Config& config) {
  ZH_ASSIGN_OR_RETURN(const std::string text, as_scalar(key, raw));
  if (text != "true" && text != "false") {
    return wrong(key, quoted(text) + " is not true or false");
  }
  type.member(config) = text == "true";
  return {};
}

Result<void> set(const ConfigKey& key, const TextType& type, const RawValue& raw, Config& config) {
  ZH_ASSIGN_OR_RETURN(std::string text, as_scalar(key, raw));
  if (type.rule != nullptr) {
    if (const auto complaint = type.rule(text)) return wrong(key, quoted(text) + " " + *complaint);
  }
  type.member(config) = std::move(text);
  return {};
}

Result<void> set(const ConfigKey& key, const ChoiceType& type, const RawValue& raw,
                 Config& config) {
  ZH_ASSIGN_OR_RETURN(const std::string text, as_scalar(key, raw));
  for (std::size_t i = 0; i < type.names.size(); ++i) {
    if (text != type.names[i]) continue;
    type.set(config, i);
    return {};
  }
  return wrong(key, quoted(text) + " is not " + allowed(type) + did_you_mean(text, type.names));
}

Result<void> set(const ConfigKey& key, const TextListType& type, const RawValue& raw,
                 Config& config) {
  ZH_ASSIGN_OR_RETURN(std::vector<std::string> items, as_list(key, raw));
  for (const std::string& item : items) {
    // A comma inside a name could not be written as a flag.
    const bool comma = type.items == ListItems::kNames && item.find(',') != item.npos;
    if (item.empty() || comma) {
      return wrong(key, quoted(item) + " is not a name");
    }
  }
  type.member(config) = std::move(items);
  return {};
}

Result<void> set(const ConfigKey& key, const NumberListType& type, const RawValue& raw,
                 Config& config) {
  ZH_ASSIGN_OR_RETURN(const std::vector<std::string> items, as_list(key, raw));
  std::vector<double> numbers;
  for (const std::string& item : items) {
    const std::optional<double> number = finite_number(item);
    if (!number || *number < 0) {
      return wrong(key, quoted(item) + " is not a number of 0 or more");
    }
    numbers.push_back(*number);
  }
  type.member(config) = std::move(numbers);
  return {};
}

Result<void> set(const ConfigKey& key, const TextMapType& type, const RawValue& raw,
                 Config& config) {
  const auto* entries = std::get_if<RawEntries>(&raw);
  if (entries == nullptr) return wrong(key, "needs " + allowed(type));
  if (entries->size() > kListItemsMax) return wrong(key, "has more than 256 entries");
  std::map<std::string, std::string> map;
  for (const auto& [name, text] : *entries) {
    if (const auto complaint = type.key_rule(name))
      return wrong(key, quoted(name) + " " + *complaint);
    if (const auto complaint = type.value_rule(text)) {
      return wrong(key, "the value " + quoted(text) + " of " + quoted(name) + " " + *complaint);
    }
    if (!map.emplace(name, text).second) return wrong(key, quoted(name) + " is given twice");
  }
  type.member(config) = std::move(map);
  return {};
}

// ---- Reading back ----

RawValue get(const IntegerType& type, Config& config) {
  const std::uint64_t number = std::visit(
      [&config](const auto member) { return std::uint64_t{member(config)}; }, type.member);
  if (!type.word.empty() && number == type.word_value) return std::string(type.word);
  return std::to_string(number);
}

RawValue get(const NumberType& type, Config& config) { return number_text(type.member(config)); }
RawValue get(const BooleanType& type, Config& config) {
  return std::string(type.member(config) ? "true" : "false");
}
RawValue get(const TextType& type, Config& config) { return type.member(config); }
RawValue get(const ChoiceType& type, Config& config) {
  return std::string(type.names[type.get(config)]);
}
RawValue get(const TextListType& type, Config& config) { return type.member(config); }
RawValue get(const NumberListType& type, Config& config) {
  std::vector<std::string> items;
  for (const double number : type.member(config)) items.push_back(number_text(number));
  return items;
}
RawValue get(const TextMapType& type, Config& config) {
  const auto& map = type.member(config);
  return RawEntries(map.begin(), map.end());
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> items;
  if (text.empty()) return items;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    items.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

}  // namespace

std::string allowed_values(const ConfigKey& key) {
  return std::visit([](const auto& type) { return allowed(type); }, key.type);
}

Result<RawValue> split_text(const ConfigKey& key, std::string_view text) {
  if (const auto* texts = std::get_if<TextListType>(&key.type);
      texts != nullptr && texts->items == ListItems::kTexts) {
    return RawValue(std::vector<std::string>(text.empty() ? 0 : 1, std::string(text)));
  }
  const bool list = std::holds_alternative<TextListType>(key.type) ||
                    std::holds_alternative<NumberListType>(key.type);
  if (list) return RawValue(split_at_commas(text));
  if (!std::holds_alternative<TextMapType>(key.type)) return RawValue(std::string(text));
  RawEntries entries;
  for (const std::string& item : split_at_commas(text)) {
    const std::size_t equals = item.find('=');
    if (equals == item.npos) return wrong(key, quoted(item) + " is not of the form name=text");
    entries.emplace_back(item.substr(0, equals), item.substr(equals + 1));
  }
  return RawValue(std::move(entries));
}

Result<void> apply_value(const ConfigKey& key, const RawValue& value, Config& config) {
  return std::visit([&](const auto& type) { return set(key, type, value, config); }, key.type);
}

RawValue value_in(const ConfigKey& key, Config& config) {
  return std::visit([&config](const auto& type) { return get(type, config); }, key.type);
}

RawValue current_value(const ConfigKey& key, const Config& config) {
  Config copy = config;  // members are bound as references that can be written
  return value_in(key, copy);
}

std::string value_text(const RawValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  std::string joined;
  const auto add = [&joined](std::string_view item) {
    if (!joined.empty()) joined.push_back(',');
    joined.append(item);
  };
  if (const auto* items = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& item : *items) add(item);
  } else {
    for (const auto& [name, text] : std::get<RawEntries>(value)) add(name + "=" + text);
  }
  return joined;
}

}  // namespace zerohop
