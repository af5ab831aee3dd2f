#include "engine/layout_choice.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"

namespace zerohop {
namespace {

constexpr std::uint32_t kPromptDefault = 1024;
constexpr std::uint32_t kShortCells = 64;
constexpr std::uint32_t kLongCells = 1024;      // near the typical length: little is extrapolated
constexpr std::uint32_t kProbedSequences = 16;  // more would only take longer
constexpr std::uint32_t kStepsMax = 5;          // the fastest counts; others were disturbed
constexpr double kStreamsMustWinBy = 0.10;
constexpr double kPlainMustWinBy = 0.03;

const char* name_of(KvLayout layout) {
  return layout == KvLayout::kUnified ? "one pool" : "streams";
}

const char* name_of(FlashAttention flash) {
  return flash == FlashAttention::kOff ? "without flash attention" : "with flash attention";
}

// What all candidates are measured with.
struct ProbeSize {
  std::uint32_t sequences = 1;
  std::uint32_t cells_short = 0;
  std::uint32_t cells_long = 0;
};

ProbeSize probe_size(const ModelInfo& model, const ContextOptions& options,
                     const LayoutProbe& probe) {
  ProbeSize size;
  size.sequences = std::min(options.sequences, kProbedSequences);
  const std::uint64_t cell_bytes = std::max<std::uint64_t>(model.kv_bytes_per_cell, 1);
  const std::uint64_t affordable = probe.kv_bytes_max / cell_bytes / size.sequences;
  const std::uint64_t spare = kStepsMax * 2;
  const std::uint64_t most = std::min<std::uint64_t>(options.window, affordable);
  if (most <= spare + 2) return size;
  size.cells_long = static_cast<std::uint32_t>(std::min<std::uint64_t>(kLongCells, most - spare));
  size.cells_short = std::min(kShortCells, size.cells_long / 4);
  return size;
}

ContextOptions probe_options(const ContextOptions& options, const ProbeSize& size,
                             const LayoutFigures& candidate) {
  ContextOptions probe = options;
  probe.sequences = size.sequences;
  probe.parked = 1;  // for the copy
  probe.window = size.cells_long + kStepsMax * 2;
  probe.cells = 0;
  probe.batch_rows = size.sequences;
  probe.logit_rows = size.sequences;
  probe.layout = candidate.layout;
  probe.flash_attention = candidate.flash_attention;
  probe.embeddings = false;
  return probe;
}

struct ProbeTime {
  const Clock& clock;
  TimePoint share;  // when this candidate should be done, so that the others get their turn
  TimePoint end;    // of everything
};

// Times one candidate. Every call says whether there is a figure; none when the time is up.
class CandidateProbe {
 public:
  CandidateProbe(ModelContext& context, const ProbeTime& time) : context_(context), time_(time) {
    context_.set_abort([this] { return is_over(); });
  }
  ~CandidateProbe() { context_.set_abort({}); }
  CandidateProbe(const CandidateProbe&) = delete;
  CandidateProbe& operator=(const CandidateProbe&) = delete;

  bool fill(std::uint32_t sequences, std::uint32_t cells) {
    for (std::uint32_t i = 0; i < sequences; ++i) {
      if (is_over()) return false;
      const SlotId slot(static_cast<std::int32_t>(i));
      if (!context_.remove(slot, {0, context_.positions(slot).end})) return false;
      if (!context_.fill(slot, static_cast<std::int32_t>(cells)).ok()) return false;
    }
    return true;
  }

  // One row for each sequence; the first step makes the graph and does not count. The second is
  // worth going beyond this candidate's share: without it the first would be for nothing.
  std::optional<double> step_ms(std::uint32_t sequences) {
    std::vector<BatchRow> rows(sequences);
    std::optional<double> best;
    for (std::uint32_t step = 0; step < kStepsMax; ++step) {
      if (is_over() || (step >= 2 && time_.clock.now() >= time_.share)) break;
      for (std::uint32_t i = 0; i < sequences; ++i) {
        const SlotId slot(static_cast<std::int32_t>(i));
        rows[i] = {0, context_.positions(slot).end, slot, true};
      }
      const TimePoint begin = time_.clock.now();
      if (context_.decode(rows) != DecodeStatus::kOk) break;
      const double took = to_milliseconds(time_.clock.now() - begin);
      if (step > 0 && (!best || took < *best)) best = took;
    }
    return best;
  }

