// Counts the tokens of parts of a prompt: up to the client's cache mark, up to the end of system
// prompt and tools, and by who wrote them.
//
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/cache_miss.h"
#include "prompt/conversation_shape.h"
#include "prompt/guarded_tokenizer.h"
#include "prompt/template_renderer.h"

namespace zerohop {

/// The tokens of a prompt by what they are. A token that lies across a border counts for the part
/// in which it begins.
struct PromptBreakdown {
  std::uint32_t system_tokens = 0;
  std::uint32_t tools_tokens = 0;
  std::uint32_t messages_tokens = 0;  ///< contents of turns, calls, results
  std::uint32_t template_tokens = 0;  ///< all else: marks of turns, names of roles
};

/// A prompt and what it was made of; all outlive the calls. `rendered.placed` says where its
/// contents stand; where the template was run, locate_contents() has found them.
struct MeasuredPrompt {
  const GuardedTokenizer& tokenizer;
  const TokenizedText& tokenized;
  const RenderedPrompt& rendered;
  const ShapedConversation& conversation;
};

/// Tokens up to the mark of the conversation; 0 without one. Exact to within the token that lies
/// across the mark; where a template changes contents or writes calls itself, to within the text
/// between two special tokens.
std::size_t marked_tokens(const MeasuredPrompt& prompt);

/// Where system prompt and tools end, to within the token that lies across the border. A few µs: it
/// looks at the tokens of these parts only.
PromptSections sections_of(const MeasuredPrompt& prompt);

/// The parts add up to the number of tokens.
PromptBreakdown break_down(const MeasuredPrompt& prompt);

}  // namespace zerohop
