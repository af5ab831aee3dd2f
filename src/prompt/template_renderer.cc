// Problem. A chat template is a Jinja program. Running it costs 0.16 ms for two short messages
// (1.6 ms where libllama analyses the template on every run) and 6 ms for a hundred, as much as
// tokenising them.
//
// Observation. What most templates do depends on the shape of a conversation (which roles in which
// order, which contents are empty, whether the last turn stays open), not on the contents, which
// they copy. So a shape is rendered once, with a stand-in for each content:
//
//   su     "<|im_start|>system\n" [0] "<|im_end|>\n<|im_start|>user\n" [1] "<|im_end|>\n<|im_st…"
//
// and every later prompt of that shape is the cached text with the contents put in. The whole
// prompt stage, tokens of known turns included, takes 28 µs for a conversation of 40 turns and
// 6,000 tokens.
//
// Trust. The templates that do look at contents must be found out:
//   1. At load time 45 conversations, with contents that templates are known to change, are
//      rendered both ways. Trimming is common (Llama 3, Gemma) and is followed, by role; with
//      anything else the template runs for every prompt.
//   2. Whenever a shape is new, its first conversation is rendered both ways too. Should they
//      differ, the renderer changes to true rendering for good and says so in the log. A shape that
//      can be composed (shape_composer.h) counts as new when it has twice the messages of any that
//      was rendered, so a conversation of 40 turns meets the template six times, not forty.
//   3. Where only marks of thoughts and results are read (Qwen 3), contents that hold such a mark
//      are rendered truly and all others spliced.
//
// What templates make of tools, calls and thoughts is not spliced: such conversations are rendered
// truly, twice when their shape is new.
//
// In a true rendering the places of the contents are unknown: the template may have changed them.
// Only the special texts inside contents must be known, and those give way to stand-ins while the
// template runs. Then no special text may be left but the template's own: those of the same shape
// rendered with harmless contents. A difference means that the template has made control text out
// of a content (by changing its case, or by putting two together), and the prompt is refused.
#include "prompt/template_renderer.h"

#include <optional>
#include <utility>

#include "base/log.h"
#include "prompt/special_guard.h"
#include "prompt/template_probe.h"

