#include "api/anthropic_tool_pairs.h"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace zerohop {
namespace {

class PairChecker {
 public:
  Result<void> read(const JsonPlace& message) {
    const std::string_view role = message.text_or_empty("role");
    if (role == "system") return {};  // stands between turns without ending one
    const auto content = message.find("content");
    if (!content) return {};
    if (role == "assistant" && !open_.empty()) return unanswered(*content);
    for (std::size_t i = 0; i < content->elements(); ++i) {
      const JsonPlace block = content->element(i);
      const std::string_view type = block.text_or_empty("type");
      if (type == "tool_use") ZH_RETURN_IF_ERROR(call(block));
      if (type == "tool_result") ZH_RETURN_IF_ERROR(answer(block));
    }
    if (role == "user" && !open_.empty()) return unanswered(*content);
    return {};
  }

 private:
  Result<void> call(const JsonPlace& block) {
    const std::string_view id = block.text_or_empty("id");
    if (!seen_.insert(id).second) {
      return block.find("id")->error("`tool_use` ids must be unique");
    }
    open_.insert(id);
    return {};
  }

  Result<void> answer(const JsonPlace& block) {
    if (open_.erase(block.text_or_empty("tool_use_id")) > 0) return {};
    return block.find("tool_use_id")
        ->error(
            "unexpected `tool_use_id` found in `tool_result` blocks: each `tool_result` block "
            "must have a corresponding `tool_use` block in the previous message");
  }

  Error unanswered(const JsonPlace& place) const {
    return place.error(
        "`tool_use` ids were found without `tool_result` blocks immediately after: " +
        std::string(*open_.begin()));
  }

  std::set<std::string_view> seen_;
  std::set<std::string_view> open_;
};

}  // namespace

Result<void> check_tool_pairs(const JsonPlace& messages) {
  PairChecker checker;
  for (std::size_t i = 0; i < messages.elements(); ++i) {
    ZH_RETURN_IF_ERROR(checker.read(messages.element(i)));
  }
  return {};
}

}  // namespace zerohop
