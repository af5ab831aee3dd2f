// Repetitions of a request that runs, and how they find it.
//
// Clients repeat what they have no answer to yet: a gateway in between gave up and tried again, an
// application was told to be sure. Computing it twice helps nobody. A request joins a running one
// only when it is the same in every way that shows:
//
//   the key (without keys: the credential) · x-anthropic-request-id · path · the headers that
//   choose how an answer is written · every byte of the body, `stream` included
//
// Clients that use one id for many requests lose nothing: the same id with another body is another
// request. With `queue.join_retries` a repetition by an official SDK (x-stainless-retry-count above
// 0) joins as well, without an id; the first attempt never does, so that equal requests that were
// meant to be two are two.
//
// All of it is one SHA-256, computed on a worker; requests that show neither header cost one look
// for each. I/O thread, but for join_digest().
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "admission/caller.h"
#include "app/config.h"
#include "app/sha256.h"
#include "http/message.h"

namespace zerohop {

class RunningAnswer;

/// What of the head makes two requests the same.
struct JoinIdentity {
  std::string text;       ///< in a form in which different heads are different texts
  bool may_join = false;  ///< else it only lets others join it
};

/// Nothing for requests that neither join nor are joined.
std::optional<JoinIdentity> join_identity(const Caller& caller, const RequestHead& head,
                                          const QueueConfig& config);

/// Any thread.
Sha256Digest join_digest(const JoinIdentity& identity, std::string_view body);

/// The answers that can be joined, until they are over.
class JoinableAnswers {
 public:
  /// Null: there is none.
  std::shared_ptr<RunningAnswer> find(const Sha256Digest& digest);
  /// Takes the place of an earlier one.
  void add(const Sha256Digest& digest, const std::shared_ptr<RunningAnswer>& answer);

 private:
  void forget_ended();

  std::map<Sha256Digest, std::weak_ptr<RunningAnswer>> answers_;
  std::size_t sweep_at_ = 64;  // entries
};

}  // namespace zerohop
