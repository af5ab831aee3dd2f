#include "app/chat_session.h"

#include <utility>

namespace zerohop {
namespace {

// How soon an interruption is noticed while no token comes.
constexpr std::chrono::milliseconds kInterruptPoll{50};

Message text_message(Role role, std::string text) {
  Message message;
  message.role = role;
  message.content.push_back(TextBlock{std::move(text)});
  return message;
}

}  // namespace

void BlockingWaker::wake(std::vector<std::shared_ptr<TokenStream>>) {
  {
    const std::scoped_lock lock(mutex_);
    woken_ = true;
  }
  ready_.notify_one();
}

void BlockingWaker::wait(Duration limit) {
  std::unique_lock lock(mutex_);
  ready_.wait_for(lock, limit, [this] { return woken_; });
  woken_ = false;
}

ChatSession::ChatSession(Tier& tier, BlockingWaker& waker, GenerationParameters generation,
                         std::string_view system)
    : tier_(tier), waker_(waker), generation_(std::move(generation)) {
  if (!system.empty()) conversation_.system.push_back(TextBlock{std::string(system)});
}

Result<ChatTurn> ChatSession::ask(std::string question,
                                  const std::function<void(std::string_view)>& show,
                                  const std::atomic<bool>& interrupt) {
  conversation_.messages.push_back(text_message(Role::kUser, std::move(question)));
  Result<ChatTurn> turn = answer(show, interrupt);
  if (!turn.ok()) {
    conversation_.messages.pop_back();
    return turn;
  }
  conversation_.messages.push_back(text_message(Role::kAssistant, turn->text));
  return turn;
}

Result<ChatTurn> ChatSession::answer(const std::function<void(std::string_view)>& show,
                                     const std::atomic<bool>& interrupt) {
  ZH_ASSIGN_OR_RETURN(PreparedGeneration prepared, tier_.prepare(conversation_, generation_));
  ZH_ASSIGN_OR_RETURN(const std::shared_ptr<TokenStream> stream, tier_.submit(std::move(prepared)));
  ChatTurn turn;
  std::vector<Event> events;
  bool ended = false;
  while (!ended) {
    ended = stream->read(events);
    for (const Event& event : events) {
      if (const auto* delta = std::get_if<TextDelta>(&event)) {
        turn.text += delta->text;
        show(delta->text);
      } else if (const auto* failed = std::get_if<Failed>(&event)) {
        return failed->error;
      } else if (const auto* finished = std::get_if<Finished>(&event)) {
        turn.finished = *finished;
      }
    }
    events.clear();
    if (interrupt.load()) {
      stream->cancel();
      turn.interrupted = true;
      return turn;
    }
    if (!ended) waker_.wait(kInterruptPoll);
  }
  return turn;
}

}  // namespace zerohop
