// A conversation in a terminal, without a socket: the same tier that serves HTTP, driven from one
// thread. chat.cc gives it the terminal; tests give it strings.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "app/tier.h"
#include "core/request.h"
#include "engine/token_stream.h"

namespace zerohop {

/// Wakes a thread that waits for events outside the I/O world. wake() from the engine thread, the
/// rest from the waiting thread.
class BlockingWaker final : public StreamWaker {
 public:
  void wake(std::vector<std::shared_ptr<TokenStream>> streams) override;

  /// Sleeps until wake() was called since the last wait, at most `limit`.
  void wait(Duration limit);

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  bool woken_ = false;  // guarded by mutex_
};

struct ChatTurn {
  std::string text;  ///< the whole answer
  Finished finished;
  bool interrupted = false;
};

class ChatSession {
 public:
  /// Both outlive the session; `waker` is the one that the tier was made with.
  ChatSession(Tier& tier, BlockingWaker& waker, GenerationParameters generation,
              std::string_view system);

  /// Asks and waits for the answer; `show` gets its text as it comes. Raising `interrupt` ends the
  /// answer early; what was said so far stays in the conversation. Errors: as of Tier::prepare and
  /// submit, and whatever the engine reports; the question is then forgotten.
  Result<ChatTurn> ask(std::string question, const std::function<void(std::string_view)>& show,
                       const std::atomic<bool>& interrupt);

  /// Forgets the turns; the system prompt stays.
  void reset() { conversation_.messages.clear(); }

 private:
  Result<ChatTurn> answer(const std::function<void(std::string_view)>& show,
                          const std::atomic<bool>& interrupt);

  Tier& tier_;
  BlockingWaker& waker_;
  const GenerationParameters generation_;
  Conversation conversation_;
};

}  // namespace zerohop
