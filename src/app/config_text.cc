#include "app/config_text.h"

#include <algorithm>
#include <string_view>

namespace zerohop {
namespace {

// ---- YAML ----

std::string yaml_scalar(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '/' || c == '-';
  };
  if (!text.empty() && text[0] != '-' && std::ranges::all_of(text, plain)) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c);
  }
  return quoted + "\"";
}

// JSON is YAML.
bool holds_json(const ConfigKey& key) {
  const auto* type = std::get_if<TextMapType>(&key.type);
  return type != nullptr && type->values == MapValues::kJson;
}

std::string yaml_value(const ConfigKey& key, const RawValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return yaml_scalar(*text);
  std::string joined;
  const auto add = [&joined](const std::string& item) {
    if (!joined.empty()) joined.append(", ");
    joined.append(item);
  };
  if (const auto* items = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& item : *items) add(yaml_scalar(item));
    return "[" + joined + "]";
  }
  for (const auto& [name, text] : std::get<RawEntries>(value)) {
    add(yaml_scalar(name) + ": " + (holds_json(key) ? text : yaml_scalar(text)));
  }
  return "{" + joined + "}";
}

// ---- Markdown ----

std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

std::string default_text(const ConfigKey& key) {
  if (!key.default_note.empty()) return std::string(key.default_note);
  const std::string text = value_text(current_value(key, Config{}));
  return text.empty() ? "–" : code(text);
}

// "|" ends a table cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

void append_row(std::string& out, const ConfigKey& key) {
  out.append("| ").append(code(key.path)).append(" | ");
  out.append(key.flag.empty() ? "–" : code(key.flag)).append(" | ");
  out.append(default_text(key)).append(" | ").append(allowed_values(key)).append(" | ");
  out.append(key.unit.empty() ? "–" : key.unit).append(" | ");
  out.append(key.takes_effect == TakesEffect::kReload ? "reload" : "restart").append(" | ");
  out.append(cell(key.help)).append(" |\n");
}

constexpr std::string_view kPreface = R"(# Configuration

Generated from `src/app/config_table.cc`; a test compares the two. To write it anew:
`ZEROHOP_GOLDEN_UPDATE=1 ./dev test app`.

One YAML file, given with `--config FILE`; without the flag, `~/.config/zerohop/config.yaml` is
read if it exists. A key `section.key` of this page is written as

```yaml
section:
  key: value
```

A flag goes over the environment, the environment over the file, the file over the default. The
environment variable of `server.port` is `ZEROHOP_SERVER_PORT`, and so on for each key. In flags and
variables a list is written `a,b` and a map `name=text,name=text`.

An unknown key, a value of the wrong type and a value out of range are errors: the program says
where and ends with exit code 2. `zerohop check-config --config FILE` shows the effective settings
and where each comes from, without starting anything.

A running server reads all of it again on SIGHUP and on `POST /admin/reload`. Keys that take effect
with a reload are changed all at once or, where anything is wrong, not at all: the error names file,
line and key, and the old configuration stays. A request is served to its end by the configuration
that it began under. Other keys that have changed are named in the answer and in the log, and wait
for a restart. Flags and environment variables are those of the start.
)";

}  // namespace

std::string effective_config_text(const LoadedConfig& loaded) {
  constexpr std::size_t kCommentColumn = 44;
  std::string out;
  std::string_view section;
  for (const ConfigOrigin& entry : loaded.origins) {
    const ConfigKey& key = *entry.key;
    if (key.section() != section) {
      section = key.section();
      out.append(section).append(":\n");
    }
    std::string line = "  " + std::string(key.name()) + ": " +
                       yaml_value(key, current_value(key, loaded.config)) + " ";
    line.resize(std::max(line.size(), kCommentColumn), ' ');
    out.append(line).append(" # ").append(entry.origin).append("\n");
  }
  return out;
}

std::string config_flags_help() {
  constexpr std::size_t kHelpColumn = 28;
  std::string out;
  for (const ConfigKey& key : config_table()) {
    if (key.flag.empty()) continue;
    std::string line = "  " + std::string(key.flag);
    if (!key.flag_value.empty()) line += " " + std::string(key.flag_value);
    line.resize(std::max(line.size() + 2, kHelpColumn), ' ');
    out.append(line).append(key.help);
    const std::string value = value_text(current_value(key, Config{}));
    if (!value.empty() && !key.flag_value.empty()) out.append(" [" + value + "]");
    out.push_back('\n');
  }
  return out;
}

std::string config_markdown() {
  std::string out(kPreface);
  std::string_view section;
  for (const ConfigKey& key : config_table()) {
    if (key.section() != section) {
      section = key.section();
      out.append("\n## ").append(section).append("\n\n");
      out.append(
          "| Key | Flag | Default | Allowed | Unit | Takes effect | Meaning |\n"
          "|---|---|---|---|---|---|---|\n");
    }
    append_row(out, key);
  }
  return out;
}

}  // namespace zerohop
