// Follows a JSON document byte by byte along a SchemaForm.
//
// JSON is read the same way whatever the schema says: a bracket opens, a quote closes. So all
// alternatives that are still possible stand at the same place of the text, and the machine keeps,
// for every open container, the set of alternatives that are alive there, each with links to the
// ones of the level outside that it belongs to. Sets are interned, a state is one lexical position
// and one such stack.
#pragma once

#include <cstdint>
#include <memory>

#include "constrain/constraint_machine.h"
#include "constrain/schema_form.h"

namespace zerohop {

struct JsonMachineOptions {
  TextCoding coding = TextCoding::kJsonCanonical;  ///< of strings and names
  enum class KeyOrder : std::uint8_t { kDeclared, kAny };
  KeyOrder key_order = KeyOrder::kDeclared;
  /// White space: at most one blank behind ',' and ':', or a line break (\n or \r\n) with at most
  /// `indent_max` blanks or tabs per open container behind '{', '[', ',' and in front of '}', ']'.
  /// Never in front of or behind the document.
  std::uint32_t indent_max = 8;
  /// Optional white space is a choice in front of nearly everything, so with it forced texts end at
  /// every comma and colon. Where a layout is fixed they run from one value to the next.
  enum class WhiteSpace : std::uint8_t {
    kFree,     ///< as said above
    kCompact,  ///< none
    kSpaced,   ///< exactly one blank behind ',' and ':', no other
  };
  WhiteSpace white_space = WhiteSpace::kFree;
  /// Arrays and objects that may be open inside of one another. Readers of JSON bound this (Python
  /// at some 1,000, this server's own bodies at 128), and a model that goes on opening brackets
  /// says nothing. A form whose shortest document is deeper may be as deep as that.
  std::uint32_t depth_max = 100;
};

/// Further to constraint_machine.h: shortest ends are minimal in bytes, up to two things. Strings
/// are shortest in characters (content_automaton.h), and where items or names must differ, the
/// shortest free ones are taken one after the other.
std::unique_ptr<ConstraintMachine> make_json_machine(std::shared_ptr<const SchemaForm> form,
                                                     const JsonMachineOptions& options = {});

/// The bytes of the longest shortest document.
inline constexpr std::size_t kShortestBytesMax = std::size_t{1} << 20;

/// Whether a machine keeps its promise for this form. Its searches are bounded too; where one gives
/// up, or the shortest document has more than kShortestBytesMax, or a part of one needs more than
/// 64 containers inside of one another, the form must be refused.
bool json_machine_follows(std::shared_ptr<const SchemaForm> form,
                          const JsonMachineOptions& options = {});

}  // namespace zerohop
