#include "bare_loop.h"

#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <llama.h>

#include <algorithm>
#include <chrono>

#include "base/check.h"

namespace zerohop::bench {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// A pool of its own, kept between decodes, as the server's context has one. Without it the library
// makes and joins its threads for every forward pass.
ggml_threadpool* make_pool(int threads) {
  ggml_backend_dev_t device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  auto* create = ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(device),
                                                   "ggml_threadpool_new");
  ZH_CHECK(create != nullptr);
  ggml_threadpool_params parameters = ggml_threadpool_params_default(threads);
  return reinterpret_cast<ggml_threadpool* (*)(ggml_threadpool_params*)>(create)(&parameters);
}

}  // namespace

struct BareLoop::Parts {
  llama_model* model = nullptr;
  llama_context* context = nullptr;
  llama_batch batch{};
  int vocabulary = 0;
  int batch_rows = 0;

  void clear() { llama_memory_clear(llama_get_memory(context), true); }

  void add(Token token, int position, int sequence, bool logits) {
    const int i = batch.n_tokens++;
    batch.token[i] = token;
    batch.pos[i] = position;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = sequence;
    batch.logits[i] = logits ? 1 : 0;
  }

  void decode() {
    ZH_CHECK(llama_decode(context, batch) == 0);
    batch.n_tokens = 0;
  }

  Token best(int row) const {
    const float* logits = llama_get_logits_ith(context, row);
    return static_cast<Token>(std::max_element(logits, logits + vocabulary) - logits);
  }

  // Computes `tokens` from position `first` on, a batch at a time. Returns the likeliest next one.
  Token fill(const std::vector<Token>& tokens, int first, int sequence) {
    const auto length = static_cast<int>(tokens.size());
    int row = 0;
    for (int i = first; i < length; ++i) {
      row = batch.n_tokens;
      add(tokens[static_cast<std::size_t>(i)], i, sequence, i + 1 == length);
      if (batch.n_tokens == batch_rows || i + 1 == length) decode();
    }
    return best(row);
  }
};

BareLoop::BareLoop(const std::string& model_path, const ContextOptions& options)
    : parts_(std::make_unique<Parts>()) {
  llama_model_params model_parameters = llama_model_default_params();
  parts_->model = llama_model_load_from_file(model_path.c_str(), model_parameters);
  ZH_CHECK(parts_->model != nullptr);
  parts_->vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(parts_->model));
  llama_context_params parameters = llama_context_default_params();
  parameters.n_ctx = options.cells != 0 ? options.cells : options.sequences * options.window;
  parameters.n_batch = parameters.n_ubatch = options.batch_rows;
  parameters.n_seq_max = options.sequences;
  parameters.n_outputs_max = options.logit_rows;
  parameters.n_threads = parameters.n_threads_batch = static_cast<int>(options.threads);
  parameters.kv_unified = options.layout == KvLayout::kUnified;
  parameters.flash_attn_type = options.flash_attention == FlashAttention::kOff
                                   ? LLAMA_FLASH_ATTN_TYPE_DISABLED
                                   : LLAMA_FLASH_ATTN_TYPE_AUTO;
  parts_->context = llama_init_from_model(parts_->model, parameters);
  ZH_CHECK(parts_->context != nullptr);
  // Never freed: the process ends with the benchmark.
  ggml_threadpool* pool = make_pool(static_cast<int>(options.threads));
  llama_attach_threadpool(parts_->context, pool, pool);
  parts_->batch_rows = static_cast<int>(options.batch_rows);
  parts_->batch = llama_batch_init(parts_->batch_rows, 0, 1);
}

BareLoop::~BareLoop() {
  llama_batch_free(parts_->batch);
  llama_free(parts_->context);
  llama_model_free(parts_->model);
}

double BareLoop::decode_rate(const std::vector<std::vector<Token>>& prompts, int steps) {
  parts_->clear();
  std::vector<Token> next;
  std::vector<int> positions;
  for (std::size_t s = 0; s < prompts.size(); ++s) {
    next.push_back(parts_->fill(prompts[s], 0, static_cast<int>(s)));
    positions.push_back(static_cast<int>(prompts[s].size()));
  }
  const auto begin = std::chrono::steady_clock::now();
  for (int step = 0; step < steps; ++step) {
    for (std::size_t s = 0; s < next.size(); ++s) {
      parts_->add(next[s], positions[s]++, static_cast<int>(s), true);
    }
    parts_->decode();
    for (std::size_t s = 0; s < next.size(); ++s) next[s] = parts_->best(static_cast<int>(s));
  }
  return static_cast<double>(next.size()) * steps / seconds_since(begin);
}

std::vector<double> BareLoop::tail_seconds(const std::vector<Token>& prompt, int rows,
                                           int repetitions) {
  parts_->clear();
  const auto length = static_cast<int>(prompt.size());
  parts_->fill(prompt, 0, 0);
  std::vector<double> seconds;
  for (int i = 0; i < repetitions; ++i) {
    llama_memory_seq_rm(llama_get_memory(parts_->context), 0, length - rows, -1);
    const auto begin = std::chrono::steady_clock::now();
    parts_->fill(prompt, length - rows, 0);
    seconds.push_back(seconds_since(begin));
  }
  return seconds;
}

double BareLoop::replay(const ReplayedPrefill& prefill) {
  parts_->clear();
  std::vector<Token> next;
  std::vector<int> positions;
  for (const std::vector<Token>& stream : prefill.streams) {
    next.push_back(parts_->fill(stream, 0, static_cast<int>(next.size())));
    positions.push_back(static_cast<int>(stream.size()));
  }
  const auto prompt_sequence = static_cast<int>(prefill.streams.size());
  const auto length = static_cast<int>(prefill.prompt.size());
  int done = prefill.cached_tokens;
  if (done > 0) {
    parts_->fill({prefill.prompt.begin(), prefill.prompt.begin() + done}, 0, prompt_sequence);
  }
  const auto begin = std::chrono::steady_clock::now();
  for (const ReplayedStep& step : prefill.steps) {
    for (int s = 0; s < step.decode_rows; ++s) {
      const auto stream = static_cast<std::size_t>(s);
      parts_->add(next[stream], positions[stream]++, s, true);
    }
    for (int i = 0; i < step.prompt_rows; ++i, ++done) {
      parts_->add(prefill.prompt[static_cast<std::size_t>(done)], done, prompt_sequence,
                  done + 1 == length);
    }
    parts_->decode();
    for (int s = 0; s < step.decode_rows; ++s) next[static_cast<std::size_t>(s)] = parts_->best(s);
  }
  return seconds_since(begin);
}

}  // namespace zerohop::bench
