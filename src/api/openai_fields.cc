#include "api/openai_fields.h"

namespace zerohop {

Result<std::optional<bool>> parse_openai_flag(const JsonPlace& body, std::string_view key) {
  const auto place = body.find(key);
  if (!place) return std::optional<bool>();
  ZH_ASSIGN_OR_RETURN(const bool flag, place->boolean());
  return std::optional<bool>(flag);
}

Result<std::optional<std::string>> parse_openai_text(const JsonPlace& body, std::string_view key) {
  const auto place = body.find(key);
  if (!place) return std::optional<std::string>();
  ZH_ASSIGN_OR_RETURN(const std::string_view text, place->string());
  if (text.empty()) return std::optional<std::string>();
  return std::optional<std::string>(text);
}

Result<bool> parse_openai_include_usage(const JsonPlace& body) {
  const auto options = body.find("stream_options");
  if (!options) return false;
  ZH_RETURN_IF_ERROR(options->expect_object());
  ZH_ASSIGN_OR_RETURN(const auto include, parse_openai_flag(*options, "include_usage"));
  return include.value_or(false);
}

Error openai_unsupported(const JsonPlace& place, std::string_view what) {
  return place.error(std::string(what) + " not supported by this server");
}

}  // namespace zerohop
