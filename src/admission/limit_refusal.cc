#include "admission/limit_refusal.h"

#include <chrono>

namespace zerohop {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

bool shorter_answer_helps(LimitKind kind) {
  return kind == LimitKind::kMaxOutputTokens || kind == LimitKind::kOutputTokensPerMinute;
}

}  // namespace

std::string_view limit_owner_name(LimitOwner owner) {
  return owner == LimitOwner::kKey ? "key" : "tenant";
}

bool refills(const LimitRefusal& refusal) {
  return !refusal.never() && refusal.kind <= LimitKind::kParallelRequests;
}

std::string refusal_text(const LimitRefusal& refusal) {
  std::string text = std::string(limit_field(refusal.kind).name) + " of " +
                     std::string(limit_owner_name(refusal.owner)) + " " + refusal.owner_id + ": " +
                     std::to_string(refusal.asked) + " asked, ";
  if (refusal.asked > refusal.limit) {
    return text + "at most " + std::to_string(refusal.limit) + " allowed";
  }
  text += std::to_string(refusal.remaining) + " of " + std::to_string(refusal.limit) + " left";
  if (refusal.never()) return text;
  const seconds wait = std::chrono::ceil<seconds>(refusal.retry_after);
  return text + "; try again in " + std::to_string(wait.count()) + " s";
}

Error refusal_error(const LimitRefusal& refusal) {
  if (refusal.never() && refusal.limit == 0) {
    return Error{ErrorCode::kPermission, refusal_text(refusal), "", {}};
  }
  if (refusal.never()) {
    return invalid_request(shorter_answer_helps(refusal.kind) ? "max_tokens" : "",
                           refusal_text(refusal));
  }
  Error error{ErrorCode::kRateLimited, refusal_text(refusal), "", {}};
  error.retry_after = std::chrono::ceil<milliseconds>(refusal.retry_after);
  return error;
}

}  // namespace zerohop
