#include "model/llama_context.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "base/log.h"
#include "model/llama_backend.h"
#include "model/llama_context_impl.h"
#include "model/llama_file.h"
#include "model/saved_state.h"

namespace zerohop {
namespace {

constexpr ggml_type kKeyType = GGML_TYPE_F16;
constexpr ggml_type kValueType = GGML_TYPE_F16;
constexpr std::uint64_t kCellMetaBytes = 12;  // of a cell in a saved state, before keys and values

}  // namespace

LlamaContext::LlamaContext(const LlamaContextModel& model, const ContextOptions& options,
                           const LlamaContextPlan& plan)
    : model_(model.model),
      options_(options),
      plan_(plan),
      recurrent_(has_running_state(model.model)),
      kv_bytes_per_cell_(model.kv_bytes_per_cell),
      window_(llama_model_n_swa(model.model)),
      starts_late_(recurrent_ || window_ > 0),
      forgets_(window_ > 0 && !options.full_window_cache),
      pools_(options.idle_threads) {
  tokens_.resize(options.batch_rows);
  positions_.resize(options.batch_rows);
  slots_.resize(options.batch_rows);
  slot_pointers_.resize(options.batch_rows);
  for (std::size_t i = 0; i < slots_.size(); ++i) slot_pointers_[i] = &slots_[i];
  slot_counts_.assign(options.batch_rows, 1);
  outputs_.resize(options.batch_rows);
  expected_.resize(plan.slots);
  expected_in_.resize(plan.slots);
  set_fingerprint(model.fingerprint);
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
  set_capabilities();
  mirrored_ = capabilities_.pooled && memory_ != nullptr && !recurrent_;
  if (mirrored_) mirror_ = CellMirror(capabilities_.cells, plan_.slots);
  set_threads(options_.threads);
  return true;
}

void LlamaContext::set_capabilities() {
  const bool unified = options_.layout == KvLayout::kUnified;
  const bool has_cells = memory_ != nullptr;
  const std::uint32_t per_slot = llama_n_ctx_seq(context_.get());
  capabilities_.slots = plan_.slots;
  capabilities_.sequences = options_.sequences;
  capabilities_.slot_cells = unified ? std::min(options_.window, per_slot) : per_slot;
  capabilities_.cells = has_cells ? llama_n_ctx(context_.get()) : 0;
  capabilities_.pooled = unified;
  const bool cuts = has_cells && !recurrent_ && !forgets_;
  capabilities_.can_share_range = unified && cuts;
  capabilities_.can_cut_tail = cuts;
  capabilities_.can_copy_whole = has_cells;
  // A range saved in a window's layers lacks what the window had left behind: only whole sequences.
  capabilities_.can_save_range = cuts && window_ == 0 && plan_.spare.has_value();
  capabilities_.bytes_per_cell = kv_bytes_per_cell_ == 0 ? 0 : kv_bytes_per_cell_ + kCellMetaBytes;
  capabilities_.dense_slots_matter = !unified && options_.sequences > 1;
}

void LlamaContext::set_fingerprint(std::uint64_t of_model) {
  const std::uint64_t parts[]{
      of_model,
      LLAMA_STATE_SEQ_VERSION,
      options_.layout == KvLayout::kUnified ? 1u : options_.sequences,
      options_.flash_attention == FlashAttention::kOff ? 1u : 0u,
      options_.full_window_cache ? 1u : 0u,
      static_cast<std::uint64_t>(kKeyType),
      static_cast<std::uint64_t>(kValueType),
  };
  fingerprint_ = checksum(std::as_bytes(std::span(parts)), 0);
}

llama_seq_id LlamaContext::id_of(SlotId slot) const {
  const bool behind_spare = plan_.spare && slot.value >= *plan_.spare;
  return slot.value + (behind_spare ? 1 : 0);
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
    slots_[i] = id_of(row.slot);
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
  if (mirrored_ && status != DecodeStatus::kNoRoom) follow(rows, status);
  return status;
}

// Keeps the mirror in step. Of a batch that was not completed the library has removed some rows,
// mostly all of them; what is left of each slot, it says itself.
void LlamaContext::follow(std::span<const BatchRow> rows, DecodeStatus status) {
  const bool placed = mirror_.append(rows);
  if (status == DecodeStatus::kOk) {
    ZH_DCHECK(placed);
    return;
  }
  for (const BatchRow& row : rows) mirror_.cut(row.slot, positions(row.slot).end);
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

namespace {

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
  parameters.n_seq_max = plan.library_sequences;
  // One micro-batch per decode: the abort and the step time then concern the whole batch.
  parameters.n_batch = options.batch_rows;
  parameters.n_ubatch = options.batch_rows;
  parameters.n_outputs_max = plan.logit_rows;  // default model: compute buffer 98 → 21.5 MiB
  parameters.n_threads = static_cast<int32_t>(options.threads);
  parameters.n_threads_batch = static_cast<int32_t>(options.threads);
  parameters.pooling_type = LLAMA_POOLING_TYPE_NONE;
  parameters.flash_attn_type = flash_attention_type(options.flash_attention);
  parameters.type_k = kKeyType;
  parameters.type_v = kValueType;
  parameters.embeddings = options.embeddings;
  parameters.no_perf = true;
  parameters.swa_full = options.full_window_cache;
  parameters.kv_unified = options.layout == KvLayout::kUnified;
  return parameters;
}

}  // namespace

Result<std::unique_ptr<ModelContext>> make_llama_context(const LlamaContextModel& model,
                                                         const ContextOptions& options) {
  LlamaMemory memory;
  memory.kv_bytes_per_cell = model.cells_on_host ? model.kv_bytes_per_cell : 0;
  memory.bytes_total = host_memory_bytes();
  memory.ids_hold_memory = has_running_state(model.model) ||
                           (llama_model_n_swa(model.model) > 0 && !options.full_window_cache);
  ZH_ASSIGN_OR_RETURN(const LlamaContextPlan plan, plan_llama_context(options, memory));
  const LlamaErrorCapture capture;
  auto context = std::make_unique<LlamaContext>(model, options, plan);
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
