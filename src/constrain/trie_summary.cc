#include "constrain/trie_summary.h"

#include <algorithm>
#include <string_view>

namespace zerohop {

namespace {

using Classes = std::array<std::uint8_t, 256>;

constexpr std::uint8_t kDigits = 26;
constexpr std::uint8_t kUpperCase = 36;
constexpr std::uint8_t kBlank = 49;
constexpr std::uint8_t kMarks = 50;   // . , : ;
constexpr std::uint8_t kJoints = 51;  // - _
constexpr std::uint8_t kPaths = 52;   // / @ ? & = % # +
constexpr std::uint8_t kSigns = 53;   // the others

constexpr Classes make_classes() {
  Classes classes{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char letter = static_cast<char>(byte);
    std::uint8_t found = kSigns;
    if (byte >= 0x80) {
      found = TrieSummary::kWide;
    } else if (byte < 0x20 || byte == 0x7f || letter == '"' || letter == '\\') {
      found = TrieSummary::kControls;
    } else if (letter >= 'a' && letter <= 'z') {
      found = static_cast<std::uint8_t>(letter - 'a');
    } else if (letter >= '0' && letter <= '9') {
      found = static_cast<std::uint8_t>(kDigits + (letter - '0'));
    } else if (letter >= 'A' && letter <= 'Z') {
      found = static_cast<std::uint8_t>(kUpperCase + (letter - 'A') / 2);
    } else if (letter == ' ') {
      found = kBlank;
    } else if (std::string_view(".,:;").find(letter) != std::string_view::npos) {
      found = kMarks;
    } else if (letter == '-' || letter == '_') {
      found = kJoints;
    } else if (std::string_view("/@?&=%#+").find(letter) != std::string_view::npos) {
      found = kPaths;
    }
    classes[byte] = found;
  }
  return classes;
}

constexpr Classes kClassOf = make_classes();

}  // namespace

std::uint8_t TrieSummary::class_of(unsigned char byte) { return kClassOf[byte]; }

// Backwards, so that all below a node is known when it is its turn: sums[d] is about the nodes of
// depth d that have the same parent and were met.
TrieSummary::TrieSummary(const ByteTrie& trie) : nodes_(trie.size()) {
  struct Sum {
    ClassSet classes = 0;
    unsigned levels = 0;
  };
  std::vector<Sum> sums(ByteTrie::kDepthMax + 2);
  for (std::size_t i = trie.size(); i-- > 0;) {
    const ByteTrie::Node& node = trie.node(i);
    depth_ = std::max<std::size_t>(depth_, node.depth);
    Sum& children = sums[node.depth + 1u];
    nodes_[i] =
        std::uint64_t{std::min<unsigned>(children.levels, kDeep)} << kClasses | children.classes;
    Sum& own = sums[node.depth];
    own.classes |= children.classes | ClassSet{1} << class_of(node.byte);
    own.levels = std::max(own.levels, children.levels + 1);
    children = {};
  }
}

}  // namespace zerohop
