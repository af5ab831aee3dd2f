// The JSON machine's insides, shared by json_machine.cc and its parts.
//
// A position is where the text stands as JSON, whatever the schema, and a stack:
//
//   kBegin, kValue, kFirstItem ──'"'──> kString ──'"'──────────────────────+
//     |  |                     ──0-9──> kNumber ──(what ends it)───────────+
//     |  |                     ──n t f> kLiteral ──(its last letter)───────+
//     |  '['                                                               v
//     |  +──> kFirstItem ──']'──────────────────────────────────────> kAfter, kDone
//     '{'                                                               |  |  ^
//     +─────> kFirstKey ──'}'──────────────────────────────────────────────|──+
//               | '"'                                                   |  | ']' '}'
//               v                                                       |  +──> kBeforeClose
//             kKeyText ──'"'──> kColon ──':'──> kValue                  |  (line break)
//               ^                                                       |
//               +──'"'── kKey <──','────────────────────────────────────+──','──> kValue
//
// The stack's top level holds what the position is about: in kString, kNumber and kLiteral scalars
// inside of what they are values of; in kBegin, kValue and kColon what a value will be in (the
// root, arrays, keyed objects); in kKeyText keys; elsewhere arrays or objects.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "constrain/json_forms.h"
#include "constrain/json_machine.h"
#include "constrain/json_progress.h"
#include "constrain/json_shortest.h"
#include "constrain/json_stacks.h"
#include "constrain/known_texts.h"
#include "constrain/number_values.h"
#include "constrain/partial_character.h"

namespace zerohop {

struct JsonPosition {
  enum class Lex : std::uint8_t {
    kBegin,
    kValue,
    kFirstItem,
    kFirstKey,
    kKey,
    kKeyText,
    kColon,
    kString,
    kNumber,
    kLiteral,
    kAfter,
    kBeforeClose,
    kDone,
  };
  /// White space that may come here.
  enum class White : std::uint8_t {
    kNone,
    kBlank,  ///< one blank
    kBreak,  ///< a line break
    kBlankOrBreak,
    kMustBlank,  ///< a blank and nothing else
    kCarriage,   ///< behind \r: \n and nothing else
    kIndent,     ///< behind a line break: `number` blanks or tabs
  };
  Lex lex = Lex::kBegin;
  White white = White::kNone;
  PartialCharacter character = {};  ///< in kString and kKeyText
  std::uint32_t number = 0;  ///< kIndent: see there; kLiteral: which one × 16 + letters read
  TextId text = kNoText;     ///< of the value or name so far, where it must not come again
  StackId stack = 0;

  friend bool operator==(const JsonPosition&, const JsonPosition&) = default;
};

class JsonMachine final : public ConstraintMachine {
 public:
  JsonMachine(std::shared_ptr<const SchemaForm> form, const JsonMachineOptions& options);

  MachineState start() override;
  /// See json_machine_follows().
  bool follows();
  MachineState step(MachineState state, unsigned char byte) override;
  bool accepting(MachineState state) override;
  std::string shortest_end(MachineState state) override;
  std::size_t shortest_end_bytes(MachineState state) override;
  std::string forced(MachineState state, std::size_t bytes_max) override;
  std::optional<ContentRun> content(MachineState state) override;
  std::vector<MachineState> parts(MachineState state) override;
  std::bitset<256> first_bytes(MachineState state) override;
  bool plain_ends() override;
  std::uint64_t work() const override { return work_ + numbers_.looked_at(); }
  std::size_t memory_bytes() const override;
  std::unique_ptr<ConstraintMachine> renew() const override;

 private:
  using Lex = JsonPosition::Lex;
  using White = JsonPosition::White;
  using Next = std::optional<JsonPosition>;
  using Row = std::array<MachineState, 256>;

  struct State {
    JsonPosition position;
    std::uint32_t row = 0;                 // of rows_; 0: none yet
    std::uint32_t steps = 0;               // that were made without a row
    std::uint32_t end_bytes = UINT32_MAX;  // of the shortest end; UINT32_MAX: not known yet
  };

  MachineState intern(const JsonPosition& position);
  MachineState slow_step(MachineState state, unsigned char byte);

  // json_machine.cc
  bool accepts(const JsonPosition& at) const;
  Next next(const JsonPosition& at, unsigned char byte);
  Next white(const JsonPosition& at, unsigned char byte);
  Next after(const JsonPosition& at, unsigned char byte);
  Next comma(const JsonPosition& at);
  Next close(const JsonPosition& at, unsigned char byte);
  White white_of(White wanted) const;
  std::uint32_t indent(StackId stack) const;
  bool in_array(StackId stack) const;
  template <typename Keep>
  StackId kept(StackId stack, const Keep& keep);

