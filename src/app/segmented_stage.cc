// The chain with a segmenter in front (output_chain.h).
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "app/output_chain.h"
#include "base/check.h"
#include "base/utf8.h"
#include "prompt/output_segmenter.h"

namespace zerohop {
namespace {

class SegmentedStage final : public OutputStage, private SegmentSink {
 public:
  explicit SegmentedStage(OutputChainParts parts)
      : segmenter_(parts.plan, trailing_space(parts.stops)),
        marker_tokens_(std::move(parts.plan.marker_tokens)),
        stops_(std::move(parts.stops)),
        make_tool_call_id_(std::move(parts.make_tool_call_id)) {
    std::sort(marker_tokens_.begin(), marker_tokens_.end());
  }

  StageVerdict accept(Token token, std::string_view bytes, std::vector<Event>& events) override {
    ZH_CHECK(!ended_);
    verdict_ = {};
    events_ = &events;
    ++tokens_;
    const bool was_thinking = segmenter_.thinking();
    segmenter_.feed(bytes.empty() ? marker_text(token) : bytes, *this);
    if (was_thinking || segmenter_.thinking()) ++thinking_tokens_;
    show_piece(PushEnd::kMore);
    if (segmenter_.done() && !verdict_.end) {
      end_block();
      const bool calls = segmenter_.calls() > 0;
      if (!verdict_.end) verdict_.end = calls ? FinishReason::kToolUse : FinishReason::kEndOfTurn;
    }
    ended_ = verdict_.end.has_value();
    return std::move(verdict_);
  }

  FinishReason flush(FinishReason reason, std::vector<Event>& events) override {
    ZH_CHECK(!ended_);
    ended_ = true;
    verdict_ = {};
    events_ = &events;
    segmenter_.end(*this);
    end_block();
    if (verdict_.end) return *verdict_.end;
    const bool called = reason == FinishReason::kEndOfTurn && segmenter_.calls() > 0;
    return called ? FinishReason::kToolUse : reason;
  }

  std::string_view flushed_stop_sequence() const override { return verdict_.stop_sequence; }

  std::uint32_t thinking_tokens() const override { return thinking_tokens_; }

 private:
  enum class Block : std::uint8_t { kNone, kText, kThinking, kArguments };

  // White space must not wait where it may complete a stop sequence.
  static TrailingSpace trailing_space(const StopRules& rules) {
    constexpr std::string_view kSpaces = " \n\r\t";
    const auto& texts = rules.soft_cap != nullptr ? rules.soft_cap->automaton() : rules.stops;
    for (std::size_t i = 0; texts != nullptr && i < texts->stop_count(); ++i) {
      if (kSpaces.find(texts->stop(i).back()) != std::string_view::npos) {
        return TrailingSpace::kShow;
      }
    }
    return TrailingSpace::kHold;
  }

  std::string_view marker_text(Token token) const {
    const auto at = std::lower_bound(marker_tokens_.begin(), marker_tokens_.end(), token,
                                     [](const std::pair<Token, std::string>& marker, Token wanted) {
                                       return marker.first < wanted;
                                     });
    return at != marker_tokens_.end() && at->first == token ? std::string_view(at->second)
                                                            : std::string_view();
  }

  void text(std::string_view bytes) override { take(Block::kText, bytes); }
  void thinking(std::string_view bytes) override { take(Block::kThinking, bytes); }
  void call_arguments(std::string_view json) override { take(Block::kArguments, json); }
  void call_end() override { end_block(); }

  void call_begin(std::string_view name) override {
    end_block();
    if (verdict_.end) return;
    // Names are foreign bytes too; an event holds whole characters.
    events_->emplace_back(ToolCallStarted{make_tool_call_id_(), utf8_replace_invalid(name)});
  }

  // Pieces of one token and one block become one event.
  void take(Block block, std::string_view bytes) {
    if (block != block_) {
      end_block();
      block_ = block;
      link_ = make_link(block);
    }
    piece_ += bytes;
  }

  std::unique_ptr<OutputLink> make_link(Block block) const {
    if (block == Block::kThinking) return make_utf8_link(make_thinking_delta_link());
    if (block == Block::kArguments) return make_utf8_link(make_tool_call_delta_link());
    auto link = make_utf8_link(make_text_delta_link());
    if (!stops_.any()) return link;
    return make_stop_link(stops_, std::move(link));
  }

  void show_piece(PushEnd end) {
    if (block_ == Block::kNone || verdict_.end) return;  // nothing is shown behind a stop
    OutputSink sink{*events_, verdict_, tokens_};
    link_->push(piece_, end, sink);
    piece_.clear();
  }

  void end_block() {
    show_piece(PushEnd::kEnd);
    block_ = Block::kNone;
    link_.reset();
    piece_.clear();
  }

  OutputSegmenter segmenter_;

  // Constant.
  std::vector<std::pair<Token, std::string>> marker_tokens_;  // ascending
  StopRules stops_;
  std::function<std::string()> make_tool_call_id_;

  Block block_ = Block::kNone;
  std::unique_ptr<OutputLink> link_;  // of the current block
  std::string piece_;                 // of the current token and block, not pushed yet
  std::uint32_t tokens_ = 0;
  std::uint32_t thinking_tokens_ = 0;
  bool ended_ = false;

  // Of the current call of accept() or flush().
  StageVerdict verdict_;
  std::vector<Event>* events_ = nullptr;
};

}  // namespace

std::unique_ptr<OutputStage> make_output_chain(OutputChainParts parts) {
  if (!OutputSegmenter::needed_for(parts.plan)) return make_output_chain(std::move(parts.stops));
  return std::make_unique<SegmentedStage>(std::move(parts));
}

}  // namespace zerohop
