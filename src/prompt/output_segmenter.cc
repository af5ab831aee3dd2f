// The machine
// -----------
// Models do not write parts, they write text with tags in it, carelessly:
//
//   <think>⏎The user wants…⏎</think>⏎⏎Let me look.⏎
//   <tool_call>⏎{"name": "f", "arguments": {…}}⏎</tool_call>
//
// A client wants thinking, text and calls as separate blocks, each byte as early as possible, and
// never a tag, never invalid JSON, never an empty block. So the output is read by a machine with
// six modes:
//
//              ┌──── thinking open ────┐
//              │   ┌─ thinking close ──│─┐
//              ▼   │                   │ ▼
//            kThinking                kText ── the JSON begins (rules) ──▶ kJson ──▶ done
//                │ ▲                   ▲ │ └── a text of another format begins ──▶ kExact
//                │ ▲                   ▲ │
//      call open │ │ no call:          │ │ call open, or { of a bare call
//                ▼ │ given back        │ ▼
//                 kCall ── calls whole ─┴──▶ kText (or done, when only one call is wanted)
//                   │
//                   └── a call went wrong ──▶ kRubble ── any mark ──▶ kText, kThinking, kCall
//
// In kText, kThinking and kRubble one scanner looks for all marks of the plan at once; they differ
// in what a mark leads to and in where the bytes between marks go. Marks that a mode has no use for
// (a stray close, a section's tags, framing) are dropped everywhere: they are the format's, not the
// model's words. In kCall the bytes go to a ToolCallReader, in kJson to a JsonAnswer; these know
// best where they end, and a tag inside their strings is just a part of the string. In kExact no
// byte means anything: a text that matches a pattern may look like a mark.
//
// What a mark opens may prove to be no call (somebody explains the format). Until the reader has
// given out a call, the bytes are kept; then the mark itself is given back as text and the rest is
// read once more, because a true call may begin in it. Reading again is limited to the first few
// kilobytes, so that a hostile answer full of open marks costs linear time.
//
// Independence of cuts holds because every decision looks at bytes only, never at the end of a
// piece: what cannot be decided is put back into held_ and seen again, in front of the next piece.
//
// White space belongs to the format where it stands beside a tag, and to the text elsewhere. So it
// is held back at the end of text, and dropped at the beginning of a block that follows a tag. A
// block of nothing but white space never appears beside other blocks.
#include "prompt/output_segmenter.h"

#include <algorithm>