namespace zerohop {
namespace {

SpliceMode mode_of(const std::optional<SpliceRules>& rules) {
  if (!rules) return SpliceMode::kTrueRender;
  const bool trims =
      rules->system == ContentRule::kTrimmed || rules->user == ContentRule::kTrimmed ||
      rules->assistant == ContentRule::kTrimmed || rules->open_turn == ContentRule::kTrimmed;
  return trims ? SpliceMode::kTrimmed : SpliceMode::kVerbatim;
}

std::vector<std::size_t> indexes_of(const std::vector<SpecialOccurrence>& occurrences) {
  std::vector<std::size_t> indexes;
  indexes.reserve(occurrences.size());
  for (const SpecialOccurrence& occurrence : occurrences) indexes.push_back(occurrence.index);
  return indexes;
}

}  // namespace

std::string_view splice_mode_name(SpliceMode mode) {
  switch (mode) {
    case SpliceMode::kVerbatim: return "verbatim";
    case SpliceMode::kTrimmed: return "trimmed";
    case SpliceMode::kTrueRender: return "true_render";
  }
  return "unknown";
}

std::vector<PlacedContent> locate_contents(std::string_view text,
                                           const ShapedConversation& conversation) {
  std::vector<PlacedContent> placed;
  std::size_t position = 0;
  for (std::size_t i = 0; i < conversation.messages.size(); ++i) {
    const std::string_view whole = conversation.messages[i].content;
    const std::string_view content = trim_space(whole);
    if (content.empty()) continue;
    const std::size_t found = text.find(content, position);
    if (found == std::string_view::npos) continue;
    position = found + content.size();
    placed.push_back(
        {i, {found, position}, static_cast<std::size_t>(content.data() - whole.data())});
  }
  return placed;
}

TemplateRenderer::TemplateRenderer(const ChatTemplate& chat_template,
                                   const SpecialTextFinder& specials)
    : template_(chat_template),
      specials_(specials),
      traits_(probe_traits(chat_template, specials)) {
  const std::optional<SpliceRules> rules = probe_rules(chat_template, traits_);
  rules_ = rules.value_or(SpliceRules{});
  mode_ = mode_of(rules);
  if (traits_.thinking_switch) {
    composers_.emplace_back(chat_template, rules_, false);
    composers_.emplace_back(chat_template, rules_, true);
  } else {
    composers_.emplace_back(chat_template, rules_, std::nullopt);
  }
}

Result<RenderedPrompt> TemplateRenderer::render(const ShapedConversation& conversation) const {
  return splices(conversation) ? render_by_splice(conversation) : render_truly(conversation);
}

std::optional<RenderedPrompt> TemplateRenderer::recall(
    const ShapedConversation& conversation) const {
  if (!splices(conversation)) return std::nullopt;
  return recall(conversation, shape_key(conversation, rules_));
}

bool TemplateRenderer::splices(const ShapedConversation& conversation) const {
  return mode() != SpliceMode::kTrueRender && can_be_spliced(conversation, rules_);
}

Result<TemplateRenderer::SharedShape> TemplateRenderer::make_shape(
    const ShapedConversation& conversation, const SpliceRules& rules) const {
  ZH_ASSIGN_OR_RETURN(ShapeRendering shape, render_shape(template_, conversation, rules));
  std::vector<ByteRange> places;  // empty, but they part what the contents part
  for (const ShapeRendering::Insertion& insertion : shape.insertions) {
    places.push_back({insertion.offset, insertion.offset});
  }
  shape.specials = indexes_of(specials_.find_between(shape.text, places));
  return SharedShape(std::make_shared<const ShapeRendering>(std::move(shape)));
}

std::optional<ShapeRendering> TemplateRenderer::composed_shape(
    const ShapedConversation& conversation, const std::string& key) const {
  std::string_view letters = key;
  if (conversation.thinking) letters.remove_suffix(1);
  const bool second = composers_.size() > 1 && conversation.thinking.value_or(false);
  return composers_[second ? 1 : 0].compose(letters);
}

RenderedPrompt TemplateRenderer::splice(const ShapedConversation& conversation,
                                        const ShapeRendering& shape) const {
  RenderedPrompt prompt;
  prompt.text = splice_contents(shape, conversation, rules_, &prompt.placed);
  prompt.foreign.reserve(prompt.placed.size());
  for (const PlacedContent& content : prompt.placed) prompt.foreign.push_back(content.range);
  return prompt;
}

std::optional<RenderedPrompt> TemplateRenderer::recall(const ShapedConversation& conversation,
                                                       const std::string& key) const {
  if (conversation.messages.size() <= trusted_messages_.load(std::memory_order_relaxed)) {
    if (const std::optional<ShapeRendering> composed = composed_shape(conversation, key)) {
      return splice(conversation, *composed);
    }
  }
  const SharedShape shape = shapes_.find(key);
  if (shape == nullptr) return std::nullopt;
  return splice(conversation, *shape);
}

Result<RenderedPrompt> TemplateRenderer::render_by_splice(
    const ShapedConversation& conversation) const {
  const std::string key = shape_key(conversation, rules_);
  if (std::optional<RenderedPrompt> known = recall(conversation, key)) return *std::move(known);
  ZH_ASSIGN_OR_RETURN(const std::string truth, template_.render(conversation.input()));
  ZH_ASSIGN_OR_RETURN(const SharedShape shape, make_shape(conversation, rules_));
  if (splice_contents(*shape, conversation, rules_, nullptr) != truth) {
    mode_.store(SpliceMode::kTrueRender, std::memory_order_relaxed);
    log_warning("chat template changes contents, every prompt is rendered", {{"shape", key}});
    return render_truly(conversation);
  }
  shapes_.insert(key, shape);
  trust(conversation, key, *shape);
  return splice(conversation, *shape);
}

// A composed shape that is what the template gives vouches for those up to twice as long.
void TemplateRenderer::trust(const ShapedConversation& conversation, const std::string& key,
                             const ShapeRendering& truth) const {
  const std::size_t size = conversation.messages.size();
  std::size_t trusted = trusted_messages_.load(std::memory_order_relaxed);
  if (size <= trusted) return;
  const std::optional<ShapeRendering> composed = composed_shape(conversation, key);
  if (!composed || composed->text != truth.text) return;
  while (trusted < 2 * size &&
         !trusted_messages_.compare_exchange_weak(trusted, 2 * size, std::memory_order_relaxed)) {
  }
}

Result<RenderedPrompt> TemplateRenderer::render_truly(
    const ShapedConversation& conversation) const {
  const GuardedConversation guarded = hide_specials(conversation, specials_);
  ZH_ASSIGN_OR_RETURN(const std::string rendered, template_.render(guarded.conversation.input()));
  RevealedText revealed = reveal_specials(rendered, guarded, specials_);
  RenderedPrompt prompt{std::move(revealed.text), std::move(revealed.foreign), {}};
  const SpliceRules verbatim;
  const std::string key = shape_key(guarded.conversation, verbatim);
  SharedShape shape = shapes_.find(key);
  if (shape == nullptr) {
    ZH_ASSIGN_OR_RETURN(shape, make_shape(guarded.conversation, verbatim));
    shapes_.insert(key, shape);
  }
  if (indexes_of(specials_.find_between(prompt.text, prompt.foreign)) != shape->specials) {
    return invalid_request("messages",
                           "the model's chat template would turn a part of this text into control "
                           "tokens");
  }
  return prompt;
}

}  // namespace zerohop
