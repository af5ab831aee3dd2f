// GET /v1/models and /v1/models/{id}: one reply that is right for both dialects, since both use the
// same path. Anthropic clients read `data`, `has_more`, `first_id`, `last_id` and `type`; OpenAI
// clients read `object`, `data`, `created` and `owned_by`; each ignores the other's fields.
// Pure functions; any thread. Source: Models API of both.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"

namespace zerohop {

/// What a model can be asked for here. Images, citations and tools that run on the server are not
/// among it.
struct ModelAbilities {
  bool thinking = false;  ///< its template has a switch for it
  bool batch = false;
  bool pdf_input = false;
  bool structured_outputs = false;
};

struct ModelDescription {
  std::string id;
  std::string display_name;
  std::int64_t created_unix = 0;       ///< seconds; 0 when unknown
  std::uint32_t max_input_tokens = 0;  ///< the window
  std::uint32_t max_tokens = 0;        ///< the most one answer can hold
  ModelAbilities abilities;
};

/// Query parameters as they came, percent-decoded; absent ones empty.
struct ModelPageQuery {
  std::optional<std::string> limit;      ///< 1 to 1000; 20 when absent
  std::optional<std::string> after_id;   ///< the page that follows this model
  std::optional<std::string> before_id;  ///< the page that ends just before this model
  std::optional<std::string> lifecycle;  ///< active (all of ours), deprecated or retired (none)
};

/// One page. Errors (kInvalidRequest): a limit out of range, an unknown id or lifecycle, both
/// directions at once.
Result<std::string> model_list_body(std::span<const ModelDescription> models,
                                    const ModelPageQuery& query);

/// One model, by exact id. Error: kNotFound.
Result<std::string> model_body(std::span<const ModelDescription> models, std::string_view id);

}  // namespace zerohop
