#include "api/anthropic_foreign_fields.h"

#include <array>

namespace zerohop {
namespace {

struct ForeignField {
  std::string_view name;
  std::string_view field;  // that it is read in place of, with values of the same form; or empty
};
constexpr std::array<ForeignField, 13> kForeignFields{{
    {"stop", "stop_sequences"},
    {"max_completion_tokens", "max_tokens"},
    {"max_output_tokens", "max_tokens"},
    {"repeat_penalty", "repetition_penalty"},
    {"repetition_penalty", ""},
    {"presence_penalty", ""},
    {"frequency_penalty", ""},
    {"min_p", ""},
    {"seed", ""},
    {"logit_bias", ""},
    // Of another form than the field that means the same: read where that field is read.
    {"response_format", ""},
    {"reasoning_effort", ""},
    {"parallel_tool_calls", ""},
}};

}  // namespace

std::optional<JsonPlace> find_field(const JsonPlace& body, std::string_view field) {
  if (const auto place = body.find(field)) return place;
  for (const ForeignField& entry : kForeignFields) {
    if (entry.field != field) continue;
    if (const auto place = body.find(entry.name)) return place;
  }
  return std::nullopt;
}

Result<void> refuse_foreign_fields(const JsonPlace& body) {
  for (const ForeignField& entry : kForeignFields) {
    if (const auto place = body.find(entry.name)) {
      return place->error("is not a field of the Messages API (strict mode)");
    }
  }
  return {};
}

}  // namespace zerohop
