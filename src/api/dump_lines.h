// For tests: the lines that a dump of a typed request is made of.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "api/json_writer.h"
#include "core/request.h"

namespace zerohop {

class DumpLines {
 public:
  const std::string& text() const { return text_; }

  void line(std::string_view name, std::string_view text) {
    text_.append(name).append(": ").append(text).append("\n");
  }
  void quoted(std::string_view name, std::string_view text) {
    text_.append(name).append(": ");
    append_json_string(text, text_);
    text_.append("\n");
  }

 protected:
  /// The shortest digits that read back as the same float.
  static std::string digits(float value) {
    char buffer[32];
    return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  }

  /// What the answer must look like, where that is said. `schema` is the name of the schema's line.
  void output(const OutputRules& rules, std::string_view schema) {
    const std::string strict = rules.strict ? "" : "not strict: ";
    switch (rules.format) {
      case OutputFormat::kText: break;
      case OutputFormat::kJson: line("output", "json"); break;
      case OutputFormat::kJsonSchema:
        line("output", strict + std::string(schema) + rules.schema);
        break;
      case OutputFormat::kRegex: quoted("output regex", rules.pattern); break;
      case OutputFormat::kGrammar: quoted("output grammar", rules.pattern); break;
      case OutputFormat::kChoice:
        for (const std::string& choice : rules.choices) quoted("output choice", choice);
        break;
    }
    if (!rules.field.empty()) line("  at", rules.field);
  }

  static std::string_view role_name(Role role) {
    switch (role) {
      case Role::kUser: return "user";
      case Role::kAssistant: return "assistant";
      case Role::kSystem: return "system";
    }
    return "?";
  }

 private:
  std::string text_;
};

}  // namespace zerohop
