// The model as the rest of the server sees it: four small interfaces with two implementations,
// libllama (llama_model.h) and a deterministic fake (fake_model.h). Nothing above this folder knows
// which one it has.
//
//   Model          weights, immutable after loading; makes contexts. Any thread.
//   Tokenizer      text ↔ tokens, the table of token bytes. Immutable, any thread.
//   ChatTemplate   messages → prompt text. Immutable, any thread.
//   ModelContext   KV cells and the decode call. One owner thread (the engine).
//
// Source of the semantics: llama.h of libllama 0.5.0.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/kv_capabilities.h"
#include "core/request.h"
#include "core/token.h"
#include "core/token_table.h"

namespace zerohop {

/// Whether the names of special tokens inside a text (such as "<|im_end|>") become those tokens.
enum class SpecialTokens : std::uint8_t {
  kParse,  ///< for template text, which we wrote
  kInert,  ///< for user text: the characters stay characters
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// `text` as tokens, without a beginning-of-sequence token (see begin_of_sequence()). Any bytes
  /// are accepted. Cost with libllama: about 305 µs per kB of English.
  virtual std::vector<Token> tokenize(std::string_view text, SpecialTokens special) const = 0;

  /// The bytes of `tokens` in a row; control tokens give nothing. May be half a character.
  std::string detokenize(TokenSpan tokens) const {
    std::string text;
    for (const Token token : tokens) text.append(table().bytes(token));
    return text;
  }

  virtual const TokenTable& table() const = 0;

  /// The token that must stand in front of every prompt, if the vocabulary wants one.
  virtual std::optional<Token> begin_of_sequence() const = 0;

  /// The token that must stand behind a text that becomes a vector, if the vocabulary wants one.
  virtual std::optional<Token> end_of_sequence() const { return std::nullopt; }

  /// The texts that tokenize(…, kParse) turns into special tokens. Longest first.
  virtual const std::vector<std::string>& special_texts() const = 0;
};

/// A call of a tool in an assistant turn.
struct TemplateToolCall {
  std::string id;
  std::string name;
  std::string arguments;  ///< one JSON object
};

/// One message for a template. A template shows of it what it knows.
struct TemplateMessage {
  std::string role;                               ///< "system", "user", "assistant" or "tool"
  std::string content = {};                       ///< the whole text
  std::string reasoning = {};                     ///< what an assistant thought before its content
  std::vector<TemplateToolCall> tool_calls = {};  ///< of an assistant, behind its content
  std::string tool_call_id = {};                  ///< of a "tool" message: the call it answers
  std::string tool_name = {};                     ///< of a "tool" message
};

/// A tool that the model may call.
struct TemplateTool {
  std::string name;
  std::string description;
  std::string parameters;  ///< a JSON schema: one JSON object
};

/// What a template renders.
struct TemplateInput {
  std::span<const TemplateMessage> messages = {};
  std::span<const TemplateTool> tools = {};
  /// The last message is an assistant turn that stays open: the prompt ends inside it.
  bool continue_last = false;
  /// The template's switch for thinking; nothing leaves it to the template.
  std::optional<bool> thinking = {};
};

/// The texts around what a model thinks, such as "<think>" and "</think>".
struct TemplateThinkingTags {
  std::string open;
  std::string close;
};

class ChatTemplate {
 public:
  virtual ~ChatTemplate() = default;

  /// The prompt text for `input`, ending where the assistant's answer begins or goes on. Errors:
  /// kInvalidRequest when the template refuses the conversation (say, two user turns in a row);
  /// kInternal when it fails. Cost with libllama's Jinja: about 1.6 ms for two short messages.
  virtual Result<std::string> render(const TemplateInput& input) const = 0;

  /// False for a base model that ships no template: render() then uses a plain built-in one.
  virtual bool from_model() const = 0;

