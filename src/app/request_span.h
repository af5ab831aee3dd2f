// A request that is over as a span of its trace, with its phases as spans below it:
//
//   request  ├───────────────────────────────────────────────────┤  first to last byte
//   receive    ├───┤                                                its body, of what asks for work
//   prepare        ├─────┤                                          parse, render, tokenise
//   queue                ├─────┤                                    until it is placed
//   prefill                    ├─────────┤                          to its first token
//   decode                               ├─────────────────────┤    to its last one
//
// (Embeddings have `compute` in place of the last three). Made of the request's own time stamps and
// of its record, which has no text of prompts and answers; nothing is measured for it. One span
// takes 0.2 µs (request_span_bench.cc).
//
// I/O thread; a SpanRecord is a plain value that may go anywhere.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "app/request_log.h"
#include "app/request_trace.h"
#include "base/clock.h"
#include "http/server_options.h"

namespace zerohop {

struct RequestContext;
struct Service;

/// Both since the first byte of the request.
struct SpanPhase {
  std::string_view name;  ///< static text
  Duration begin{};
  Duration end{};
};

struct SpanRecord {
  static constexpr std::size_t kPhasesMax = 5;

  RequestTrace trace;
  RequestRecord request;
  /// gen_ai.operation.name; empty: no model was asked. Static text.
  std::string_view operation;
  WallTime began;
  bool joined = false;  ///< it read an answer that another request had begun
  std::vector<SpanPhase> phases;

  /// As which a collector gets it.
  std::size_t spans() const { return 1 + phases.size(); }
};

/// What a route asks of the model, in the words of the GenAI semantic conventions: `chat`,
/// `text_completion`, `embeddings`; empty: nothing.
std::string_view operation_of(std::string_view route);

/// `record`: of the same request.
SpanRecord span_of(const Service& service, const ExchangeSummary& summary,
                   const RequestContext& context, const RequestRecord& record);

}  // namespace zerohop
