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
// and every later prompt of that shape is the cached text with the contents put in. For two short
// messages shaping, splicing and the search for special texts together take 0.7 µs; for a prompt of
// 32 KiB 77 µs, of which 75 are the search, beside 7.9 ms of tokenising.
//
// Trust. The templates that do look at contents must be found out:
//   1. At load time 45 conversations, with contents that templates are known to change, are
//      rendered both ways. Trimming is common (Llama 3, Gemma) and is followed, by role; with
//      anything else (say, cutting "<think>…</think>" out of old answers) the template runs for
//      every prompt.
//   2. Whenever a shape is new, its first conversation is rendered both ways too. Should they
//      differ, the renderer changes to true rendering for good and says so in the log.
//
// In a true rendering the places of the contents are unknown: the template may have changed them.
// Only the special texts inside contents must be known, and those give way to stand-ins while the
// template runs. Then no special text may be left but the template's own: those of the same shape
// rendered with harmless contents. A difference means that the template has made control text out
// of a content (by changing its case, or by putting two together), and the prompt is refused.
#include "prompt/template_renderer.h"

#include <functional>
#include <optional>
#include <utility>

#include "base/log.h"
#include "prompt/stand_in.h"
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

// Stand-ins that occur in no content. The seed is a hash of the contents: a text that holds its own
// has to be searched for, and then the next seed will do.
StandIns unused_stand_ins(const std::vector<TemplateMessage>& messages) {
  std::uint64_t seed = 0;
  for (const TemplateMessage& message : messages) {
    seed = seed * 31 + std::hash<std::string>{}(message.content);
  }
  const auto occurs = [&](const StandIns& stand_ins) {
    for (const TemplateMessage& message : messages) {
      if (stand_ins.occur_in(message.content)) return true;
    }
    return false;
  };
  while (occurs(StandIns(seed))) ++seed;
  return StandIns(seed);
}

// A conversation whose special texts have given way to stand-ins.
struct Protected {
  StandIns stand_ins;
  std::vector<TemplateMessage> messages;
  std::vector<std::size_t> hidden;  // by number of the stand-in: the special text's index
};

Protected protect(const std::vector<TemplateMessage>& messages, const SpecialTextFinder& specials) {
  Protected result{unused_stand_ins(messages), messages, {}};
  for (TemplateMessage& message : result.messages) {
    const std::vector<SpecialOccurrence> found = specials.find(message.content);
    if (found.empty()) continue;
    std::string content;
    std::size_t position = 0;
    for (const SpecialOccurrence& occurrence : found) {
      content.append(message.content, position, occurrence.range.begin - position);
      content.append(result.stand_ins.make(result.hidden.size()));
      result.hidden.push_back(occurrence.index);
      position = occurrence.range.end;
    }
    content.append(message.content, position);
    message.content = std::move(content);
  }
  return result;
}

RenderedPrompt reveal(const std::string& rendered, const Protected& hidden,
                      const SpecialTextFinder& specials) {
  RenderedPrompt prompt;
  std::size_t position = 0;
  while (const std::optional<StandIns::Found> found = hidden.stand_ins.find(rendered, position)) {
    prompt.text.append(rendered, position, found->begin - position);
    position = found->end;
    if (found->index >= hidden.hidden.size()) {  // not one of ours
      prompt.text.append(rendered, found->begin, found->end - found->begin);
      continue;
    }
    const std::string& special = specials.text(hidden.hidden[found->index]);
    prompt.foreign.push_back({prompt.text.size(), prompt.text.size() + special.size()});
    prompt.text.append(special);
  }
  prompt.text.append(rendered, position);
  return prompt;
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

TemplateRenderer::TemplateRenderer(const ChatTemplate& chat_template,
                                   const SpecialTextFinder& specials)
    : template_(chat_template), specials_(specials), traits_(probe_traits(chat_template)) {
  const std::optional<SpliceRules> rules = probe_rules(chat_template, traits_);
  rules_ = rules.value_or(SpliceRules{});
  mode_ = mode_of(rules);
}

Result<RenderedPrompt> TemplateRenderer::render(const ShapedConversation& conversation) const {
  return mode() == SpliceMode::kTrueRender ? render_truly(conversation)
                                           : render_by_splice(conversation);
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

Result<RenderedPrompt> TemplateRenderer::render_by_splice(
    const ShapedConversation& conversation) const {
  const std::string key = shape_key(conversation, rules_);
  SharedShape shape = shapes_.find(key);
  if (shape == nullptr) {
    ZH_ASSIGN_OR_RETURN(const std::string truth,
                        template_.render(conversation.messages, conversation.continue_last));
    ZH_ASSIGN_OR_RETURN(shape, make_shape(conversation, rules_));
    if (splice_contents(*shape, conversation, rules_, nullptr) != truth) {
      mode_.store(SpliceMode::kTrueRender, std::memory_order_relaxed);
      log_warning("chat template changes contents, every prompt is rendered", {{"shape", key}});
      return render_truly(conversation);
    }
    shapes_.insert(key, shape);
  }
  RenderedPrompt prompt;
  prompt.text = splice_contents(*shape, conversation, rules_, &prompt.foreign);
  return prompt;
}

Result<RenderedPrompt> TemplateRenderer::render_truly(
    const ShapedConversation& conversation) const {
  const Protected hidden = protect(conversation.messages, specials_);
  ZH_ASSIGN_OR_RETURN(const std::string rendered,
                      template_.render(hidden.messages, conversation.continue_last));
  RenderedPrompt prompt = reveal(rendered, hidden, specials_);
  const SpliceRules verbatim;
  const std::string key = shape_key(conversation, verbatim);
  SharedShape shape = shapes_.find(key);
  if (shape == nullptr) {
    ZH_ASSIGN_OR_RETURN(shape, make_shape(conversation, verbatim));
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
