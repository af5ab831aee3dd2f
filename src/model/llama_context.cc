#include "model/llama_context.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "llama.h"
#include "model/llama_backend.h"
#include "model/llama_context_plan.h"
#include "model/llama_threadpools.h"

namespace zerohop {
namespace {

struct ContextFree {
  void operator()(llama_context* context) const { llama_free(context); }
};

// In front of the library's bytes, so that a wrong blob is refused before the library reads it.
struct StateHeader {
  std::uint32_t magic = 0x7a685331;  // "zhS1"
  std::uint32_t streams = 0;
  PositionRange positions;
  std::uint64_t payload_bytes = 0;
};
static_assert(sizeof(StateHeader) == 24);

class LlamaContext final : public ModelContext {
 public:
  LlamaContext(llama_model* model, const ContextOptions& options);
  ~LlamaContext() override;

  /// False when the library refused; the reason is in its log. Nothing else may be called then.
  bool open(llama_context_params parameters);

  const KvCapabilities& capabilities() const override { return capabilities_; }
  DecodeStatus decode(std::span<const BatchRow> rows) override;
  std::span<float> logits(std::size_t row) override;
  std::span<const float> embedding(std::size_t row) override;
  bool remove(SlotId slot, PositionRange range) override;
  bool copy(SlotId from, SlotId to, PositionRange range) override;
  PositionRange positions(SlotId slot) const override;
  Result<std::vector<std::byte>> save(SlotId slot) const override;
  Result<void> restore(SlotId slot, std::span<const std::byte> state) override;
  void set_threads(std::uint32_t threads) override;
  std::uint32_t threads() const override { return threads_; }
  void set_abort(AbortPredicate predicate) override { abort_ = std::move(predicate); }

 private:
  static bool poll_abort(void* self);
  void check_slot(SlotId slot) const {
    ZH_CHECK(slot.value >= 0 && static_cast<std::uint32_t>(slot.value) < options_.sequences);
  }
  void check_output(std::size_t row) const { ZH_CHECK(row < computed_rows_ && outputs_[row] != 0); }
  void fill_batch(std::span<const BatchRow> rows);
  DecodeStatus run(const llama_batch& batch);
  std::int32_t next_position(SlotId slot);
  bool copy_state(SlotId from, SlotId to);
  void drop(SlotId slot) {
    if (memory_ != nullptr) llama_memory_seq_rm(memory_, slot.value, -1, -1);
  }

  // Constant after open()
  llama_model* const model_;
  const ContextOptions options_;
  const bool recurrent_;       // some layers keep a running state instead of cells
  const std::int32_t window_;  // tokens of the sliding window; 0: none
  const bool starts_late_;     // positions().begin may exceed 0 although the sequence has it all
  KvCapabilities capabilities_;
  std::uint32_t library_rows_max_ = 0;  // n_batch after the library's rounding

  // Owner thread. The pools must outlive the context, which has one of them attached.
  LlamaThreadPools pools_;
  std::unique_ptr<llama_context, ContextFree> context_;
  llama_memory_t memory_ = nullptr;  // stays null for a model that keeps no cells
  std::uint32_t threads_ = 0;
  AbortPredicate abort_;  // called by compute threads during decode(), replaced between decodes
  std::size_t computed_rows_ = 0;  // rows of the last decode whose outputs are valid

  // The arrays of llama_batch, batch_rows long
  std::vector<llama_token> tokens_;
  std::vector<llama_pos> positions_;
  std::vector<llama_seq_id> slots_;
  std::vector<llama_seq_id*> slot_pointers_;
  std::vector<std::int32_t> slot_counts_;
  std::vector<std::int8_t> outputs_;

  // Per slot: the position that the next row must have, valid for the decode of that number
  std::vector<std::int32_t> expected_;
  std::vector<std::uint64_t> expected_in_;
  std::uint64_t decodes_ = 0;

