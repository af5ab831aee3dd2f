#include "app/tier_feeds.h"

namespace zerohop {

std::unique_ptr<TierMetrics> make_tier_metrics(Service& service, const Model& model) {
  const ModelInfo& info = model.info();
  TierFacts facts;
  facts.model = info.name;
  facts.sequences = service.config.engine.sequences;
  facts.model_bytes = info.file_bytes;
  facts.kv_bytes_per_cell = info.kv_bytes_per_cell;
  return std::make_unique<TierMetrics>(service.registry, service.clock, facts);
}

void feed_tier_metrics(TierMetrics& metrics, const Model& model, TierParts& parts) {
  const TokenTable& table = model.tokenizer().table();
  parts.on_step = [&steps = metrics.steps](const StepReport& report) {
    StepTimes times;
    times.kind = report.decodes ? StepTimes::Kind::kDecode : StepTimes::Kind::kPrefill;
    times.pass = report.duration;
    times.sample = report.sampling - report.masking;
    times.mask = report.masking;
    times.rows = report.rows;
    times.fragmentation = report.fragmentation;
    steps.step(times);
  };
  parts.on_compaction = [&steps = metrics.steps](const CompactionReport& report) {
    steps.compaction(report.duration);
  };
  // The bytes of control tokens are none, as in what a client sent.
  parts.on_prompt = [&prompts = metrics.prompts, &table](Duration took,
                                                         const PreparedPrompt& prompt) {
    std::uint64_t bytes = 0;
    for (const Token token : prompt.tokens) bytes += table.bytes(token).size();
    prompts.prepared(took, prompt.tokens.size(), bytes);
  };
}

}  // namespace zerohop