  // json_machine_values.cc
  Next begin_value(const JsonPosition& at, unsigned char byte);
  Next begin_container(const JsonPosition& at, unsigned char byte);
  template <typename Accepts>
  Next end_value(StackId stack, const Accepts& accepts, TextId value);
  Next literal(const JsonPosition& at, unsigned char byte);
  Next number(const JsonPosition& at, unsigned char byte);
  Next end_number(const JsonPosition& at);
  Next string(const JsonPosition& at, unsigned char byte);
  Next end_string(const JsonPosition& at, bool whatever_was_read);
  ProgressId scalar_begun(AlternativeId form, unsigned char byte);
  bool number_ends(const Progress& progress) const;
  bool is_new(const JsonPosition& at, const Progress& scalar, StackLink link);

  // json_machine_keys.cc
  Next begin_key(const JsonPosition& at);
  Next key(const JsonPosition& at, unsigned char byte);
  Next end_key(const JsonPosition& at);
  ProgressId key_declared(const Progress& key, const CharacterRanges& ranges);
  ProgressId key_declared_longer(const Progress& key, char32_t letter);
  bool other_possible(const Progress& key, TextId text, std::span<const CodePointRange> ranges);
  std::uint32_t capped(const ContentAutomaton& automaton, std::uint32_t count);

  // json_machine_content.cc
  struct Used;
  std::optional<ContentRun> string_run(const JsonPosition& at);
  std::optional<ContentRun> name_run(const JsonPosition& at);
  bool note_used(const Used& used, ContentRun& run);
  std::optional<std::bitset<256>> name_bytes(const JsonPosition& at);
  bool is_plain(const SchemaAlternative& alternative) const;
  MachineState only(const JsonPosition& at, StackLevel& level, TextId text);

  // json_machine_ends.cc
  /// Bytes of the shortest end, and the next part of it where that is wanted.
  enum class Wanted : std::uint8_t { kBytes, kText };
  struct Ending {
    std::uint32_t bytes = JsonShortest::kEndless;
    std::string text;

    /// The shorter one of both, the older one of two equal ones.
    void offer(std::uint64_t all, std::string part);
  };
  Ending ending(const JsonPosition& at, Wanted wanted);
  Ending value_ending(const JsonPosition& at, const std::string& lead, Wanted wanted);
  Ending container_ending(const JsonPosition& at, const std::string& lead, Wanted wanted);
  Ending key_ending(const JsonPosition& at);
  Ending string_ending(const JsonPosition& at, Wanted wanted);
  Next pass(JsonPosition at, std::string_view text);
  Next pass_string(const JsonPosition& at, std::string_view text);
  Ending number_ending(const JsonPosition& at, Wanted wanted);
  void offer_declared(const JsonPosition& at, std::uint32_t index, Ending& best);
  void offer_other(const JsonPosition& at, std::uint32_t index, Ending& best);
  std::optional<std::u32string> word_rest(const JsonPosition& at, const WordPlace& place,
                                          TextSetId taken);
  std::string written(const JsonPosition& at, std::u32string_view word);
  const StackEntry& holder(const JsonPosition& at, StackLink link) const {
    return stacks_.entry(stacks_.outside(at.stack), link.outer);
  }

  // json_machine_forced.cc
  void add_letters(const Progress& entry, std::u32string& letters, bool& may_end);
  std::vector<unsigned char> letter_candidates(const JsonPosition& at);
  std::vector<unsigned char> candidates(const JsonPosition& at);
  std::optional<unsigned char> only_byte(MachineState state);

  const JsonMachineOptions options_;
  JsonForms forms_;
  KnownTexts texts_;
  OtherNumbers numbers_;
  JsonProgress progress_;
  JsonStacks stacks_;
  JsonShortest shortest_;

  std::vector<State> states_;  // the first one is the dead state
  HashIndex index_;
  std::deque<Row> rows_;
  StackLevel level_;  // being made
  MachineState start_ = kDeadState;
  std::uint64_t work_ = 0;     // alternatives that were followed by a byte
  std::optional<bool> plain_;  // all texts that ends are made of; not known so far
};

inline const ContentAutomaton& string_automaton(JsonForms& forms, const Progress& progress) {
  return *std::get<StringForm>(forms.alternative(progress.form)).content;
}

inline const NumberLanguage& number_language(JsonForms& forms, const Progress& progress) {
  return *std::get<NumberForm>(forms.alternative(progress.form)).language;
}

/// null, true, false, numbered.
inline constexpr std::string_view kJsonLiterals[] = {"null", "true", "false"};

}  // namespace zerohop
