#include "engine/embedder.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "core/limits.h"

namespace zerohop {
namespace {

// A job always advances by this much, or running streams could starve it. Costs 25 ms on two cores.
constexpr std::size_t kRowsMin = 8;
// Rows of a piece in exact mode, where its size must not depend on measured times.
constexpr std::size_t kExactRows = 16;
// Inputs of one piece. With rows in tiles of 64, more would be inputs of four tokens and less.
constexpr std::uint32_t kSlots = 16;
// A failed piece is computed once more.
constexpr std::uint32_t kRetriesMax = 1;
constexpr std::int32_t kEverything = std::numeric_limits<std::int32_t>::max();

Error failure(std::string message) {
  return Error{ErrorCode::kModelFailure, std::move(message), "", {}};
}

// Jobs for a model that ranks are refused, so its pooler is never used.
PoolingType usable(PoolingType pooling) {
  return pooling == PoolingType::kRank ? PoolingType::kUnspecified : pooling;
}

}  // namespace

ContextOptions embedding_context_options(std::uint32_t window, std::uint32_t threads,
                                         AttentionType attention) {
  const bool whole = attention == AttentionType::kWholeText;
  ContextOptions options;
  options.sequences = kSlots;
  options.window = window;
  options.batch_rows = whole ? window : limits::kRowTile;
  options.logit_rows = options.batch_rows;
  // One input in the middle, and a piece.
  options.cells = whole ? options.batch_rows : window + options.batch_rows;
  options.threads = threads;
  options.embeddings = true;
  return options;
}

Embedder::Embedder(EmbeddingSupport support, EmbedderOptions options)
    : support_(std::move(support)),
      options_(std::move(options)),
      inbox_(options_.queue_max),
      pooler_(usable(support_.pooling)) {
  ZH_CHECK(options_.clock != nullptr && options_.stopping);
  ZH_CHECK(!support_.make_context || (support_.window > 0 && support_.batch_rows > 0));
  ZH_CHECK(!whole_inputs() || support_.batch_rows >= support_.window);
}

Embedder::~Embedder() { ZH_CHECK(jobs_.empty() && inbox_.size() == 0); }

Result<void> Embedder::check(const EmbeddingRequest& request) const {
  ZH_CHECK(request.on_done && !request.inputs.empty());
  if (!support_.make_context || support_.pooling == PoolingType::kRank) {
    return invalid_request("model", "this model makes no embeddings");
  }
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    const std::size_t size = request.inputs[i].size();
    ZH_CHECK(size > 0);
    if (size <= support_.window) continue;
    return invalid_request("input[" + std::to_string(i) + "]",
                           "input is too long: " + std::to_string(size) + " tokens > " +
                               std::to_string(support_.window) + " maximum");
  }
  return {};
}

Result<std::shared_ptr<EmbeddingJob>> Embedder::submit(EmbeddingRequest request,
                                                       std::function<void()> ring_engine) {
  ZH_RETURN_IF_ERROR(check(request));
  if (waiting_.fetch_add(1) >= options_.queue_max) {
    waiting_.fetch_sub(1);
    return Error{ErrorCode::kOverloaded, "the queue is full", "", std::chrono::seconds(1)};
  }
  auto job = std::make_shared<EmbeddingJob>(ring_engine);
  Work work;
  work.job = job;
  work.request = std::move(request);
  if (!inbox_.try_push(std::move(work))) {
    waiting_.fetch_sub(1);
    return Error{ErrorCode::kShuttingDown, "the server is shutting down", "",
                 std::chrono::seconds(1)};
  }
  ring_engine();
  return job;
}

bool Embedder::take_work() {
  std::vector<Work> arrived;
  inbox_.drain(arrived);
  for (Work& work : arrived) jobs_.push_back(std::move(work));
  if (!jobs_.empty() && jobs_.front().job->cancelled()) free_cells();
  std::erase_if(jobs_, [this](Work& work) {
    if (!work.job->cancelled()) return false;
    end(work, Error{ErrorCode::kCancelled, "the request was cancelled", "", {}});
    return true;
  });
  return !jobs_.empty();
}

bool Embedder::open_context() {
  if (context_ != nullptr) return true;
  Result<std::unique_ptr<ModelContext>> made = support_.make_context();
  if (!made.ok()) {
    log_warning("no context for embeddings", {{"reason", made.error().message}});
    end_front(Error{ErrorCode::kInternal, "there is no room for embeddings", "",
                    std::chrono::seconds(1)});
    return false;
  }
  context_ = std::move(made).value();
  ZH_CHECK(support_.window <= context_->capabilities().slot_cells);
  context_->set_abort([this] { return options_.stopping() || running_->cancelled(); });
  return true;
}

std::size_t Embedder::rows_for(Duration budget, std::size_t computed) const {
  const std::size_t most = support_.batch_rows;
  if (options_.exact) return std::min(rows_min(), most);
  const Duration left = std::max(budget - cost_.predict({}), Duration::zero());
  const auto rows = static_cast<std::uint64_t>(left / cost_.per_row(computed));
  return std::min<std::size_t>(std::max<std::uint64_t>(rows, rows_min()), most);
}

