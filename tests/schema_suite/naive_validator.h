// A validator of JSON Schema as the specification reads: keyword by keyword on the whole value,
// nothing compiled, nothing shared with what it is held against but the reader of JSON. For the
// keywords of exhaustive_schemas_test.cc alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/utf8.h"
#include "constrain/schema_document.h"

namespace zerohop {

class NaiveValidator {
 public:
  static bool accepts(const JsonNode& schema, const JsonNode& value) {
    if (schema.is(Type::kTrue)) return true;
    if (schema.is(Type::kFalse)) return false;
    return std::all_of(schema.members.begin(), schema.members.end(), [&](const auto& member) {
      return holds(schema, member.first, member.second, value);
    });
  }

 private:
  using Type = JsonNode::Type;

  static double number(const JsonNode& node) { return std::strtod(node.text.c_str(), nullptr); }

  static bool is_of(std::string_view type, const JsonNode& value) {
    if (type == "null") return value.is(Type::kNull);
    if (type == "boolean") return value.is(Type::kTrue) || value.is(Type::kFalse);
    if (type == "string") return value.is(Type::kString);
    if (type == "array") return value.is(Type::kArray);
    if (type == "object") return value.is(Type::kObject);
    if (!value.is(Type::kNumber)) return false;
    return type == "number" || number(value) == std::floor(number(value));
  }

  // The one pattern there is.
  static bool matches(std::string_view pattern, std::string_view text) {
    ZH_CHECK(pattern == "^a");
    return text.starts_with('a');
  }

  static std::size_t count(const JsonNode& schemas, const JsonNode& value) {
    return static_cast<std::size_t>(
        std::count_if(schemas.items.begin(), schemas.items.end(),
                      [&](const JsonNode& each) { return accepts(each, value); }));
  }

  static bool holds(const JsonNode& schema, std::string_view keyword, const JsonNode& rule,
                    const JsonNode& value) {
    if (keyword == "type") return is_of(rule.text, value);
    if (keyword == "const") return json_equal(rule, value);
    if (keyword == "enum") {
      return std::any_of(rule.items.begin(), rule.items.end(),
                         [&](const JsonNode& each) { return json_equal(each, value); });
    }
    if (keyword == "not") return !accepts(rule, value);
    if (keyword == "allOf") return count(rule, value) == rule.items.size();
    if (keyword == "anyOf") return count(rule, value) > 0;
    if (keyword == "oneOf") return count(rule, value) == 1;
    if (keyword == "if") {
      const JsonNode* next = schema.find(accepts(rule, value) ? "then" : "else");
      return next == nullptr || accepts(*next, value);
    }
    switch (value.type) {
      case Type::kNumber: return keyword != "minimum" || number(value) >= number(rule);
      case Type::kString: return holds_of_text(keyword, rule, value.text);
      case Type::kArray: return holds_of_array(schema, keyword, rule, value);
      case Type::kObject: return holds_of_object(schema, keyword, rule, value);
      default: return true;
    }
  }

  static bool holds_of_text(std::string_view keyword, const JsonNode& rule,
                            const std::string& text) {
    const auto characters = static_cast<double>(utf8_decode(text).size());
    if (keyword == "maxLength") return characters <= number(rule);
    if (keyword == "minLength") return characters >= number(rule);
    return keyword != "pattern" || matches(rule.text, text);
  }

  static bool holds_of_array(const JsonNode& schema, std::string_view keyword, const JsonNode& rule,
                             const JsonNode& array) {
    const auto& items = array.items;
    const auto fits = [&](const JsonNode& item) { return accepts(rule, item); };
    if (keyword == "minItems") return static_cast<double>(items.size()) >= number(rule);
    if (keyword == "maxItems") return static_cast<double>(items.size()) <= number(rule);
    if (keyword == "contains") return std::any_of(items.begin(), items.end(), fits);
    if (keyword == "uniqueItems") return all_differ(items);
    if (keyword == "prefixItems") {
      for (std::size_t i = 0; i < std::min(items.size(), rule.items.size()); ++i) {
        if (!accepts(rule.items[i], items[i])) return false;
      }
    }
    if (keyword != "items") return true;
    const JsonNode* prefix = schema.find("prefixItems");
    const std::size_t first = prefix == nullptr ? 0 : prefix->items.size();
    for (std::size_t i = first; i < items.size(); ++i) {
      if (!fits(items[i])) return false;
    }
    return true;
  }

  static bool all_differ(const std::vector<JsonNode>& items) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (json_equal(items[i], items[j])) return false;
      }
    }
    return true;
  }

  static bool names_hold(const JsonNode& names, const JsonNode& object) {
    return std::all_of(names.items.begin(), names.items.end(),
                       [&](const JsonNode& name) { return object.find(name.text) != nullptr; });
  }

  static bool holds_of_object(const JsonNode& schema, std::string_view keyword,
                              const JsonNode& rule, const JsonNode& object) {
    const auto properties = static_cast<double>(object.members.size());
    if (keyword == "minProperties") return properties >= number(rule);
    if (keyword == "maxProperties") return properties <= number(rule);
    if (keyword == "required") return names_hold(rule, object);
    if (keyword == "dependentRequired" || keyword == "dependentSchemas") {
      return std::all_of(rule.members.begin(), rule.members.end(), [&](const auto& each) {
        if (object.find(each.first) == nullptr) return true;
        return keyword == "dependentSchemas" ? accepts(each.second, object)
                                             : names_hold(each.second, object);
      });
    }
    return std::all_of(object.members.begin(), object.members.end(), [&](const auto& property) {
      return property_holds(schema, keyword, rule, property);
    });
  }

  static bool property_holds(const JsonNode& schema, std::string_view keyword, const JsonNode& rule,
                             const std::pair<std::string, JsonNode>& property) {
    const auto& [name, value] = property;
    if (keyword == "propertyNames") {
      JsonNode text;
      text.type = Type::kString;
      text.text = name;
      return accepts(rule, text);
    }
    if (keyword == "properties") {
      const JsonNode* own = rule.find(name);
      return own == nullptr || accepts(*own, value);
    }
    if (keyword == "patternProperties") {
      return std::all_of(rule.members.begin(), rule.members.end(), [&](const auto& each) {
        return !matches(each.first, name) || accepts(each.second, value);
      });
    }
    if (keyword != "additionalProperties") return true;
    const JsonNode* declared = schema.find("properties");
    if (declared != nullptr && declared->find(name) != nullptr) return true;
    const JsonNode* patterns = schema.find("patternProperties");
    const bool matched = patterns != nullptr &&
                         std::any_of(patterns->members.begin(), patterns->members.end(),
                                     [&](const auto& each) { return matches(each.first, name); });
    return matched || accepts(rule, value);
  }
};

}  // namespace zerohop