  std::vector<std::uint8_t> staging_;  // of copy_state()
};

LlamaContext::LlamaContext(llama_model* model, const ContextOptions& options)
    : model_(model),
      options_(options),
      recurrent_(llama_model_is_recurrent(model) || llama_model_is_hybrid(model)),
      window_(llama_model_n_swa(model)),
      starts_late_(recurrent_ || window_ > 0) {
  tokens_.resize(options.batch_rows);
  positions_.resize(options.batch_rows);
  slots_.resize(options.batch_rows);
  slot_pointers_.resize(options.batch_rows);
  for (std::size_t i = 0; i < slots_.size(); ++i) slot_pointers_[i] = &slots_[i];
  slot_counts_.assign(options.batch_rows, 1);
  outputs_.resize(options.batch_rows);
  expected_.resize(options.sequences);
  expected_in_.resize(options.sequences);
}

LlamaContext::~LlamaContext() {
  if (context_ != nullptr) llama_detach_threadpool(context_.get());
  context_.reset();
}

bool LlamaContext::open(llama_context_params parameters) {
  parameters.abort_callback = &LlamaContext::poll_abort;
  parameters.abort_callback_data = this;
  context_.reset(llama_init_from_model(model_, parameters));
  if (context_ == nullptr) return false;
  memory_ = llama_get_memory(context_.get());
  if (memory_ == nullptr && !options_.embeddings) return false;
  library_rows_max_ = llama_n_batch(context_.get());
  const bool unified = options_.layout == KvLayout::kUnified;
  const std::uint32_t per_slot = llama_n_ctx_seq(context_.get());
  capabilities_.slots = options_.sequences;
  capabilities_.slot_cells = unified ? std::min(options_.window, per_slot) : per_slot;
  capabilities_.cells = memory_ == nullptr ? 0 : llama_n_ctx(context_.get());
  capabilities_.pooled = unified;
  capabilities_.can_share_range = unified && !recurrent_ && memory_ != nullptr;
  capabilities_.can_cut_tail = !recurrent_ && memory_ != nullptr;
  capabilities_.dense_slots_matter = !unified && options_.sequences > 1;
  set_threads(options_.threads);
  return true;
}

bool LlamaContext::poll_abort(void* self) {
  const AbortPredicate& predicate = static_cast<const LlamaContext*>(self)->abort_;
  return predicate && predicate();
}

// The position that the next row of `slot` must have in the decode being prepared.
std::int32_t LlamaContext::next_position(SlotId slot) {
  const auto index = static_cast<std::size_t>(slot.value);
  if (expected_in_[index] != decodes_) {
    expected_in_[index] = decodes_;
    expected_[index] = positions(slot).end;
  }
  return expected_[index]++;
}

void LlamaContext::fill_batch(std::span<const BatchRow> rows) {
  ++decodes_;
  const int32_t vocabulary =
      static_cast<int32_t>(llama_vocab_n_tokens(llama_model_get_vocab(model_)));
  std::uint32_t logit_rows = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const BatchRow& row = rows[i];
    check_slot(row.slot);
    ZH_CHECK(row.token >= 0 && row.token < vocabulary);
    ZH_CHECK(row.position == next_position(row.slot));
    ZH_CHECK(row.position < static_cast<std::int32_t>(capabilities_.slot_cells));
    tokens_[i] = row.token;
    positions_[i] = row.position;
    slots_[i] = row.slot.value;
    outputs_[i] = row.wants_logits || options_.embeddings ? 1 : 0;
    logit_rows += row.wants_logits ? 1 : 0;
  }
  ZH_CHECK(logit_rows <= options_.logit_rows);
}

DecodeStatus LlamaContext::decode(std::span<const BatchRow> rows) {
  ZH_CHECK(!rows.empty() && rows.size() <= options_.batch_rows);
  computed_rows_ = 0;
  fill_batch(rows);
  // Only where the pool has fewer cells than a batch may have rows.
  if (rows.size() > library_rows_max_) return DecodeStatus::kNoRoom;
  llama_batch batch{};
  batch.n_tokens = static_cast<int32_t>(rows.size());
  batch.token = tokens_.data();
  batch.pos = positions_.data();
  batch.n_seq_id = slot_counts_.data();
  batch.seq_id = slot_pointers_.data();
  batch.logits = outputs_.data();
  const DecodeStatus status = run(batch);
  if (status == DecodeStatus::kOk) computed_rows_ = rows.size();
  return status;
}

DecodeStatus LlamaContext::run(const llama_batch& batch) {
  const LlamaErrorCapture capture;  // an abort, which is our own wish, is logged as three errors
  std::string reason;
  try {
    const int32_t result = llama_decode(context_.get(), batch);
    if (result == 0) {
      llama_synchronize(context_.get());
      return DecodeStatus::kOk;
    }
    if (result == 1) return DecodeStatus::kNoRoom;
    if (result == 2) return DecodeStatus::kAborted;
    reason = capture.reason();
  } catch (const std::exception& exception) {
    reason = exception.what();
  }
  log_warning("decode failed", {{"reason", reason}, {"rows", std::to_string(batch.n_tokens)}});
  return DecodeStatus::kFatal;
}

std::span<float> LlamaContext::logits(std::size_t row) {
  check_output(row);
  float* values = llama_get_logits_ith(context_.get(), static_cast<int32_t>(row));
  ZH_CHECK(values != nullptr);
  return {values, static_cast<std::size_t>(llama_vocab_n_tokens(llama_model_get_vocab(model_)))};
}

std::span<const float> LlamaContext::embedding(std::size_t row) {
  ZH_CHECK(options_.embeddings);
  check_output(row);
  const float* values = llama_get_embeddings_ith(context_.get(), static_cast<int32_t>(row));
  ZH_CHECK(values != nullptr);
  return {values, static_cast<std::size_t>(llama_model_n_embd_out(model_))};
}

PositionRange LlamaContext::positions(SlotId slot) const {
  check_slot(slot);
  if (memory_ == nullptr) return {};
  const llama_pos last = llama_memory_seq_pos_max(memory_, slot.value);
  if (last < 0) return {};
  return {llama_memory_seq_pos_min(memory_, slot.value), last + 1};
}

bool LlamaContext::remove(SlotId slot, PositionRange range) {
  const PositionRange held = positions(slot);
  if (held.empty() || range.empty() || range.begin >= held.end) return true;
  // Where layers differ, some reach back to 0: only a cut at 0 takes everything.
  const bool whole = range.begin <= (starts_late_ ? 0 : held.begin) && range.end >= held.end;
  if (whole) {
    drop(slot);
    return true;
  }
  if (range.end <= held.begin) return !starts_late_;
  if (range.end < held.end || recurrent_) return false;
  if (!window_survives({held.begin, range.begin, window_})) return false;
  return llama_memory_seq_rm(memory_, slot.value, range.begin, -1);
}

bool LlamaContext::copy(SlotId from, SlotId to, PositionRange range) {
  check_slot(to);
  ZH_CHECK(from != to && positions(to).empty());
  const PositionRange held = positions(from);
  range = {std::max(range.begin, held.begin), std::min(range.end, held.end)};
  if (range.empty()) return true;
  const bool whole = range == held;
  if (!whole && !capabilities_.can_share_range) return false;
  if (!whole && !window_survives({held.begin, range.end, window_})) return false;
  if (!capabilities_.pooled) return copy_state(from, to);
  const llama_pos begin = range.begin == held.begin ? -1 : range.begin;
  llama_memory_seq_cp(memory_, from.value, to.value, begin, whole ? -1 : range.end);
  return true;
}

bool LlamaContext::copy_state(SlotId from, SlotId to) {
  staging_.resize(llama_state_seq_get_size(context_.get(), from.value));
  const std::size_t size =
      llama_state_seq_get_data(context_.get(), staging_.data(), staging_.size(), from.value);
  const bool copied =
      size == staging_.size() && size > 0 &&
      llama_state_seq_set_data(context_.get(), staging_.data(), size, to.value) == size;
  if (!copied) drop(to);
  return copied;
}

Result<std::vector<std::byte>> LlamaContext::save(SlotId slot) const {
  StateHeader header;
  header.streams = capabilities_.pooled ? 1 : options_.sequences;
  header.positions = positions(slot);
  std::vector<std::byte> state(sizeof header);
  if (!header.positions.empty()) {
    header.payload_bytes = llama_state_seq_get_size(context_.get(), slot.value);
    state.resize(sizeof header + header.payload_bytes);
    auto* payload = reinterpret_cast<std::uint8_t*>(state.data() + sizeof header);
    const std::size_t size =
        llama_state_seq_get_data(context_.get(), payload, header.payload_bytes, slot.value);
    if (size == 0 || size != header.payload_bytes) {
      return Error{ErrorCode::kInternal, "the model library could not save a sequence", {}, {}};
    }
  }
  std::memcpy(state.data(), &header, sizeof header);
  return state;
}

Result<void> LlamaContext::restore(SlotId slot, std::span<const std::byte> state) {
  check_slot(slot);
  const Error refusal{ErrorCode::kInternal, "a saved sequence does not fit this context", {}, {}};
  StateHeader header;
  const StateHeader known;
  if (state.size() < sizeof header) return refusal;
  std::memcpy(&header, state.data(), sizeof header);
  if (header.magic != known.magic || header.payload_bytes != state.size() - sizeof header ||
      header.streams != (capabilities_.pooled ? 1 : options_.sequences)) {
    return refusal;
  }
  drop(slot);
  if (header.positions.empty()) return {};
  if (memory_ == nullptr) return refusal;
  const auto* payload = reinterpret_cast<const std::uint8_t*>(state.data() + sizeof header);
  const LlamaErrorCapture capture;  // a full pool is no fault
  const std::size_t size =
      llama_state_seq_set_data(context_.get(), payload, header.payload_bytes, slot.value);
  if (size != header.payload_bytes || positions(slot).end != header.positions.end) {
    drop(slot);
    return refusal;
  }
  return {};
}

void LlamaContext::set_threads(std::uint32_t threads) {
  ZH_CHECK(threads >= 1 && threads <= kLlamaThreadsMax);
  if (threads == threads_) return;
  threads_ = threads;
  const auto count = static_cast<int32_t>(threads);
  llama_set_n_threads(context_.get(), count, count);
  ggml_threadpool* pool = pools_.get(threads);
  if (pool == nullptr) {
    llama_detach_threadpool(context_.get());
  } else {
    llama_attach_threadpool(context_.get(), pool, pool);
  }
}

std::uint64_t host_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return 0;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

llama_flash_attn_type flash_attention_type(FlashAttention choice) {
  switch (choice) {
    case FlashAttention::kOn: return LLAMA_FLASH_ATTN_TYPE_ENABLED;
    case FlashAttention::kOff: return LLAMA_FLASH_ATTN_TYPE_DISABLED;
    case FlashAttention::kAuto: break;
  }
  return LLAMA_FLASH_ATTN_TYPE_AUTO;
}

llama_context_params context_parameters(const ContextOptions& options,
                                        const LlamaContextPlan& plan) {
  llama_context_params parameters = llama_context_default_params();
  parameters.n_ctx = plan.cells;
  parameters.n_seq_max = options.sequences;
  // One micro-batch per decode: the abort and the step time then concern the whole batch.
  parameters.n_batch = options.batch_rows;
  parameters.n_ubatch = options.batch_rows;
  parameters.n_outputs_max = plan.logit_rows;  // default model: compute buffer 98 → 21.5 MiB
  parameters.n_threads = static_cast<int32_t>(options.threads);
  parameters.n_threads_batch = static_cast<int32_t>(options.threads);
  parameters.pooling_type = LLAMA_POOLING_TYPE_NONE;
  parameters.flash_attn_type = flash_attention_type(options.flash_attention);
  parameters.type_k = GGML_TYPE_F16;
  parameters.type_v = GGML_TYPE_F16;
  parameters.embeddings = options.embeddings;
  parameters.no_perf = true;
  parameters.swa_full = true;  // else a window forgets what a cut tail would need
  parameters.kv_unified = options.layout == KvLayout::kUnified;
  return parameters;
}

}  // namespace

Result<std::unique_ptr<ModelContext>> make_llama_context(llama_model* model,
                                                         std::uint64_t kv_bytes_per_cell,
                                                         const ContextOptions& options) {
  const LlamaMemory memory{kv_bytes_per_cell, host_memory_bytes()};
  ZH_ASSIGN_OR_RETURN(const LlamaContextPlan plan, plan_llama_context(options, memory));
  const LlamaErrorCapture capture;
  auto context = std::make_unique<LlamaContext>(model, options);
  if (!context->open(context_parameters(options, plan))) {
    const std::string reason = capture.reason();
    return Error{ErrorCode::kConfiguration,
                 "the model library cannot make a context of " + std::to_string(plan.cells) +
                     " KV cells: " + (reason.empty() ? "it has no KV cache" : reason),
                 {},
                 {}};
  }
  return std::unique_ptr<ModelContext>(std::move(context));
}

}  // namespace zerohop
