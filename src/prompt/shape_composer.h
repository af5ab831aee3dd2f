// Puts the rendering of a conversation's shape together out of pieces, so that a conversation that
// grows by a turn needs no new run of its template.
//
// Most templates write between two contents what only depends on the roles of the two:
//
//   su     "<|im_start|>system\n" [0] "<|im_end|>\n<|im_start|>user\n" [1] "<|im_end|>\n<|im_s…"
//          front→s                    s→u                                  u→end
//
// Twelve short shapes are rendered when the model is loaded and cut at the contents; that longer
// ones are made of the same pieces is checked on six more. A template for which one piece differs
// from place to place is not composed at all.
//
// Immutable after construction; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "model/model.h"
#include "prompt/shape_cache.h"
#include "prompt/splice.h"

namespace zerohop {

class ShapeComposer {
 public:
  /// Learns with the switch for thinking at `thinking`. `rules` are those of splicing.
  ShapeComposer(const ChatTemplate& chat_template, const SpliceRules& rules,
                std::optional<bool> thinking);

  /// The rendering of the shape with these letters (as in shape_key(), without the switch); nothing
  /// when it cannot be composed, as where a content is empty. `specials` of the result is empty.
  std::optional<ShapeRendering> compose(std::string_view letters) const;

  bool knows_anything() const { return knows_anything_; }

 private:
  // Where a piece comes from and leads to.
  enum Place : unsigned char {
    kFront,
    kFirstSystem,  // templates treat a system message at the front in their own way
    kSystem,
    kUser,
    kAssistant,
    kOpenEnd,
    kEnd,
    kPlaces
  };

  static std::optional<Place> place_of(char letter, std::size_t position);
  bool learn(std::string_view pattern, const ShapeRendering& shape);

  std::array<std::array<std::optional<std::string>, kPlaces>, kPlaces> pieces_;
  bool knows_anything_ = false;
};

}  // namespace zerohop
