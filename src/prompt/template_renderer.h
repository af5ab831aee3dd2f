// Renders conversations through a chat template, quickly where the template allows it.
//
// Any thread. The template must outlive it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "model/model.h"
#include "prompt/conversation_shape.h"
#include "prompt/shape_cache.h"
#include "prompt/shape_composer.h"
#include "prompt/special_text.h"
#include "prompt/splice.h"

namespace zerohop {

/// How prompts are rendered.
enum class SpliceMode : std::uint8_t {
  kVerbatim,    ///< contents are spliced into the cached rendering of their shape as they are
  kTrimmed,     ///< the same, without the white space around contents of some roles
  kTrueRender,  ///< the template does something else to contents: it runs for every prompt
};

std::string_view splice_mode_name(SpliceMode mode);

/// A prompt's text and who wrote what of it.
struct RenderedPrompt {
  std::string text;
  /// What came from the conversation: ascending, disjoint, none empty. Renderings by splice name
  /// every content; true renderings only the special texts inside contents (where the rest of a
  /// content is, cannot be known), after making sure that no other special text is foreign.
  std::vector<ByteRange> foreign;
  /// The contents that are known to stand in the text, by their places: all of them in a rendering
  /// by splice. In a true rendering none; locate_contents() looks for them.
  std::vector<PlacedContent> placed;
};

/// Looks for the contents of `conversation` in `text`, one behind the other; those that are not
/// there are left out.
std::vector<PlacedContent> locate_contents(std::string_view text,
                                           const ShapedConversation& conversation);

class TemplateRenderer {
 public:
  /// Tries the template out on some hundred conversations: 60 ms for the default model. `specials`,
  /// which must outlive the renderer, finds the texts that must not pass from contents into control
  /// tokens.
  TemplateRenderer(const ChatTemplate& chat_template, const SpecialTextFinder& specials);

  /// Errors: those of ChatTemplate::render, and kInvalidRequest when a content-changing template
  /// makes special texts out of contents.
  Result<RenderedPrompt> render(const ShapedConversation& conversation) const;
  /// The same without a run of the template; nothing where it takes one.
  std::optional<RenderedPrompt> recall(const ShapedConversation& conversation) const;

  const TemplateTraits& traits() const { return traits_; }
  SpliceMode mode() const { return mode_.load(std::memory_order_relaxed); }
  /// Whether a conversation that grows by a turn needs no run of the template.
  bool composes() const { return composers_.front().knows_anything(); }

 private:
  using SharedShape = std::shared_ptr<const ShapeRendering>;

  bool splices(const ShapedConversation& conversation) const;
  Result<RenderedPrompt> render_by_splice(const ShapedConversation& conversation) const;
  std::optional<RenderedPrompt> recall(const ShapedConversation& conversation,
                                       const std::string& key) const;
  RenderedPrompt splice(const ShapedConversation& conversation, const ShapeRendering& shape) const;
  Result<RenderedPrompt> render_truly(const ShapedConversation& conversation) const;
  Result<SharedShape> make_shape(const ShapedConversation& conversation,
                                 const SpliceRules& rules) const;
  std::optional<ShapeRendering> composed_shape(const ShapedConversation& conversation,
                                               const std::string& key) const;
  void trust(const ShapedConversation& conversation, const std::string& key,
             const ShapeRendering& truth) const;

  const ChatTemplate& template_;
  const SpecialTextFinder& specials_;
  TemplateTraits traits_;
  SpliceRules rules_;
  std::vector<ShapeComposer> composers_;  // for thinking left alone or off, and for thinking on
  mutable ShapeCache shapes_{ShapeCache::Limits{}};
  mutable std::atomic<SpliceMode> mode_;                  // only ever changes to kTrueRender
  mutable std::atomic<std::size_t> trusted_messages_{0};  // composed shapes up to here are trusted
};

}  // namespace zerohop