namespace zerohop {
namespace {

constexpr std::string_view kSpaces = " \n\r\t";

// More white space than this is shown, so that a model that writes nothing else can be stopped by
// whoever watches.
constexpr std::size_t kSpaceBytesMax = 64;

// A call without a name is given up when it is as long as this. Arguments may stand in front of the
// name, and may hold a file.
constexpr std::size_t kNamelessCallBytesMax = 1 << 20;

// What proves to be no call is read once more when it is no longer than this.
constexpr std::size_t kReadAgainBytesMax = 4096;

std::size_t spaces_in_front(std::string_view bytes) {
  return std::min(bytes.find_first_not_of(kSpaces), bytes.size());
}

bool is_exact(OutputFormat format) {
  return format == OutputFormat::kRegex || format == OutputFormat::kGrammar ||
         format == OutputFormat::kChoice;
}

MarkScanner marks_of(const OutputPlan& plan) {
  MarkScanner scanner;
  if (plan.thinking) {
    scanner.add(mark_core(plan.thinking->open), MarkKind::kThinkingOpen);
    scanner.add(mark_core(plan.thinking->close), MarkKind::kThinkingClose);
  }
  if (plan.tool_syntax != nullptr) {
    const ToolSyntax& syntax = *plan.tool_syntax;
    scanner.add(mark_core(syntax.open), MarkKind::kCallOpen);
    scanner.add(mark_core(syntax.open_alternative), MarkKind::kCallOpen);
    scanner.add(mark_core(syntax.section_open), MarkKind::kFrame);
    scanner.add(mark_core(syntax.section_close), MarkKind::kEnd);
    scanner.add(mark_core(syntax.close), MarkKind::kEnd);
    const std::string_view arguments_close = mark_core(syntax.arguments_close);
    if (arguments_close.starts_with('<')) {
      scanner.add(arguments_close, MarkKind::kEnd);
    } else if (!arguments_close.empty()) {  // a code fence: a mark only in front of the close
      scanner.add(std::string(arguments_close).append(mark_core(syntax.close)), MarkKind::kEnd);
    }
  }
  for (const std::string& frame : plan.framing) scanner.add(mark_core(frame), MarkKind::kFrame);
  return scanner;
}

}  // namespace

OutputSegmenter::OutputSegmenter(const OutputPlan& plan, TrailingSpace space)
    : syntax_(plan.tool_syntax),
      one_call_(!plan.parallel_tool_calls),
      thinks_(plan.thinking.has_value()),
      start_(plan.start),
      forced_tool_(plan.forced_tool),
      offered_(plan.offered),
      exact_(is_exact(plan.rules.format)),
      continues_text_(!plan.prefill.empty()),
      space_kept_(space),
      scanner_(marks_of(plan)) {
  if (plan.rules.format != OutputFormat::kText && !exact_) {
    json_.emplace(json_root_of(plan.rules), answer_prefill(plan));
  }
}

bool OutputSegmenter::needed_for(const OutputPlan& plan) {
  return plan.tool_syntax != nullptr || plan.thinking || !plan.framing.empty() ||
         plan.rules.format != OutputFormat::kText;
}

bool OutputSegmenter::thinking() const {
  return mode_ == Mode::kThinking ||
         (mode_ == Mode::kCall && call_in_ == Mode::kThinking && !reader_->begun());
}

// What the prompt left open. Not in the constructor, because it may already give something out.
void OutputSegmenter::begin(SegmentSink& sink) {
  if (begun_) return;
  begun_ = true;
  if (start_ == OutputStart::kThinking && thinks_) {
    begin_block(Mode::kThinking);
  } else if (start_ != OutputStart::kText && syntax_ != nullptr) {
    begin_forced_call(sink);
  } else if (json_ && json_->done()) {
    done_ = true;
  } else if (json_ && json_->begun()) {
    mode_ = Mode::kJson;
  } else if (exact_ && continues_text_) {
    mode_ = Mode::kExact;
  }
}

void OutputSegmenter::feed(std::string_view bytes, SegmentSink& sink) {
  begin(sink);
  if (done_) return;
  input_ = bytes;
  if (!held_.empty()) {
    joined_.assign(held_).append(bytes);
    input_ = joined_;
  }
  while (!input_.empty() && !done_ && step(sink)) {
  }
  held_.assign(input_);
  input_ = {};
}

void OutputSegmenter::end(SegmentSink& sink) {
  begin(sink);
  final_ = true;
  feed({}, sink);
  while (mode_ == Mode::kCall && !done_) end_open_call(sink);
  if (done_) return;
  if (json_) {
    end_json(sink);
  } else if (mode_ == Mode::kText && (block_shown_ || (!any_shown_ && calls_ == 0))) {
    show(space_, sink);
  }
  done_ = true;
}

// May find text behind the call, or another call, in what seemed to be a part of it.
void OutputSegmenter::end_open_call(SegmentSink& sink) {
  if (reader_->end(sink) == CallState::kNoCall) {
    mode_ = call_in_;
    reader_.reset();
    give(raw_, sink);
    return;
  }
  const std::string unread = reader_->take_unread();
  end_call(Mode::kText);
  if (!done_) feed(unread, sink);
}

// Takes something from the front of input_; false when that needs more bytes.
bool OutputSegmenter::step(SegmentSink& sink) {
  if (mode_ == Mode::kCall) return step_call(sink);
  if (mode_ == Mode::kJson) {
    give_json(input_, sink);
    input_ = {};
    return true;
  }
  if (mode_ == Mode::kExact) {
    show(input_, sink);
    input_ = {};
    return true;
  }
  if (mode_ == Mode::kText && exact_) return step_exact();
  if (mode_ == Mode::kText && syntax_ != nullptr && syntax_->open.empty() && !block_shown_) {
    if (step_bare_call(sink)) return true;
  }
  return step_marks(sink);
}

// In front of a text that is shown as it is there may be thoughts, or calls in its place.
bool OutputSegmenter::step_exact() {
  const auto found = scanner_.find(input_, final_ ? TextEnd::kFinal : TextEnd::kOpen);
  if (found.begin > 0) {
    mode_ = Mode::kExact;
    return true;
  }
  if (found.mark == nullptr) return false;
  input_.remove_prefix(found.mark->text.size());
  take_mark(*found.mark);
  return true;
}

bool OutputSegmenter::step_marks(SegmentSink& sink) {
  const auto found = scanner_.find(input_, final_ ? TextEnd::kFinal : TextEnd::kOpen);
  if (found.begin > 0) {
    const std::string_view text = input_.substr(0, found.begin);
    input_.remove_prefix(found.begin);
    give(text, sink);
    return true;
  }
  if (found.mark == nullptr) return false;
  input_.remove_prefix(found.mark->text.size());
  take_mark(*found.mark);
  return true;
}

void OutputSegmenter::take_mark(const Mark& mark) {
  switch (mark.kind) {
    case MarkKind::kThinkingOpen:
      if (mode_ != Mode::kThinking) begin_block(Mode::kThinking);
      break;
    case MarkKind::kThinkingClose:
      if (mode_ == Mode::kThinking) begin_block(Mode::kText);
      break;
    case MarkKind::kCallOpen: begin_call(mark.text, CallOpening::kMarked); return;
    default: break;
  }
  if (mode_ == Mode::kRubble && mark.kind != MarkKind::kFrame) begin_block(Mode::kText);
}

void OutputSegmenter::begin_block(Mode mode) {
  mode_ = mode;
  block_shown_ = false;
  drop_space_ = true;
  space_.clear();
}

// A call without a mark, at the beginning of the answer or behind another block.
bool OutputSegmenter::step_bare_call(SegmentSink& sink) {
  if (continues_text_ && calls_ == 0 && !any_shown_) return false;
  const std::string_view separators = calls_ > 0 ? " \n\r\t;," : kSpaces;
  const std::size_t size = std::min(input_.find_first_not_of(separators), input_.size());
  if (size > 0) {
    if (calls_ == 0) give(input_.substr(0, size), sink);
    input_.remove_prefix(size);
    return true;
  }
  if (input_.front() != '{') return false;
  begin_call({}, CallOpening::kBare);
  return true;
}

void OutputSegmenter::begin_call(std::string_view mark, CallOpening opening) {
  call_in_ = mode_;
  mode_ = Mode::kCall;
  opening_ = opening;
  raw_ = mark;
  raw_mark_ = mark.size();
  const CallCount count = one_call_ ? CallCount::kOne : CallCount::kAny;
  reader_.emplace(*syntax_, ToolCallReaderOptions{opening, count, offered_.get()});
}

// The prompt ends within a call: the reader is told what stands there.
void OutputSegmenter::begin_forced_call(SegmentSink& sink) {
  begin_call({}, CallOpening::kMarked);
  const std::string prompt = start_ == OutputStart::kToolName
                                 ? write_call_up_to_name(*syntax_)
                                 : write_call_up_to_arguments(*syntax_, forced_tool_);
  std::string_view body =
      std::string_view(prompt).substr(syntax_->section_open.size() + syntax_->open.size());
  reader_->feed(body, sink);
  if (start_ == OutputStart::kToolArguments) reader_->be_sure(sink);
}

bool OutputSegmenter::step_call(SegmentSink& sink) {
  std::string_view part = input_;
  if (!reader_->begun()) part = part.substr(0, kNamelessCallBytesMax - raw_.size());
  std::string_view rest = part;
  const CallState state = reader_->feed(rest, sink);
  const std::size_t taken = part.size() - rest.size();
  if (!reader_->begun()) raw_ += input_.substr(0, taken);
  input_.remove_prefix(taken);
  switch (state) {
    case CallState::kReading:
      if (!reader_->begun() && raw_.size() >= kNamelessCallBytesMax) give_back_call(sink);
      break;
    case CallState::kDone:
    case CallState::kBroken:
      if (std::string unread = reader_->take_unread(); !unread.empty()) {
        unread += input_;
        joined_ = std::move(unread);
        input_ = joined_;
      }
      end_call(state == CallState::kDone ? Mode::kText : Mode::kRubble);
      break;
    case CallState::kNoCall: give_back_call(sink); break;
  }
  return true;
}

void OutputSegmenter::end_call(Mode next) {
  calls_ += reader_->calls_begun();
  reader_.reset();
  begin_block(next);
  done_ = done_ || one_call_;
}

void OutputSegmenter::give_back_call(SegmentSink& sink) {
  mode_ = call_in_;
  reader_.reset();
  std::size_t text = opening_ == CallOpening::kBare ? 1 : raw_mark_;
  if (raw_.size() > kReadAgainBytesMax) text = raw_.size();
  std::string again = raw_.substr(text);
  again += input_;
  give(std::string_view(raw_).substr(0, text), sink);
  joined_ = std::move(again);
  input_ = joined_;
}

void OutputSegmenter::give(std::string_view bytes, SegmentSink& sink) {
  if (bytes.empty() || mode_ == Mode::kRubble) return;
  if (mode_ == Mode::kText && json_) {
    // Words that are dropped count too: a bare call stands at the beginning of its block.
    block_shown_ = block_shown_ || spaces_in_front(bytes) < bytes.size();
    give_json(bytes, sink);
  } else {
    give_text(bytes, sink);
  }
}

// A part of a block: its white space waits for what follows.
void OutputSegmenter::give_text(std::string_view bytes, SegmentSink& sink) {
  if (!block_shown_ && drop_space_) bytes.remove_prefix(spaces_in_front(bytes));
  if (bytes.empty()) return;
  const std::size_t end = bytes.find_last_not_of(kSpaces) + 1;  // 0 when all is white space
  if (end > 0) {
    show(space_, sink);
    space_.clear();
    show(bytes.substr(0, end), sink);
  }
  space_ += bytes.substr(end);
  const bool hold = space_kept_ == TrailingSpace::kHold || !block_shown_ || mode_ != Mode::kText;
  const std::size_t held = hold ? std::min(space_.size(), kSpaceBytesMax) : 0;
  show(std::string_view(space_).substr(0, space_.size() - held), sink);
  space_.erase(0, space_.size() - held);
}

void OutputSegmenter::show(std::string_view bytes, SegmentSink& sink) {
  if (bytes.empty()) return;
  block_shown_ = any_shown_ = true;
  if (mode_ == Mode::kThinking) {
    sink.thinking(bytes);
  } else {
    sink.text(bytes);
  }
}

void OutputSegmenter::give_json(std::string_view bytes, SegmentSink& sink) {
  std::string json;
  json_->feed(bytes, json);
  if (json_->begun()) mode_ = Mode::kJson;
  show(json, sink);
  done_ = done_ || json_->done();
}

void OutputSegmenter::end_json(SegmentSink& sink) {
  if (!json_->begun() && calls_ > 0) return;
  std::string json;
  mode_ = Mode::kJson;
  json_->close(json);
  show(json, sink);
}

}  // namespace zerohop
