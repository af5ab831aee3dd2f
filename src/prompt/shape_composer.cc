#include "prompt/shape_composer.h"

#include <utility>

namespace zerohop {
namespace {

constexpr std::array<std::string_view, 12> kLessons{
    "u", "su", "uau", "suau", "ua+", "sua+", "uaua+", "suaua+", "sus", "suas", "susau", "suasu"};
constexpr std::array<std::string_view, 6> kTests{"uauauauauau", "suauauauauau", "suauauaua+",
                                                 "uauauauaua+", "suausauasuau", "suasauausau"};

ShapedConversation conversation_of(std::string_view pattern, std::optional<bool> thinking) {
  ShapedConversation conversation;
  conversation.thinking = thinking;
  for (const char letter : pattern) {
    if (letter == '+') {
      conversation.continue_last = true;
      break;
    }
    const char* role = letter == 's' ? "system" : letter == 'u' ? "user" : "assistant";
    conversation.messages.push_back({role, "text"});
  }
  return conversation;
}

}  // namespace

std::optional<ShapeComposer::Place> ShapeComposer::place_of(char letter, std::size_t position) {
  switch (letter) {
    case 's': return position == 0 ? kFirstSystem : kSystem;
    case 'u': return kUser;
    case 'a': return kAssistant;
    default: return std::nullopt;
  }
}

ShapeComposer::ShapeComposer(const ChatTemplate& chat_template, const SpliceRules& rules,
                             std::optional<bool> thinking) {
  for (const std::string_view pattern : kLessons) {
    const Result<ShapeRendering> shape =
        render_shape(chat_template, conversation_of(pattern, thinking), rules);
    if (shape.ok() && !learn(pattern, *shape)) return;  // knows nothing
  }
  bool tested = false;
  for (const std::string_view pattern : kTests) {
    const Result<ShapeRendering> truth =
        render_shape(chat_template, conversation_of(pattern, thinking), rules);
    if (!truth.ok()) continue;
    knows_anything_ = true;
    const std::optional<ShapeRendering> composed = compose(pattern);
    knows_anything_ = false;
    if (!composed) continue;
    bool equal =
        composed->text == truth->text && composed->insertions.size() == truth->insertions.size();
    for (std::size_t i = 0; equal && i < composed->insertions.size(); ++i) {
      equal = composed->insertions[i].offset == truth->insertions[i].offset &&
              composed->insertions[i].message == truth->insertions[i].message;
    }
    if (!equal) return;
    tested = true;
  }
  knows_anything_ = tested;
}

bool ShapeComposer::learn(std::string_view pattern, const ShapeRendering& shape) {
  const bool open = pattern.back() == '+';
  const std::size_t count = pattern.size() - (open ? 1 : 0);
  if (shape.insertions.size() != count) return false;
  Place from = kFront;
  std::size_t begin = 0;
  const auto keep = [&](Place to, std::size_t end) {
    std::string piece = shape.text.substr(begin, end - begin);
    std::optional<std::string>& known = pieces_[from][to];
    const bool agrees = !known || *known == piece;
    known = std::move(piece);
    from = to;
    begin = end;
    return agrees;
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (shape.insertions[i].message != i) return false;
    if (!keep(*place_of(pattern[i], i), shape.insertions[i].offset)) return false;
  }
  return keep(open ? kOpenEnd : kEnd, shape.text.size());
}

std::optional<ShapeRendering> ShapeComposer::compose(std::string_view letters) const {
  if (!knows_anything_) return std::nullopt;
  const bool open = letters.ends_with('+');
  if (open) letters.remove_suffix(1);
  ShapeRendering shape;
  shape.insertions.reserve(letters.size());
  Place from = kFront;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const std::optional<Place> to = place_of(letters[i], i);
    if (!to || !pieces_[from][*to]) return std::nullopt;
    shape.text.append(*pieces_[from][*to]);
    shape.insertions.push_back({shape.text.size(), i});
    from = *to;
  }
  const std::optional<std::string>& last = pieces_[from][open ? kOpenEnd : kEnd];
  if (!last) return std::nullopt;
  shape.text.append(*last);
  return shape;
}

}  // namespace zerohop