  /// What the library knows of the template's thinking; nothing when it knows of none.
  virtual std::optional<TemplateThinkingTags> thinking_tags() const { return std::nullopt; }
};

/// How the model's makers turn the final hidden states of a text into one vector.
enum class PoolingType : std::uint8_t {
  kUnspecified,  ///< a model for text, not for vectors
  kMean,         ///< the mean over all tokens
  kFirst,        ///< the first token's ("CLS")
  kLast,         ///< the last token's
  kRank,         ///< a model that ranks pairs of texts: it gives no vectors
};

/// Which tokens of its text a token looks at.
enum class AttentionType : std::uint8_t {
  kCausal,     ///< those before it: a text may be computed in pieces, and be continued
  kWholeText,  ///< all of them: a text has to be computed in one decode(); vectors only
};

struct ModelInfo {
  std::string name;         ///< as the operator named it, e.g. "smollm2-135m"
  std::string description;  ///< architecture, size, type: "llama 135M Q4_1"
  std::string architecture;
  std::uint64_t parameters = 0;
  std::uint64_t file_bytes = 0;
  std::uint32_t vocabulary = 0;
  std::uint32_t embedding = 0;  ///< width of a hidden state
  PoolingType pooling = PoolingType::kUnspecified;
  AttentionType attention = AttentionType::kCausal;
  std::uint32_t context_trained = 0;  ///< tokens
  std::uint64_t kv_bytes_per_cell = 0;
  /// Each sequence id has memory of its own, used or not (models with a running state).
  bool ids_hold_memory = false;
};

enum class KvLayout : std::uint8_t {
  kUnified,  ///< one pool of cells; sequences may share ranges
  kStreams,  ///< one stream per sequence; faster attention, whole copies only
};

enum class FlashAttention : std::uint8_t { kAuto, kOn, kOff };

/// What compute threads do between two decodes.
enum class IdleThreads : std::uint8_t {
  kSpin,   ///< look out for the next one for some 0.2 s, then sleep
  kSleep,  ///< sleep at once: for contexts that take turns on the same cores
};

struct ContextOptions {
  std::uint32_t sequences = 8;  ///< computed at once
  /// Sequence ids beyond those, to hold cells that nobody computes with; unified layout only.
  std::uint32_t parked = 0;
  std::uint32_t window = 8192;     ///< cells that one sequence may use
  std::uint32_t cells = 0;         ///< of the whole pool when unified; 0: sequences × window
  std::uint32_t batch_rows = 512;  ///< most rows of one decode()
  std::uint32_t logit_rows = 256;  ///< most rows of one decode() with wants_logits
  std::uint32_t threads = 1;
  KvLayout layout = KvLayout::kUnified;
  FlashAttention flash_attention = FlashAttention::kAuto;
  bool embeddings = false;  ///< hidden states too; every row then costs an output
  /// Sliding windows: keep all cells of the layers that look only at a window, so that tails can be
  /// cut and heads shared. Without it they keep the window's, in less memory.
  bool full_window_cache = true;
  IdleThreads idle_threads = IdleThreads::kSpin;
};

/// One token to compute.
struct BatchRow {
  Token token = 0;
  std::int32_t position = 0;  ///< rows of a slot come in ascending positions, without gaps
  SlotId slot;
  bool wants_logits = false;
};

enum class DecodeStatus : std::uint8_t {
  kOk,
  kNoRoom,   ///< no cells left; nothing changed
  kAborted,  ///< the abort signal was raised; a part of the rows may hold cells: remove them
  kFatal,    ///< the library failed; the state of the batch's sequences is unknown
};

/// What attention over a pool reads and what of it is worth reading, in cells.
struct CellScan {
  std::uint32_t scanned = 0;
  std::uint32_t used = 0;  ///< each shared cell once
};

/// Polled by the compute threads while a decode runs; must be cheap and thread-safe.
using AbortPredicate = std::function<bool()>;

class ModelContext {
 public:
  virtual ~ModelContext() = default;

  virtual const KvCapabilities& capabilities() const = 0;

  /// Computes `rows` (1 ≤ size ≤ batch_rows) in one forward pass. With AttentionType::kWholeText
  /// they must be whole texts, each in an empty slot.
  virtual DecodeStatus decode(std::span<const BatchRow> rows) = 0;