// What a piece takes at least, however little time there is.
std::size_t Embedder::rows_min() const {
  if (whole_inputs() && !jobs_.empty()) {
    const Work& work = jobs_.front();
    return work.request.inputs[work.input].size();
  }
  return options_.exact ? kExactRows : kRowsMin;
}

Duration Embedder::smallest_piece() const {
  const std::size_t before = jobs_.empty() ? 0 : jobs_.front().computed;
  StepSize size;
  size.add(static_cast<std::uint32_t>(rows_min()), before);
  return cost_.predict(size);
}

void Embedder::add_part(const Work& work, Part part) {
  // Successive inputs take successive slots, so a cut input never meets another in its slot.
  part.slot = SlotId(static_cast<std::int32_t>(part.input % context_->capabilities().slots));
  const std::vector<Token>& tokens = work.request.inputs[part.input];
  for (std::size_t i = part.begin; i < part.begin + part.rows; ++i) {
    rows_.push_back(BatchRow{tokens[i], static_cast<std::int32_t>(i), part.slot, false});
    size_.cells_read += i;
  }
  size_.rows += static_cast<std::uint32_t>(part.rows);
  parts_.push_back(part);
}

void Embedder::plan(const Work& work, std::size_t rows_max) {
  parts_.clear();
  rows_.clear();
  size_ = {};
  const auto& inputs = work.request.inputs;
  add_part(work, {work.input,
                  work.computed,
                  std::min(rows_max, inputs[work.input].size() - work.computed),
                  {}});
  const bool finishes = work.computed + parts_[0].rows == inputs[work.input].size();
  if (!finishes || options_.exact) return;
  for (std::size_t i = work.input + 1; i < inputs.size(); ++i) {
    if (parts_.size() == context_->capabilities().slots) return;
    if (rows_.size() + inputs[i].size() > rows_max) return;
    add_part(work, {i, 0, inputs[i].size(), {}});
  }
}

void Embedder::step(Duration budget) {
  ZH_CHECK(!jobs_.empty());
  if (!open_context()) return;
  Work& work = jobs_.front();
  plan(work, rows_for(budget, work.computed));
  running_ = work.job.get();
  const TimePoint begin = options_.clock->now();
  const DecodeStatus status = context_->decode(rows_);
  running_ = nullptr;
  if (status != DecodeStatus::kOk) {
    repeat(work, status);
    return;
  }
  cost_.learn(size_, options_.clock->now() - begin);
  work.retries = 0;
  tokens_computed_ += rows_.size();
  if (!collect(work)) {
    end_front(failure("the model returned no finite embedding"));
  } else if (work.input == work.request.inputs.size()) {
    end_front(std::move(work.result));
  } else if (work.computed == 0 && jobs_.size() > 1) {
    jobs_.push_back(std::move(work));
    jobs_.pop_front();
  }
}

// Pools the rows of a computed piece. False when a vector has no direction.
bool Embedder::collect(Work& work) {
  std::size_t row = 0;
  for (const Part& part : parts_) {
    if (part.begin == 0) pooler_.start();
    for (std::size_t i = 0; i < part.rows; ++i) pooler_.add(context_->embedding(row++));
    work.computed = part.begin + part.rows;
    if (work.computed < work.request.inputs[part.input].size()) return true;
    std::optional<std::vector<float>> vector = pooler_.finish();
    if (!vector) return false;
    work.result.vectors.push_back(std::move(*vector));
    work.result.tokens += static_cast<std::uint32_t>(work.computed);
    work.computed = 0;
    ++work.input;
    context_->remove(part.slot, {0, kEverything});
  }
  return true;
}

// The input that was being computed starts anew: what a failed decode left is not known.
void Embedder::repeat(Work& work, DecodeStatus status) {
  free_cells();
  work.computed = 0;
  if (status == DecodeStatus::kAborted) return;  // the job or the engine is about to end
  if (work.retries++ < kRetriesMax) return;
  end_front(failure("the model failed to compute an embedding"));
}

void Embedder::free_cells() {
  if (context_ == nullptr) return;
  const auto slots = static_cast<std::int32_t>(context_->capabilities().slots);
  for (std::int32_t slot = 0; slot < slots; ++slot) {
    context_->remove(SlotId(slot), {0, kEverything});
  }
}

void Embedder::end(Work& work, Result<Embeddings> result) {
  waiting_.fetch_sub(1);
  work.request.on_done(std::move(result));
}

void Embedder::end_front(Result<Embeddings> result) {
  free_cells();
  Work work = std::move(jobs_.front());
  jobs_.pop_front();
  end(work, std::move(result));
}

void Embedder::fail_all(const Error& error) {
  take_work();
  while (!jobs_.empty()) end_front(error);
}

}  // namespace zerohop
