// What a conversation is made of: content blocks, tools, and how they may be used. Typed,
// validated, free of any dialect. Plain values; any thread.
//
// Whatever has no form of its own for a text model has become text in the parser (api/): search
// results, notes about images inside tool results, blocks of tools that another server ran.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace zerohop {

struct TextBlock {
  std::string text;  ///< valid UTF-8
};

/// What the model thought in an earlier turn, given back by the client.
struct ThinkingBlock {
  std::string text;
};

/// A document. Either its text is known, or `pdf` has to be turned into text before the prompt is
/// rendered.
struct DocumentBlock {
  std::string title;    ///< may be empty
  std::string context;  ///< what the client says about it; may be empty
  std::string text;
  std::string pdf;  ///< the bytes of a PDF file; empty: `text` is the document
};

/// A call that the model made in an earlier turn.
struct ToolUseBlock {
  std::string id;
  std::string name;
  std::string input;  ///< one JSON object, compact, keys in the client's order
};

/// From here on the deferred tool of that name is visible to the model.
struct ToolReferenceBlock {
  std::string tool_name;
};

using ToolResultPart = std::variant<TextBlock, DocumentBlock, ToolReferenceBlock>;

struct ToolResultBlock {
  std::string tool_use_id;
  std::vector<ToolResultPart> content;
  bool is_error = false;
};

/// The kinds of content. A new kind is a new alternative; std::visit finds every place to extend.
using ContentBlock =
    std::variant<TextBlock, ThinkingBlock, DocumentBlock, ToolUseBlock, ToolResultBlock>;

/// What is added to the logits of tokens that go on with a value that the conversation names: they
/// become 12 times as likely against others.
inline constexpr float kLiveBias = 2.5F;

/// A tool that the client runs.
struct ToolDefinition {
  std::string name;          ///< not empty; unique in a request
  std::string description;   ///< may be empty
  std::string input_schema;  ///< one JSON object, compact, keys in the client's order
  bool strict = false;       ///< the client asks that input matches the schema exactly
  bool deferred = false;     ///< not shown before a ToolReferenceBlock names it
  /// Values that the conversation names are made a little likelier in the arguments, never forced.
  bool live_arguments = false;
  float live_bias = kLiveBias;  ///< how much, up to kLiveBiasMax (api/live_arguments.h)
  /// Where the client wrote the schema, for complaints: `tools[2].input_schema`. Empty: the schema
  /// is not the client's.
  std::string field = {};
};

enum class ToolChoiceKind : std::uint8_t {
  kAuto,  ///< the model decides
  kAny,   ///< at least one call of any tool
  kTool,  ///< a call of the tool `name`
  kNone,  ///< no calls; tools are not shown
};

struct ToolChoice {
  ToolChoiceKind kind = ToolChoiceKind::kAuto;
  std::string name;      ///< of kTool; one of the request's tools
  bool parallel = true;  ///< false: at most one call in the answer
  friend bool operator==(const ToolChoice&, const ToolChoice&) = default;
};

enum class ThinkingMode : std::uint8_t {
  kDefault,  ///< the client says nothing: off where the template has a switch
  kEnabled,  ///< before the answer
  kDisabled,
};

/// How the text of the answer must look.
enum class OutputFormat : std::uint8_t {
  kText,
  kJson,        ///< one JSON object
  kJsonSchema,  ///< one JSON value that matches a schema
  kRegex,       ///< a text that an ECMA-262 pattern matches as a whole
  kGrammar,     ///< a text of a grammar (constrain/grammar_syntax.h)
  kChoice,      ///< one of some texts
};

struct OutputRules {
  OutputFormat format = OutputFormat::kText;
  std::string schema;                     ///< of kJsonSchema: one JSON object (or true), compact
  std::string pattern = {};               ///< of kRegex and kGrammar
  std::vector<std::string> choices = {};  ///< of kChoice: at least one, none empty
  /// A schema that cannot be enforced exactly is an error; false: the answer is then one JSON value
  /// and the reply says so.
  bool strict = true;
  /// Where the client wrote the schema, pattern, grammar or list (or the format, where it has none
  /// of them), for complaints: `output_config.format.schema`.
  std::string field = {};
};

}  // namespace zerohop
