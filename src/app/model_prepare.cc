#include "app/model_prepare.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "app/machine.h"
#include "app/model_prepare_store.h"
#include "base/log.h"
#include "model/llama_backend.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;

// What stays free on the disk behind a conversion.
constexpr std::uint64_t kDiskMarginBytes = std::uint64_t{512} << 20;

Error not_now(std::string why) { return Error{ErrorCode::kInternal, std::move(why), "", {}}; }

// What decisions in one folder share; the rest of the key differs by configuration.
std::string subject_of(const WeightFile& file) {
  return std::to_string(file.fingerprint) + "|" + std::to_string(file.bytes) + "|" +
         llama_library_version();
}

// The weights behind what the library cannot simply exchange, as a loaded model shows it.
std::optional<std::string> unsuitable(const ModelInfo& info) {
  if (info.ids_hold_memory) return "it keeps a running state";
  if (info.attention != AttentionType::kCausal) return "it is an encoder";
  return std::nullopt;
}

// What a decision is about.
struct PrepareCase {
  const PrepareRequest& request;
  const PrepareTools& tools;
  const WeightFile& file;
  const PrepareFolder& folder;
  const std::string& key;
  std::uint32_t attempts = 0;  ///< before this start
};

// One attempt, under the folder's lock.
class Preparation {
 public:
  explicit Preparation(const PrepareCase& about)
      : request_(about.request),
        tools_(about.tools),
        file_(about.file),
        folder_(about.folder),
        key_(about.key),
        attempts_(about.attempts) {}

  /// Errors: kInternal, kModelUnavailable; the reason why there is no decision.
  Result<PrepareDecision> decide() {
    PrepareDecision decision;
    decision.key = key_;
    decision.attempts = attempts_ + 1;
    decision.subject = subject_of(file_);
    decision.source_type = file_.main_type;
    ZH_ASSIGN_OR_RETURN(const std::unique_ptr<Model> original, load_llama_model(request_.model));
    if (const auto why = unsuitable(original->info())) {
      decision.reason = *why;
      return decision;
    }
    const auto types = candidate_types(file_, request_.rule, request_.room);
    ZH_RETURN_IF_ERROR(check_disk(types));
    for (const WeightType type : types) {
      ZH_RETURN_IF_ERROR(convert(type));
      decision.candidates.push_back(compare(*original, type));
      say(candidate_text(decision.candidates.back()));
    }
    const PrepareChoice choice = choose_weights(decision.candidates, request_.rule);
    decision.type = choice.type;
    decision.reason = choice.reason;
    return decision;
  }

 private:
  void say(const std::string& line) const {
    if (tools_.say) tools_.say(line);
  }

  Result<void> check_disk(const std::vector<WeightType>& types) const {
    std::uint64_t needed = kDiskMarginBytes;
    for (const WeightType type : types) needed += file_.bytes_as(type);
    std::error_code fault;
    const fs::space_info space = fs::space(folder_.path(), fault);
    if (fault) return not_now(folder_.path().string() + ": " + fault.message());
    if (space.available >= needed) return {};
    constexpr std::uint64_t kMebibyte = 1 << 20;
    return not_now(folder_.path().string() + " has " + std::to_string(space.available / kMebibyte) +
                   " MiB free, " + std::to_string(needed / kMebibyte) + " are needed");
  }

  Result<void> convert(WeightType type) const {
    say("preparing " + request_.model.name + " for this machine, once: " + file_.main_type +
        " to " + std::string(weight_type_name(type)));
    Conversion conversion;
    conversion.source = request_.model.path;
    conversion.target = folder_.part_of(type).string();
    conversion.type = type;
    conversion.threads = request_.threads;
    const std::uint64_t bytes = file_.bytes_as(type);
    conversion.progress = [this, bytes](double share) {
      const auto done = static_cast<std::uint64_t>(share * static_cast<double>(bytes));
      if (tools_.progress) tools_.progress(done, bytes);
    };
    return convert_weights(conversion);
  }

  PrepareCandidate compare(const Model& original, WeightType type) const {
    PrepareCandidate candidate;
    candidate.type = type;
    LlamaModelOptions options = request_.model;
    options.path = folder_.part_of(type).string();
    const Result<std::unique_ptr<Model>> converted = load_llama_model(options);
    if (!converted.ok()) {
      candidate.fault = converted.error().message;
      return candidate;
    }
    CompareOptions compared;
    compared.clock = &tools_.clock;
    compared.threads = request_.threads;
    compared.kl_limit = request_.rule.kl_max;
    const Result<ModelComparison> figures = tools_.compare(original, **converted, compared);
    if (figures.ok()) {
      candidate.figures = *figures;
    } else {
      candidate.fault = figures.error().message;
    }
    return candidate;
  }

