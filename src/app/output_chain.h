// The output chain: core/output_stage.h put together from links.
//
//   token bytes ─→ segmenter ─┬─ text ──────→ stop sequences ─→ whole UTF-8 ─→ TextDelta
//                             ├─ thinking ──→ whole UTF-8 ─→ ThinkingDelta
//                             └─ arguments ─→ whole UTF-8 ─→ ToolCallDelta
//
// A link takes bytes, keeps what it cannot decide yet and pushes the rest to the next link. It
// knows that neighbour only as an OutputLink, so another one can be put between two links (a policy
// that holds text back) without a change to the others. Every push leads to exactly one push of the
// next link; so without a segmenter one token gives at most one event.
//
// The segmenter (prompt/output_segmenter.h) stands in front only where an answer may hold more than
// text; each block that it finds gets links of its own, so that neither half a character nor half a
// stop sequence reaches from one block into the next.
//
// The stop sequences come first in text and see raw bytes: half a character may already decide a
// match, and characters are only put together from what is really shown. They apply to text alone.
//
// One chain per request, used by the engine thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "constrain/soft_cap.h"
#include "constrain/stop_automaton.h"
#include "core/event.h"
#include "core/output_stage.h"
#include "prompt/output_plan.h"

namespace zerohop {

/// Whether more bytes may follow a push. After kEnd a link holds nothing back.
enum class PushEnd : std::uint8_t { kMore, kEnd };

/// Where links leave what they find: the events of the current token and its verdict.
struct OutputSink {
  std::vector<Event>& events;
  StageVerdict& verdict;
  std::uint32_t tokens = 0;  ///< accepted so far, the current one included
};

/// What ends an answer by its text.
struct StopRules {
  std::shared_ptr<const StopAutomaton> stops;    ///< may be null: no stop sequences
  std::shared_ptr<const SoftCapStops> soft_cap;  ///< may be null; holds `stops` too
  std::uint32_t soft_cap_from = 0;               ///< accepted tokens, with which it begins

  bool any() const { return soft_cap != nullptr || (stops != nullptr && stops->stop_count() > 0); }
};

class OutputLink {
 public:
  virtual ~OutputLink() = default;

  /// Takes the next bytes, perhaps none; valid only during the call. Not called again after kEnd.
  virtual void push(std::string_view bytes, PushEnd end, OutputSink& sink) = 0;
};

/// Ends the output at a stop sequence: hands on what stands in front of it, with kEnd, and sets the
/// verdict. At the soft cap the reason is kStopSequence too; the sequence is what ended the answer,
/// the marks of a sentence's end included.
std::unique_ptr<OutputLink> make_stop_link(StopRules rules, std::unique_ptr<OutputLink> next);

/// Hands on whole characters only. Bytes that can no longer become one are replaced by U+FFFD, one
/// for each maximal invalid part, and so is a character that is still incomplete at kEnd.
std::unique_ptr<OutputLink> make_utf8_link(std::unique_ptr<OutputLink> next);

/// Makes each push that has bytes an event of its kind. The end of a chain.
std::unique_ptr<OutputLink> make_text_delta_link();
std::unique_ptr<OutputLink> make_thinking_delta_link();
std::unique_ptr<OutputLink> make_tool_call_delta_link();

/// The stage that pushes the bytes of tokens into `first`.
std::unique_ptr<OutputStage> make_output_stage(std::unique_ptr<OutputLink> first);

/// The whole chain for plain text. In the steady state a token costs one allocation at most, the
/// event's own text.
std::unique_ptr<OutputStage> make_output_chain(StopRules rules);

struct OutputChainParts {
  OutputPlan plan;
  StopRules stops;
  std::function<std::string()> make_tool_call_id;  ///< called once a call, by the engine thread
};

/// The whole chain for the output of a plan; that for plain text where the plan tells no parts
/// apart. The answer ends with kToolUse behind the only call that a plan allows, and with
/// kEndOfTurn behind the JSON value that it asks for. flush() reports kToolUse for kEndOfTurn when
/// there were calls. Other reasons stay: a call that kMaxTokens cut off is completed into valid
/// JSON all the same, and the reason tells the client that something is missing.
std::unique_ptr<OutputStage> make_output_chain(OutputChainParts parts);

}  // namespace zerohop
