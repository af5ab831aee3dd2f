#include "app/answer_joining.h"

#include <algorithm>

#include "app/request_tenant.h"
#include "app/running_answer.h"
#include "base/whole_number.h"

namespace zerohop {
namespace {

constexpr std::string_view kIdHeader = "x-anthropic-request-id";
constexpr std::string_view kRetryHeader = "x-stainless-retry-count";
constexpr std::size_t kIdBytesMax = 128;
// Headers that decide how an answer to the same body is written.
constexpr std::string_view kShapingHeaders[] = {"anthropic-version", "anthropic-stream-profile"};

// With its length in front, so that two fields never read like two others.
void append_field(std::string_view field, std::string& text) {
  text.append(std::to_string(field.size())).append(":").append(field);
}

std::optional<unsigned> retries_of(const Headers& headers) {
  const auto value = headers.find(kRetryHeader);
  return value ? whole_number<unsigned>(*value) : std::nullopt;
}

}  // namespace

std::optional<JoinIdentity> join_identity(const Caller& caller, const RequestHead& head,
                                          const QueueConfig& config) {
  const auto id = head.headers.find(kIdHeader);
  const bool named = id && !id->empty() && id->size() <= kIdBytesMax;
  const auto retries = config.join_retries ? retries_of(head.headers) : std::nullopt;
  if (!named && !retries) return std::nullopt;
  JoinIdentity identity;
  identity.may_join = named || *retries > 0;
  append_field(named ? "id" : "retry", identity.text);
  append_field(named ? *id : "", identity.text);
  append_field(caller.key != nullptr ? "key" : "credential", identity.text);
  append_field(caller.key != nullptr ? caller.key->id : credential_of(head.headers), identity.text);
  append_field(head.path, identity.text);
  for (const std::string_view name : kShapingHeaders) {
    append_field(head.headers.find(name).value_or(""), identity.text);
  }
  return identity;
}

Sha256Digest join_digest(const JoinIdentity& identity, std::string_view body) {
  Sha256 hash;
  hash.add(identity.text.data(), identity.text.size());
  hash.add(body.data(), body.size());
  return hash.finish();
}

std::shared_ptr<RunningAnswer> JoinableAnswers::find(const Sha256Digest& digest) {
  const auto found = answers_.find(digest);
  if (found == answers_.end()) return nullptr;
  std::shared_ptr<RunningAnswer> answer = found->second.lock();
  if (answer != nullptr && !answer->over() && answer->readers() > 0) return answer;
  answers_.erase(found);
  return nullptr;
}

void JoinableAnswers::add(const Sha256Digest& digest,
                          const std::shared_ptr<RunningAnswer>& answer) {
  answers_[digest] = answer;
  if (answers_.size() >= sweep_at_) forget_ended();
}

// Each time that their number has doubled, so that it costs nothing to speak of.
void JoinableAnswers::forget_ended() {
  std::erase_if(answers_, [](const auto& entry) { return entry.second.expired(); });
  sweep_at_ = std::max<std::size_t>(64, 2 * answers_.size());
}

}  // namespace zerohop
