#include "chain/chat_reply.h"

namespace zerohop::bench {
namespace {

constexpr std::size_t kTroubleBytesMax = 400;

int count_after(std::string_view text, std::string_view key) {
  return static_cast<int>(number_after(text, key).value_or(0));
}

}  // namespace

void ChatReply::feed(std::string_view bytes, double at) {
  begun_ = true;
  unread_ += reader_.feed(bytes);
  if (reader_.status() == 0) return;
  if (reader_.status() != 200) {
    trouble_ = unread_.substr(0, kTroubleBytesMax);
  } else if (streamed_) {
    take_events(at);
  } else if (reader_.complete()) {
    take_data(unread_, at);
  }
}

bool ChatReply::whole() const {
  return complete() && status() == 200 && trouble_.empty() && !finish_reason_.empty() &&
         (end_mark_ || !streamed_);
}

void ChatReply::take_events(double at) {
  std::size_t begin = 0;
  std::size_t end = 0;
  while ((end = unread_.find("\n\n", begin)) != std::string::npos) {
    const std::string_view event = std::string_view(unread_).substr(begin, end - begin);
    if (event.starts_with("data: {")) take_data(event.substr(6), at);
    if (event == "data: [DONE]") end_mark_ = true;
    begin = end + 2;
  }
  unread_.erase(0, begin);
}

void ChatReply::take_data(std::string_view data, double at) {
  if (data.starts_with(R"({"error")")) {
    trouble_ = data.substr(0, kTroubleBytesMax);
    return;
  }
  const std::string_view text = string_after(data, R"("content":)");
  if (!text.empty()) {
    text_times_.push_back(at);
    text_ += text;
  }
  const std::string_view reason = string_after(data, R"("finish_reason":)");
  if (!reason.empty()) finish_reason_ = reason;
  if (data.find(R"("prompt_tokens":)") != std::string_view::npos) {
    prompt_tokens_ = count_after(data, R"("prompt_tokens":)");
    cached_tokens_ = count_after(data, R"("cached_tokens":)");
    output_tokens_ = count_after(data, R"("completion_tokens":)");
  }
}

}  // namespace zerohop::bench