  /// Logits of row `row` of the last successful decode, which must have asked for them: one float
  /// per vocabulary entry. Valid until the next decode(). The caller may overwrite them.
  virtual std::span<float> logits(std::size_t row) = 0;

  /// Final-norm hidden state of a row; needs ContextOptions::embeddings. Valid like logits().
  virtual std::span<const float> embedding(std::size_t row) = 0;

  /// Frees the cells of `range`; end may exceed what is there. False when the layout cannot cut
  /// there (nothing changed): drop the whole sequence instead.
  virtual bool remove(SlotId slot, PositionRange range) = 0;

  /// Makes `to` (empty) hold `range` of `from`. Cells are shared where the layout can; otherwise
  /// the range must be the whole sequence. False when the layout cannot do it.
  virtual bool copy(SlotId from, SlotId to, PositionRange range) = 0;

  /// Positions held by `slot`; empty when none. For sliding windows `begin` may exceed 0.
  virtual PositionRange positions(SlotId slot) const = 0;

  /// A copy of the sequence's state, to be given to restore() of the same context. Errors:
  /// kInternal.
  virtual Result<std::vector<std::byte>> save(SlotId slot) const = 0;
  /// Replaces the sequence by a saved one. Errors: kInternal when the bytes do not fit this
  /// context.
  virtual Result<void> restore(SlotId slot, std::span<const std::byte> state) = 0;

  /// The state of `range`, which the slot holds. Without KvCapabilities::can_save_range it must be
  /// everything that the slot holds. Errors: kInternal.
  virtual Result<std::vector<std::byte>> save_range(SlotId slot, PositionRange range) = 0;
  /// `slot` holds [0, range.begin), and after this [0, range.end). `state` is what save_range()
  /// gave for a range that contains `range`, perhaps made smaller by compress(). Until the call
  /// returns it may take as many cells as were saved. Errors: kInternal when the bytes do not fit
  /// this context, or it has no room; the slot then holds [0, range.begin), or nothing.
  virtual Result<void> restore_range(SlotId slot, PositionRange range,
                                     std::span<const std::byte> state) = 0;
  /// A saved state in about half the bytes: eight bits a number and a scale for each 32. Empty when
  /// it cannot be made smaller. Restoring it gives the cells back with that precision.
  virtual std::vector<std::byte> compress(std::span<const std::byte> state) const = 0;

  /// Which states fit: the same for two contexts exactly when what save() and save_range() of one
  /// gave may be given to the other, also after a restart (another file, type of weights or layout
  /// gives another number).
  virtual std::uint64_t state_fingerprint() const = 0;

  /// Makes the empty `slot` hold `cells` positions that mean nothing, without computing them: for
  /// measuring what attention over so many costs. Errors: kInternal when there is no room, or the
  /// model keeps no cell for each token.
  virtual Result<void> fill(SlotId slot, std::int32_t cells) = 0;

  /// Cells that attention looks over in a decode of everything that is held now, and those of them
  /// that hold something, as of the last call on this context. Zeros where cells are not pooled.
  virtual CellScan scan() const = 0;

  /// The highest cell in use: what is held there keeps scan() as large as it is. Nothing where
  /// cells are not pooled, none is in use, or several slots share that one. Looks at every cell.
  virtual std::optional<TopCell> top_cell() const { return std::nullopt; }

  /// Compute threads from the next decode on. Pools are made once per count and kept.
  virtual void set_threads(std::uint32_t threads) = 0;
  virtual std::uint32_t threads() const = 0;

  /// Polled during decode(); empty to disable. Takes effect from the next decode on.
  virtual void set_abort(AbortPredicate predicate) = 0;
};

class Model {
 public:
  virtual ~Model() = default;
  virtual const ModelInfo& info() const = 0;
  virtual const Tokenizer& tokenizer() const = 0;
  virtual const ChatTemplate& chat_template() const = 0;

  /// The model must outlive its contexts. Errors: kConfiguration (does not fit memory or limits).
  virtual Result<std::unique_ptr<ModelContext>> make_context(
      const ContextOptions& options) const = 0;
};

}  // namespace zerohop
