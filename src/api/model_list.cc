#include "api/model_list.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "api/json_writer.h"
#include "api/page_query.h"
#include "api/rfc3339.h"

namespace zerohop {
namespace {

void append_support(std::string_view key, bool supported, std::string& out) {
  out.append("\"").append(key).append(R"(":{"supported":)");
  out.append(supported ? "true}" : "false}");
}

struct Ability {
  std::string_view key;
  bool supported;
};

// `"KEY":{"supported":…,` and the parts, all of which have the form of a plain ability.
void append_group(const Ability& whole, std::span<const Ability> parts, std::string& out) {
  append_support(whole.key, whole.supported, out);
  out.pop_back();
  for (const Ability& part : parts) {
    out.push_back(',');
    append_support(part.key, part.supported, out);
  }
  out.push_back('}');
}

// Effort is accepted and has no effect, so it is not claimed. Edits of the context likewise.
void append_capabilities(const ModelAbilities& abilities, std::string& out) {
  constexpr std::array<Ability, 3> kEdits{{{"clear_thinking_20251015", false},
                                           {"clear_tool_uses_20250919", false},
                                           {"compact_20260112", false}}};
  constexpr std::array<Ability, 5> kEfforts{
      {{"low", false}, {"medium", false}, {"high", false}, {"xhigh", false}, {"max", false}}};
  constexpr std::array<Ability, 2> kServerTools{{{"code_execution", false}, {"web_search", false}}};
  out.push_back('{');
  append_support("batch", abilities.batch, out);
  for (const std::string_view key : {"citations", "code_execution"}) {
    out.push_back(',');
    append_support(key, false, out);
  }
  out.append(R"(,"compaction":null,)");
  append_group({"context_management", false}, kEdits, out);
  out.push_back(',');
  append_group({"effort", false}, kEfforts, out);
  out.push_back(',');
  append_support("image_input", false, out);
  out.push_back(',');
  append_support("pdf_input", abilities.pdf_input, out);
  out.push_back(',');
  append_group({"server_tools", false}, kServerTools, out);
  out.push_back(',');
  append_support("structured_outputs", abilities.structured_outputs, out);
  out.append(R"(,"thinking":{"supported":)").append(abilities.thinking ? "true" : "false");
  out.append(R"(,"types":{)");
  append_support("adaptive", abilities.thinking, out);
  out.push_back(',');
  append_support("between_tools", true, out);
  out.push_back(',');
  append_support("disabled", true, out);
  out.push_back(',');
  append_support("enabled", abilities.thinking, out);
  out.append("}}}");
}

void append_model(const ModelDescription& model, std::string& out) {
  out.append(R"({"id":)");
  append_json_untrusted(model.id, out);
  out.append(R"(,"type":"model","object":"model","display_name":)");
  append_json_untrusted(model.display_name, out);
  out.append(R"(,"created_at":")").append(rfc3339(model.created_unix));
  out.append(R"(","created":)");
  append_json_integer(model.created_unix, out);
  out.append(R"(,"owned_by":"zerohop","max_input_tokens":)");
  append_json_integer(model.max_input_tokens, out);
  out.append(R"(,"max_tokens":)");
  append_json_integer(model.max_tokens, out);
  out.append(R"(,"capabilities":)");
  append_capabilities(model.abilities, out);
  out.append(R"(,"lifecycle":"active","line":null,"deprecated_at":null,"retires_at":null})");
}

Result<std::size_t> find_index(std::span<const ModelDescription> models, std::string_view field,
                               std::string_view id) {
  const auto found = std::ranges::find(models, id, &ModelDescription::id);
  if (found == models.end()) return invalid_request(std::string(field), "no such model");
  return static_cast<std::size_t>(found - models.begin());
}

struct Page {
  std::span<const ModelDescription> models;
  bool has_more = false;  // in the direction of travel
};

// False when no model here is in that state.
Result<bool> wants_active(const std::optional<std::string>& lifecycle) {
  if (!lifecycle || *lifecycle == "active") return true;
  if (*lifecycle == "deprecated" || *lifecycle == "retired") return false;
  return invalid_request("lifecycle", "must be active, deprecated or retired");
}

Result<Page> cut_page(std::span<const ModelDescription> models, const ModelPageQuery& query) {
  ZH_ASSIGN_OR_RETURN(const std::size_t limit, parse_page_limit(query.limit));
  if (query.after_id && query.before_id) {
    return invalid_request("before_id", "cannot be combined with after_id");
  }
  if (query.before_id) {
    ZH_ASSIGN_OR_RETURN(const std::size_t end, find_index(models, "before_id", *query.before_id));
    const std::size_t size = std::min(limit, end);
    return Page{models.subspan(end - size, size), end > size};
  }
  std::size_t begin = 0;
  if (query.after_id) {
    ZH_ASSIGN_OR_RETURN(begin, find_index(models, "after_id", *query.after_id));
    ++begin;
  }
  const std::size_t size = std::min(limit, models.size() - begin);
  return Page{models.subspan(begin, size), begin + size < models.size()};
}

}  // namespace

Result<std::string> model_list_body(std::span<const ModelDescription> models,
                                    const ModelPageQuery& query) {
  ZH_ASSIGN_OR_RETURN(const bool active, wants_active(query.lifecycle));
  if (!active) models = {};
  ZH_ASSIGN_OR_RETURN(const Page page, cut_page(models, query));
  std::string body = R"({"object":"list","data":[)";
  for (const ModelDescription& model : page.models) {
    if (body.back() == '}') body.push_back(',');
    append_model(model, body);
  }
  PageEdges edges;
  edges.has_more = page.has_more;
  if (!page.models.empty()) {
    edges.first_id = page.models.front().id;
    edges.last_id = page.models.back().id;
  }
  body.append("],");
  append_page_edges(edges, body);
  body.push_back('}');
  return body;
}

Result<std::string> model_body(std::span<const ModelDescription> models, std::string_view id) {
  const auto found = std::ranges::find(models, id, &ModelDescription::id);
  if (found == models.end()) {
    return Error{ErrorCode::kNotFound, "no model is named '" + std::string(id) + "'", "model", {}};
  }
  std::string body;
  append_model(*found, body);
  return body;
}

}  // namespace zerohop