  const PrepareRequest& request_;
  const PrepareTools& tools_;
  const WeightFile& file_;
  const PrepareFolder& folder_;
  const std::string& key_;
  const std::uint32_t attempts_;
};

// What was decided by this start, or by another one while this waited.
struct Decided {
  PrepareDecision decision;
  bool measured_now = false;
};

Result<Decided> decide_now(const PrepareCase& about) {
  const PrepareFolder& folder = about.folder;
  PrepareWait wait{about.tools.clock};
  wait.pause = about.tools.pause;
  wait.say = about.tools.say;
  ZH_ASSIGN_OR_RETURN(const FileLock lock, folder.lock(wait));
  auto meanwhile = folder.find(about.key);
  if (meanwhile && (is_settled(*meanwhile) || meanwhile->attempts > about.attempts)) {
    return Decided{*std::move(meanwhile), false};
  }
  if (!meanwhile && folder.noted(about.key)) {
    log_warning("the prepared model is damaged or gone; it is made again",
                {{"folder", folder.path().string()}});
  }
  Result<PrepareDecision> decision = Preparation(about).decide();
  if (decision.ok()) decision = folder.keep(*std::move(decision));
  folder.clear_parts();
  if (!decision.ok()) return decision.error();
  return Decided{*std::move(decision), true};
}

void take(PrepareDecision decision, const PrepareFolder& folder, PreparedModel& prepared) {
  ModelPreparation& outcome = prepared.preparation;
  outcome.type = decision.type;
  outcome.reason = std::move(decision.reason);
  outcome.candidates = std::move(decision.candidates);
  if (outcome.prepared()) prepared.file = folder.file_of(outcome.type);
}

void log_outcome(const ModelPreparation& outcome) {
  log_info("model prepared", {{"type", std::string(weight_type_name(outcome.type))},
                              {"source_type", outcome.source_type},
                              {"reason", outcome.reason},
                              {"measured", outcome.measured_now ? "now" : "earlier"},
                              {"spent_ms", std::to_string(static_cast<int>(outcome.spent_ms))}});
}

}  // namespace

std::string prepare_key(const PrepareRequest& request, const WeightFile& file) {
  std::string key = "prepare-1|" + subject_of(file) + "|" + processor_name() + "|" +
                    llama_system_info() + "|" + std::to_string(request.threads) + "|" +
                    std::string(prepare_policy_name(request.rule.policy)) + "|" +
                    std::to_string(request.rule.kl_max) + "|" +
                    std::to_string(request.room.bytes_max) + "|" +
                    std::to_string(request.model.gpu_layers);
  for (const std::string& device : request.model.devices) key += "|" + device;
  return key;
}

PreparedModel prepare_model(const PrepareRequest& request, const PrepareTools& tools) {
  PreparedModel prepared;
  prepared.file = request.model.path;
  ModelPreparation& outcome = prepared.preparation;
  outcome.policy = request.rule.policy;
  outcome.reason = "model.prepare is off";
  if (request.rule.policy == PreparePolicy::kOff) return prepared;
  const Result<WeightFile> file = read_weight_file(request.model.path);
  if (!file.ok()) {  // loading it will say so, too
    outcome.reason = file.error().message;
    return prepared;
  }
  outcome.source_type = file->main_type;
  if (request.cache_folder.empty()) {
    outcome.reason = "there is no cache folder";
    return prepared;
  }
  // Before the rules are asked, for they look at the free memory: what was prepared stays so.
  const PrepareFolder folder(request.cache_folder, request.model.path);
  const std::string key = prepare_key(request, *file);
  auto earlier = folder.find(key);
  const auto why = why_left_alone(*file, request.rule, request.room);
  if (earlier && (is_settled(*earlier) || why)) {
    take(*std::move(earlier), folder, prepared);
    log_outcome(outcome);
    return prepared;
  }
  if (why) {
    outcome.reason = *why;
    log_info("model served as it is", {{"reason", outcome.reason}});
    return prepared;
  }
  const TimePoint begin = tools.clock.now();
  const std::uint32_t attempts = earlier ? earlier->attempts : 0;
  Result<Decided> decided = decide_now({request, tools, *file, folder, key, attempts});
  if (!decided.ok() && earlier) {
    log_warning("model not measured again", {{"reason", decided.error().message}});
    decided = Decided{*std::move(earlier), false};
  }
  if (!decided.ok()) {
    outcome.reason = decided.error().message;
    log_warning("model not prepared, served as it is", {{"reason", outcome.reason}});
    return prepared;
  }
  take(std::move(decided->decision), folder, prepared);
  outcome.measured_now = decided->measured_now;
  if (outcome.measured_now) outcome.spent_ms = to_milliseconds(tools.clock.now() - begin);
  log_outcome(outcome);
  return prepared;
}

}  // namespace zerohop
