#include "prompt/live_values.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "constrain/json_text.h"
#include "constrain/schema_document.h"

namespace zerohop {
namespace {

constexpr std::size_t kValueBytesMax = 200;
// What a request may ask to be looked for, and how much text is searched, the newest first.
constexpr std::size_t kArgumentsMax = 64;
constexpr std::size_t kTextBytesMax = 256 << 10;
constexpr std::size_t kConflictsMax = 32;

// An argument whose values are looked for.
struct Wanted {
  std::string tool;
  std::string name;
  std::string spoken;               // the name as people write it
  float bias = 0;                   // of its rule
  bool number = false;              // values are numbers
  std::vector<std::string> words;   // of its enum, as JSON; empty: no enum
  std::vector<std::string> values;  // newest first
};

bool is_scalar(const JsonNode& node) {
  return !node.is(JsonNode::Type::kArray) && !node.is(JsonNode::Type::kObject) &&
         !node.is(JsonNode::Type::kNull);
}

bool is_word_byte(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  return std::isalnum(code) != 0 || byte == '_' || code >= 0x80;
}

char lower(char byte) { return static_cast<char>(std::tolower(static_cast<unsigned char>(byte))); }

std::string lowered(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), lower);
  return result;
}

bool says(const JsonNode& schema, std::string_view keyword, std::string_view value) {
  const JsonNode* found = schema.find(keyword);
  return found != nullptr && found->is(JsonNode::Type::kString) && found->text == value;
}

std::vector<Wanted> wanted_of(const Conversation& conversation) {
  std::vector<Wanted> all;
  for (const ToolDefinition& tool : conversation.tools) {
    if (!tool.live_arguments) continue;
    const auto schema = parse_json_node(tool.input_schema);
    const JsonNode* properties = schema.ok() ? schema->find("properties") : nullptr;
    if (properties == nullptr) continue;
    for (const auto& [name, rules] : properties->members) {
      if (all.size() == kArgumentsMax) return all;
      Wanted wanted{tool.name, name, lowered(name), tool.live_bias, false, {}, {}};
      std::ranges::replace(wanted.spoken, '_', ' ');
      wanted.number = says(rules, "type", "number") || says(rules, "type", "integer");
      if (const JsonNode* words = rules.find("enum")) {
        for (const JsonNode& word : words->items) wanted.words.push_back(to_json_text(word));
      }
      all.push_back(std::move(wanted));
    }
  }
  return all;
}

class Search {
 public:
  explicit Search(std::vector<Wanted>& wanted) : wanted_(wanted) {}

  void look_at(const Message& message) {
    for (auto block = message.content.rbegin(); block != message.content.rend(); ++block) {
      if (const auto* text = std::get_if<TextBlock>(&*block)) {
        if (message.role == Role::kUser) look_at_text(text->text);
      } else if (const auto* call = std::get_if<ToolUseBlock>(&*block)) {
        look_at_json(call->input, call->name);
      } else if (const auto* result = std::get_if<ToolResultBlock>(&*block)) {
        for (const ToolResultPart& part : result->content) {
          if (const auto* own = std::get_if<TextBlock>(&part)) look_at_result(own->text);
        }
      }
    }
  }

 private:
  void look_at_result(const std::string& text) {
    if (!look_at_json(text)) look_at_text(text);
  }

  // `caller`: whose arguments these are; empty: what any tool may want. What one tool was called
  // with says nothing about another one's argument of the same name.
  bool look_at_json(std::string_view text, std::string_view caller = {}) {
    const auto parsed = parse_json_node(text);
    if (parsed.ok()) look_at_node(*parsed, caller);
    return parsed.ok();
  }

  // JsonLimits bounds the depth.
  void look_at_node(const JsonNode& node, std::string_view caller) {
    for (const JsonNode& item : node.items) look_at_node(item, caller);
    for (const auto& [name, value] : node.members) {
      if (is_scalar(value)) {
        for (Wanted& wanted : wanted_) {
          const bool meant = caller.empty() || wanted.tool == caller;
          if (meant && wanted.name == name) add(wanted, to_json_text(value));
        }
      } else {
        look_at_node(value, caller);
      }
    }
  }

  void look_at_text(const std::string& text) {
    if (text.size() > bytes_left_) return;
    bytes_left_ -= text.size();
    const std::string small = lowered(text);
    for (Wanted& wanted : wanted_) {
      const std::string name = lowered(wanted.name);
      look_for(small, text, name, wanted);
      if (wanted.spoken != name) look_for(small, text, wanted.spoken, wanted);
    }
  }

  void look_for(const std::string& small, const std::string& text, const std::string& name,
                Wanted& wanted) {
    for (std::size_t at = small.find(name); at != std::string::npos && !name.empty();
         at = small.find(name, at + name.size())) {
      const std::size_t behind = at + name.size();
      if (at > 0 && is_word_byte(small[at - 1])) continue;
      if (behind < small.size() && is_word_byte(small[behind])) continue;
      if (auto value = value_behind(text, behind)) add_text(wanted, *value);
    }
  }

  // What stands behind a name: `: x`, `= x`, or a word with a digit.
  static std::optional<std::string> value_behind(const std::string& text, std::size_t at) {
    const auto skip = [&](std::string_view bytes) {
      const std::size_t next = text.find_first_not_of(bytes, at);
      const bool moved = next != at;
      at = std::min(next, text.size());
      return moved;
    };
    skip(" \"'`*");
    const bool named = skip(":=");
    skip(" \"'`*");
    const std::size_t end = std::min(text.find_first_of(" \t\r\n,;)\"'`*?!", at), text.size());
    std::string value = text.substr(at, end - at);
    while (!value.empty() && (value.back() == '.' || value.back() == ':')) value.pop_back();
    const bool digit = std::ranges::any_of(
        value, [](char byte) { return std::isdigit(static_cast<unsigned char>(byte)) != 0; });
    if (value.empty() || (!named && !digit)) return std::nullopt;
    return value;
  }

  static void add_text(Wanted& wanted, const std::string& value) {
    if (!wanted.number) return add(wanted, json_quoted(value));
    const auto number = parse_json_node(value);
    if (number.ok() && number->is(JsonNode::Type::kNumber)) add(wanted, value);
  }

  static void add(Wanted& wanted, std::string value) {
    if (value.size() > kValueBytesMax || wanted.values.size() == kLiveValuesMax) return;
    if (std::ranges::find(wanted.values, value) == wanted.values.end()) {
      wanted.values.push_back(std::move(value));
    }
  }

  std::vector<Wanted>& wanted_;
  std::size_t bytes_left_ = kTextBytesMax;  // of texts that are searched
};

}  // namespace

LiveValues live_values(const Conversation& conversation) {
  LiveValues live;
  std::vector<Wanted> all = wanted_of(conversation);
  if (all.empty()) return live;
  Search search(all);
  for (auto message = conversation.messages.rbegin(); message != conversation.messages.rend();
       ++message) {
    search.look_at(*message);
  }
  for (Wanted& wanted : all) {
    std::vector<std::string> legal;
    for (std::string& value : wanted.values) {
      const bool listed =
          wanted.words.empty() || std::ranges::find(wanted.words, value) != wanted.words.end();
      if (listed) {
        legal.push_back(std::move(value));
      } else if (live.conflicts.size() < kConflictsMax) {
        live.conflicts.push_back({wanted.tool, wanted.name, std::move(value)});
      }
    }
    if (legal.empty()) continue;
    live.rules.push_back({wanted.tool, wanted.name, std::move(legal), wanted.bias});
  }
  return live;
}

}  // namespace zerohop