  // From slot 0 into another one; that one is empty afterwards. 0 where the layout cannot do it.
  std::optional<double> reuse_token_us(SlotId to) {
    const SlotId from(0);
    const PositionRange held = context_.positions(from);
    if (is_over() || !context_.remove(to, {0, context_.positions(to).end})) return std::nullopt;
    const TimePoint begin = time_.clock.now();
    if (!context_.copy(from, to, held)) return 0;
    const double took = to_milliseconds(time_.clock.now() - begin);
    context_.remove(to, {0, held.end});
    return took * 1e3 / std::max(1, held.size());
  }

 private:
  // Also asked by the compute threads while a step runs.
  bool is_over() const { return time_.clock.now() >= time_.end; }

  ModelContext& context_;
  const ProbeTime time_;
};

void measure(ModelContext& context, const ProbeSize& size, const ProbeTime& time,
             LayoutFigures& candidate) {
  CandidateProbe timing(context, time);
  if (!timing.fill(size.sequences, size.cells_short)) return;
  const std::optional<double> step_short = timing.step_ms(size.sequences);
  if (!step_short || !timing.fill(size.sequences, size.cells_long)) return;
  const std::optional<double> step_long = timing.step_ms(size.sequences);
  if (!step_long) return;
  std::optional<double> reuse = 0;
  if (size.sequences > 1) {
    reuse = timing.reuse_token_us(SlotId(static_cast<std::int32_t>(size.sequences) - 1));
  }
  if (!reuse) return;
  candidate.sequences = size.sequences;
  candidate.cells_short = size.cells_short;
  candidate.cells_long = size.cells_long;
  candidate.step_short_ms = *step_short;
  candidate.step_long_ms = *step_long;
  candidate.reuse_token_us = *reuse;
  candidate.measured = true;
}

// Those to be measured, the likelier ones first; how many.
std::size_t list_candidates(const ContextOptions& options, KvLayoutChoiceReport& report) {
  std::size_t count = 0;
  for (const FlashAttention flash : {FlashAttention::kOn, FlashAttention::kOff}) {
    for (const KvLayout layout : {KvLayout::kUnified, KvLayout::kStreams}) {
      const bool given = options.flash_attention != FlashAttention::kAuto;
      if (given && options.flash_attention != flash) continue;
      report.candidates[count].layout = layout;
      report.candidates[count].flash_attention = flash;
      ++count;
    }
  }
  return count;
}

// A step at the typical length, halfway through the answer.
double step_ms(const LayoutFigures& figures, const LayoutWorkload& work) {
  const double rise = (figures.step_long_ms - figures.step_short_ms) /
                      std::max(1.0, static_cast<double>(figures.cells_long) -
                                        static_cast<double>(figures.cells_short));
  double length = work.prompt + work.answer / 2.0;
  if (figures.layout == KvLayout::kUnified) {
    // The cells of the pool, for each sequence.
    const double shared = std::min<double>(work.shared, length);
    length = length - shared + shared / std::max(1u, figures.sequences);
  }
  const double at = figures.step_short_ms + std::max(0.0, rise) * (length - figures.cells_short);
  return std::max(at, 0.0);
}

double request_ms(const LayoutFigures& figures, const LayoutWorkload& work) {
  const double reuse = work.shared * figures.reuse_token_us / 1e3;
  return reuse + work.answer * step_ms(figures, work) / std::max(1u, figures.sequences);
}

const LayoutFigures* best_of(const KvLayoutChoiceReport& report, KvLayout layout) {
  const LayoutFigures* best = nullptr;
  for (const LayoutFigures& candidate : report.candidates) {
    if (!candidate.measured || candidate.layout != layout) continue;
    const bool plain = candidate.flash_attention == FlashAttention::kOff;
    const double handicap = plain ? 1 - kPlainMustWinBy : 1;
    if (best == nullptr || candidate.request_ms < best->request_ms * handicap) best = &candidate;
  }
  return best;
}

}  // namespace

void choose_layout(KvLayoutChoiceReport& report) {
  for (LayoutFigures& candidate : report.candidates) {
    if (candidate.measured) candidate.request_ms = request_ms(candidate, report.workload);
  }
  const LayoutFigures* pool = best_of(report, KvLayout::kUnified);
  const LayoutFigures* const streams = best_of(report, KvLayout::kStreams);
  report.measured = pool != nullptr;
  if (pool == nullptr) {
    if (report.reason.empty()) report.reason = "one pool: nothing was measured";
    return;
  }
  const bool streams_win =
      streams != nullptr && streams->request_ms < pool->request_ms * (1 - kStreamsMustWinBy);
  const LayoutFigures& chosen = streams_win ? *streams : *pool;
  report.layout = chosen.layout;
  report.flash_attention = chosen.flash_attention;
  char text[200];
  std::snprintf(text, sizeof text,
                "%s %s: a request of %u tokens (%u shared) and %u of answer takes %.0f ms in one "
                "pool, ",
                name_of(chosen.layout), name_of(chosen.flash_attention), report.workload.prompt,
                report.workload.shared, report.workload.answer, pool->request_ms);
  report.reason = text;
  if (streams == nullptr) {
    report.reason += report.out_of_time ? "streams were not measured in the time given"
                                        : "streams cannot be measured";
    return;
  }
  std::snprintf(text, sizeof text, "%.0f ms in streams", streams->request_ms);
  report.reason += text;
}

std::string layout_choice_key(const ModelInfo& model, const ContextOptions& options,
                              std::string_view machine) {
  const std::uint64_t parts[]{model.parameters,
                              model.file_bytes,
                              model.kv_bytes_per_cell,
                              options.sequences,
                              options.window,
                              options.threads,
                              static_cast<std::uint64_t>(options.flash_attention),
                              options.full_window_cache ? 1u : 0u};
  std::string key = "layout-1|" + std::string(machine) + "|" + model.description;
  for (const std::uint64_t part : parts) key += "|" + std::to_string(part);
  return key;
}

KvLayoutChoiceReport measure_layouts(const Model& model, const ContextOptions& options,
                                     const LayoutProbe& probe) {
  ZH_CHECK(probe.clock != nullptr);
  const TimePoint begin = probe.clock->now();
  KvLayoutChoiceReport report;
  report.flash_attention = options.flash_attention;
  report.workload.sequences = options.sequences;
  const std::uint32_t prompt = probe.prompt != 0 ? probe.prompt : kPromptDefault;
  report.workload.answer = std::min(probe.answer, options.window / 4);
  report.workload.prompt = std::min(prompt, options.window - report.workload.answer);
  const double share = std::clamp(probe.shared_share, 0.0, 1.0);
  report.workload.shared = static_cast<std::uint32_t>(report.workload.prompt * share);

  const ProbeSize size = probe_size(model.info(), options, probe);
  if (size.cells_short == 0) {
    report.reason = "one pool: the window is too small to measure in";
    return report;
  }
  std::size_t left = list_candidates(options, report);
  for (LayoutFigures& candidate : std::span(report.candidates).first(left)) {
    const TimePoint now = probe.clock->now();
    const Duration rest = begin + probe.budget - now;
    if (rest <= Duration{}) break;
    const TimePoint until = now + rest / static_cast<std::int64_t>(left--);
    auto context = model.make_context(probe_options(options, size, candidate));
    if (!context.ok()) continue;
    measure(**context, size, {*probe.clock, until, begin + probe.budget}, candidate);
  }
  const Duration spent = probe.clock->now() - begin;
  report.out_of_time = spent >= probe.budget;
  report.spent_ms = to_milliseconds(spent);
  choose_layout(report);
  return report;
}

}  // namespace zerohop
