#include "constrain/pattern_tree.h"

#include <algorithm>
#include <optional>

#include "constrain/pattern_class.h"

namespace zerohop {

namespace {

using Kind = PatternNode::Kind;

constexpr std::size_t kDepthMax = 200;

bool is_assertion(Kind kind) {
  return kind != Kind::kSet && kind != Kind::kSequence && kind != Kind::kChoice &&
         kind != Kind::kRepeat;
}

/// Recursive descent; `depth_` counts open groups.
class PatternParser {
 public:
  explicit PatternParser(std::u32string_view pattern) : reader_(pattern) {}

  Result<PatternNode> parse() {
    ZH_ASSIGN_OR_RETURN(PatternNode node, choice());
    if (!reader_.done()) return error("')' without '('");
    return node;
  }

 private:
  Error error(std::string what) const { return pattern_error(reader_.at(), std::move(what)); }

  Result<PatternNode> choice() {
    PatternNode node{.kind = Kind::kChoice, .position = reader_.at()};
    do {
      ZH_ASSIGN_OR_RETURN(PatternNode branch, sequence());
      node.plain = node.plain && branch.plain;
      node.children.push_back(std::move(branch));
    } while (reader_.take(U'|'));
    if (node.children.size() > 1) return node;
    PatternNode only = std::move(node.children.front());
    return only;
  }

  Result<PatternNode> sequence() {
    PatternNode node{.kind = Kind::kSequence, .position = reader_.at()};
    while (!reader_.done() && reader_.peek() != U'|' && reader_.peek() != U')') {
      ZH_ASSIGN_OR_RETURN(PatternNode part, term());
      node.plain = node.plain && part.plain;
      node.children.push_back(std::move(part));
    }
    if (node.children.size() != 1) return node;
    PatternNode only = std::move(node.children.front());
    return only;
  }

  Result<PatternNode> term() {
    ZH_ASSIGN_OR_RETURN(PatternNode part, atom());
    const std::size_t position = reader_.at();
    ZH_ASSIGN_OR_RETURN(const std::optional<PatternCount> count, reader_.count());
    if (!count) return part;
    if (is_assertion(part.kind)) return pattern_error(position, "an assertion cannot be repeated");
    PatternNode node{.kind = Kind::kRepeat,
                     .plain = part.plain,
                     .min = count->min,
                     .max = count->max,
                     .position = position};
    node.children.push_back(std::move(part));
    return node;
  }

  Result<PatternNode> atom() {
    const std::size_t position = reader_.at();
    const char32_t letter = reader_.next();
    switch (letter) {
      case U'^': return PatternNode{.kind = Kind::kStart, .plain = false, .position = position};
      case U'$': return PatternNode{.kind = Kind::kEnd, .plain = false, .position = position};
      case U'(': return group(position);
      case U'.':
        return set(CodePointSet{{U'\n', U'\n'}, {U'\r', U'\r'}, {0x2028, 0x2029}}.complement(),
                   position);
      case U'[': {
        ZH_ASSIGN_OR_RETURN(CodePointSet members, reader_.bracket());
        return set(std::move(members), position);
      }
      case U'*':
      case U'+':
      case U'?': return pattern_error(position, "nothing to repeat");
      case U'{':
        if (reader_.looks_like_count()) return pattern_error(position, "nothing to repeat");
        return set(CodePointSet{{letter, letter}}, position);
      case U'\\': return escape(position);
      default: return set(CodePointSet{{letter, letter}}, position);
    }
  }

  static PatternNode set(CodePointSet members, std::size_t position) {
    return PatternNode{.kind = Kind::kSet, .set = std::move(members), .position = position};
  }

  Result<PatternNode> escape(std::size_t position) {
    if (reader_.take(U'b')) {
      return PatternNode{.kind = Kind::kBorder, .plain = false, .position = position};
    }
    if (reader_.take(U'B')) {
      return PatternNode{.kind = Kind::kNoBorder, .plain = false, .position = position};
    }
    ZH_ASSIGN_OR_RETURN(PatternEscape escaped, reader_.escape());
    return set(std::move(escaped.set), position);
  }

  /// Behind '('. What opens a group that only groups is read over.
  Result<PatternNode> group(std::size_t position) {
    ZH_ASSIGN_OR_RETURN(const std::optional<Kind> assertion, opening(position));
    if (++depth_ > kDepthMax) return error("groups are nested too deeply");
    ZH_ASSIGN_OR_RETURN(PatternNode inner, choice());
    --depth_;
    if (!reader_.take(U')')) return pattern_error(position, "'(' is never closed");
    if (!assertion) {
      if (!is_assertion(inner.kind)) return inner;
      // (^) may be repeated, ^ not.
      PatternNode wrapped{.kind = Kind::kSequence, .plain = false, .position = position};
      wrapped.children.push_back(std::move(inner));
      return wrapped;
    }
    PatternNode node{.kind = *assertion, .plain = false, .position = position};
    node.children.push_back(std::move(inner));
    return node;
  }

  Result<std::optional<Kind>> opening(std::size_t position) {
    using Assertion = std::optional<Kind>;
    if (!reader_.take(U'?')) return Assertion();
    if (reader_.take(U':')) return Assertion();
    if (reader_.take(U'=')) return Assertion(Kind::kAhead);
    if (reader_.take(U'!')) return Assertion(Kind::kNotAhead);
    reader_.take(U'P');  // Python's way of naming
    if (reader_.take(U'<')) {
      if (reader_.take(U'=')) return Assertion(Kind::kBehind);
      if (reader_.take(U'!')) return Assertion(Kind::kNotBehind);
      if (reader_.group_name()) return Assertion();
    }
    return pattern_error(position, "this kind of group is not supported");
  }

  PatternReader reader_;
  std::size_t depth_ = 0;
};

}  // namespace

Result<PatternNode> parse_pattern_tree(std::u32string_view pattern) {
  return PatternParser(pattern).parse();
}

}  // namespace zerohop
