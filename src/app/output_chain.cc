#include "app/output_chain.h"

#include <optional>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"

namespace zerohop {
namespace {

class StopLink final : public OutputLink {
 public:
  StopLink(StopRules rules, std::unique_ptr<OutputLink> next)
      : rules_(std::move(rules)), matcher_(automaton_of(rules_)), next_(std::move(next)) {}

  void push(std::string_view bytes, PushEnd end, OutputSink& sink) override {
    released_.clear();
    if (!capped_ && rules_.soft_cap != nullptr && sink.tokens >= rules_.soft_cap_from) {
      matcher_.change_over(rules_.soft_cap);
      capped_ = true;
    }
    const std::optional<std::size_t> match = matcher_.feed(bytes, released_);
    if (match) {
      sink.verdict.end = FinishReason::kStopSequence;
      sink.verdict.stop_sequence =
          capped_ ? rules_.soft_cap->reported(*match) : rules_.stops->stop(*match);
      end = PushEnd::kEnd;
    } else if (end == PushEnd::kEnd) {
      matcher_.flush(released_);
    }
    next_->push(released_, end, sink);
  }

 private:
  static std::shared_ptr<const StopAutomaton> automaton_of(const StopRules& rules) {
    static const std::shared_ptr<const StopAutomaton> kNoStops = StopAutomaton::compile({});
    return rules.stops != nullptr ? rules.stops : kNoStops;
  }

  const StopRules rules_;
  StopMatcher matcher_;
  bool capped_ = false;
  std::unique_ptr<OutputLink> next_;
  std::string released_;  // of the current push; kept for its capacity
};

class Utf8Link final : public OutputLink {
 public:
  explicit Utf8Link(std::unique_ptr<OutputLink> next) : next_(std::move(next)) {}

  void push(std::string_view bytes, PushEnd end, OutputSink& sink) override {
    std::string_view text = bytes;
    if (!incomplete_.empty()) {
      joined_.assign(incomplete_).append(bytes);
      text = joined_;
    }
    const std::size_t tail = end == PushEnd::kEnd ? 0 : utf8_incomplete_suffix(text);
    const std::string_view whole = text.substr(0, text.size() - tail);
    incomplete_.assign(text.substr(whole.size()));
    if (utf8_is_valid(whole)) {
      next_->push(whole, end, sink);
    } else {
      next_->push(utf8_replace_invalid(whole), end, sink);
    }
  }

 private:
  std::unique_ptr<OutputLink> next_;
  std::string incomplete_;  // at most 3 bytes: the beginning of a character
  std::string joined_;      // of the current push; kept for its capacity
};

class TextDeltaLink final : public OutputLink {
 public:
  void push(std::string_view bytes, PushEnd, OutputSink& sink) override {
    if (!bytes.empty()) sink.events.emplace_back(TextDelta{std::string(bytes)});
  }
};

class ThinkingDeltaLink final : public OutputLink {
 public:
  void push(std::string_view bytes, PushEnd, OutputSink& sink) override {
    if (!bytes.empty()) sink.events.emplace_back(ThinkingDelta{std::string(bytes)});
  }
};

class ToolCallDeltaLink final : public OutputLink {
 public:
  void push(std::string_view bytes, PushEnd, OutputSink& sink) override {
    if (!bytes.empty()) sink.events.emplace_back(ToolCallDelta{std::string(bytes)});
  }
};

class ChainStage final : public OutputStage {
 public:
  explicit ChainStage(std::unique_ptr<OutputLink> first) : first_(std::move(first)) {}

  StageVerdict accept(Token /*token*/, std::string_view bytes,
                      std::vector<Event>& events) override {
    StageVerdict verdict;
    ++tokens_;
    push(bytes, PushEnd::kMore, {events, verdict, tokens_});
    if (verdict.end) ended_ = true;
    return verdict;
  }

  FinishReason flush(FinishReason reason, std::vector<Event>& events) override {
    StageVerdict verdict;
    push({}, PushEnd::kEnd, {events, verdict, tokens_});
    ended_ = true;
    return reason;
  }

 private:
  void push(std::string_view bytes, PushEnd end, OutputSink sink) {
    ZH_CHECK(!ended_);
    first_->push(bytes, end, sink);
  }

  std::unique_ptr<OutputLink> first_;
  std::uint32_t tokens_ = 0;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<OutputLink> make_stop_link(StopRules rules, std::unique_ptr<OutputLink> next) {
  return std::make_unique<StopLink>(std::move(rules), std::move(next));
}

std::unique_ptr<OutputLink> make_utf8_link(std::unique_ptr<OutputLink> next) {
  return std::make_unique<Utf8Link>(std::move(next));
}

std::unique_ptr<OutputLink> make_text_delta_link() { return std::make_unique<TextDeltaLink>(); }

std::unique_ptr<OutputLink> make_thinking_delta_link() {
  return std::make_unique<ThinkingDeltaLink>();
}

std::unique_ptr<OutputLink> make_tool_call_delta_link() {
  return std::make_unique<ToolCallDeltaLink>();
}

std::unique_ptr<OutputStage> make_output_stage(std::unique_ptr<OutputLink> first) {
  return std::make_unique<ChainStage>(std::move(first));
}

std::unique_ptr<OutputStage> make_output_chain(StopRules rules) {
  std::unique_ptr<OutputLink> first = make_utf8_link(make_text_delta_link());
  if (rules.any()) first = make_stop_link(std::move(rules), std::move(first));
  return make_output_stage(std::move(first));
}

}  // namespace zerohop
