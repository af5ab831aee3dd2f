#include "http/headers.h"

#include <algorithm>
#include <utility>

#include "base/wipe.h"

namespace zerohop {
namespace {

constexpr bool is_token_char(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

bool equals_ignoring_case(std::string_view left, std::string_view right) {
  return left.size() == right.size() &&
         std::equal(left.begin(), left.end(), right.begin(),
                    [](char a, char b) { return to_lower(a) == to_lower(b); });
}

bool is_http_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

bool list_has_token(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (equals_ignoring_case(trim(list.substr(0, comma)), token)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

void Headers::add(std::string name, std::string value) {
  fields_.push_back(HeaderField{std::move(name), std::move(value)});
}

void Headers::wipe(std::string_view name) {
  for (HeaderField& field : fields_) {
    if (equals_ignoring_case(field.name, name)) wipe_bytes(field.value.data(), field.value.size());
  }
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
  for (const HeaderField& field : fields_) {
    if (equals_ignoring_case(field.name, name)) return field.value;
  }
  return std::nullopt;
}

std::vector<std::string_view> Headers::all(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const HeaderField& field : fields_) {
    if (equals_ignoring_case(field.name, name)) values.emplace_back(field.value);
  }
  return values;
}

std::size_t Headers::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(
      fields_.begin(), fields_.end(),
      [name](const HeaderField& field) { return equals_ignoring_case(field.name, name); }));
}

}  // namespace zerohop
