#include "api/model_list.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>

#include "api/json_writer.h"

namespace zerohop {
namespace {

constexpr std::size_t kDefaultLimit = 20;
constexpr std::size_t kLimitMax = 1'000;

// RFC 3339, UTC. Years outside 1970 to 9999 have no place in the format and are cut to it.
std::string rfc3339(std::int64_t unix_seconds) {
  constexpr std::int64_t kLast = 253'402'300'799;  // 9999-12-31T23:59:59Z
  const std::chrono::sys_seconds time{
      std::chrono::seconds{std::clamp<std::int64_t>(unix_seconds, 0, kLast)}};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  std::array<char, 64> text;
  const int size = std::snprintf(
      text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()));
  return std::string(text.data(), static_cast<std::size_t>(size));
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
  out.append(R"(,"capabilities":null})");
}

Result<std::size_t> parse_limit(const std::optional<std::string>& text) {
  if (!text) return kDefaultLimit;
  std::size_t limit = 0;
  const char* end = text->data() + text->size();
  const auto [stop, fault] = std::from_chars(text->data(), end, limit);
  if (fault != std::errc() || stop != end || limit < 1 || limit > kLimitMax) {
    return invalid_request("limit", "must be an integer from 1 to 1000");
  }
  return limit;
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

Result<Page> cut_page(std::span<const ModelDescription> models, const ModelPageQuery& query) {
  ZH_ASSIGN_OR_RETURN(const std::size_t limit, parse_limit(query.limit));
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

void append_id_or_null(const ModelDescription* model, std::string& out) {
  if (model == nullptr) {
    out.append("null");
  } else {
    append_json_untrusted(model->id, out);
  }
}

}  // namespace

Result<std::string> model_list_body(std::span<const ModelDescription> models,
                                    const ModelPageQuery& query) {
  ZH_ASSIGN_OR_RETURN(const Page page, cut_page(models, query));
  std::string body = R"({"object":"list","data":[)";
  for (const ModelDescription& model : page.models) {
    if (body.back() == '}') body.push_back(',');
    append_model(model, body);
  }
  body.append(R"(],"has_more":)").append(page.has_more ? "true" : "false");
  const bool empty = page.models.empty();
  body.append(R"(,"first_id":)");
  append_id_or_null(empty ? nullptr : &page.models.front(), body);
  body.append(R"(,"last_id":)");
  append_id_or_null(empty ? nullptr : &page.models.back(), body);
  body.push_back('}');
  return body;
}

Result<std::string> model_body(std::span<const ModelDescription> models, std::string_view id) {
  const auto found = std::ranges::find(models, id, &ModelDescription::id);
  if (found == models.end()) {
    return Error{ErrorCode::kNotFound, "no model is named " + std::string(id), "model", {}};
  }
  std::string body;
  append_model(*found, body);
  return body;
}

}  // namespace zerohop
