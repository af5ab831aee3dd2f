// What `zerohop constrain check` finds out: whether a constraint compiles, what it costs, and which
// texts it accepts, byte by byte and token by token.
//
//   case       a constraint and texts, each to be accepted or rejected
//   by bytes   the machine that answers follow, asked for one byte after the other
//   by tokens  a session of the engine over a model's vocabulary, mask and check of every token:
//              the text as the model itself writes it, and with the longest tokens first
//
// Whether a constraint is taken is decided as for requests (constrain/answer_schema.h). Texts are
// judged more freely than answers are written: escapes and numbers count in any spelling. Cases in
// a row with the same constraint share what was made of it.
//
// One thread; takes the time from the clock it is given, and decides nothing by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "constrain/constraint_machine.h"
#include "constrain/constraint_session.h"
#include "constrain/json_machine.h"
#include "constrain/mask_cache.h"
#include "constrain/schema_compiler.h"

namespace zerohop {

/// A constraint as people write it.
struct ConstraintText {
  enum class Language : std::uint8_t { kSchema, kRegex, kGrammar };
  Language language = Language::kSchema;
  std::string text;
  friend bool operator==(const ConstraintText&, const ConstraintText&) = default;
};

struct ExpectedText {
  enum class Wanted : std::uint8_t { kAccept, kReject };
  Wanted wanted = Wanted::kAccept;
  std::string text;
};

struct CheckCase {
  std::string id;
  ConstraintText constraint;
  std::vector<ExpectedText> texts;
};

struct ConstraintCost {
  Duration compile{};
  std::size_t nodes = 0;        ///< of the form; 0: not a schema
  std::size_t form_bytes = 0;   ///< of what requests share; 0: not a schema
  Duration first_state{};       ///< from the form to the first state
  std::size_t first_bytes = 0;  ///< of the machine with its first state
  std::string begins = {};      ///< the bytes that a text may begin with, ascending
  std::string shortest = {};    ///< a shortest text
  // With a vocabulary.
  std::size_t first_tokens = 0;  ///< that may come first
  Duration first_mask{};
};

/// How a text fared in one of its spellings as tokens.
struct TokenWalk {
  bool possible = false;  ///< the text can be written in tokens
  bool accepted = false;
  std::size_t tokens = 0;  ///< of the text
  std::size_t read = 0;    ///< tokens in front of the first one that is not allowed
};

struct TextFinding {
  bool accepted = false;      ///< byte by byte
  std::size_t read = 0;       ///< bytes in front of the first one that is not allowed
  std::string possible = {};  ///< the bytes that may come there, ascending; only where not accepted
  bool order_alone = false;   ///< it would be accepted with its keys in the order of the schema
  std::optional<TokenWalk> canonical = {};  ///< with a vocabulary
  std::optional<TokenWalk> greedy = {};

  /// In no spelling.
  bool rejected() const;
  /// In all spellings.
  bool accepted_always() const;
};

enum class CheckVerdict : std::uint8_t {
  kRight,
  kOver,     ///< accepts what it should reject
  kUnder,    ///< rejects what it should accept
  kRefused,  ///< the constraint is not compiled
  kError,    ///< the case cannot be read
};
std::string_view verdict_name(CheckVerdict verdict);

struct CaseFinding {
  std::string id;
  CheckVerdict verdict = CheckVerdict::kRight;
  std::optional<SchemaRefusal> refusal;
  std::string fault;  ///< of kError: a sentence without a full stop
  std::optional<ConstraintCost> cost;
  std::vector<TextFinding> texts;  ///< in the order of the case's; none where refused
};

/// Of a case that cannot be read.
CaseFinding unreadable_case(std::string id, std::string fault);

class ConstraintChecker {
 public:
  struct Vocabulary {
    std::shared_ptr<const TokenTrie> tokens;  ///< covers_bytes() holds
    Tokenize tokenize;                        ///< as the model writes
  };
  struct Options {
    SchemaOptions schema = {};
    JsonMachineOptions::KeyOrder key_order = JsonMachineOptions::KeyOrder::kDeclared;
    std::optional<Vocabulary> vocabulary = {};
  };
  /// `clock` outlives the checker.
  ConstraintChecker(Options options, const Clock& clock);

  /// A schema that nothing satisfies rejects every text, so a case that wants no more is right.
  CaseFinding check(const CheckCase& wanted);

  /// Constraints that were compiled, taken or refused.
  std::uint64_t compiled() const { return compiled_; }

 private:
  struct Made {
    std::unique_ptr<ConstraintMachine> machine;
    std::shared_ptr<const SchemaForm> form;  // that texts are held against; null: not a schema
    ConstraintCost cost;
  };
  /// What texts are held against: the constraint of the last case.
  struct Subject {
    ConstraintText constraint;
    std::optional<SchemaRefusal> refusal;  // then nothing else is there
    ConstraintCost cost;
    std::shared_ptr<LiveMachine> live;
    std::shared_ptr<const SchemaForm> form;
    std::unique_ptr<ConstraintMachine> any_order;  // once a text was rejected
  };
  Subject& subject_of(const ConstraintText& constraint);
  void drop_subject();
  void compile(Subject& subject);
  std::variant<Made, SchemaRefusal> make(const ConstraintText& constraint) const;
  std::variant<Made, SchemaRefusal> make_schema(const std::string& text) const;
  std::shared_ptr<const SchemaForm> judging_form(const std::string& text,
                                                 std::shared_ptr<const SchemaForm> answers) const;
  void measure_first_mask(LiveMachine& live, ConstraintCost& cost);
  TextFinding judge(Subject& subject, std::string_view text);
  bool accepted_in_any_order(Subject& subject, std::string_view text) const;
  std::unique_ptr<ConstraintMachine> machine_of(const std::shared_ptr<const SchemaForm>& form,
                                                JsonMachineOptions::KeyOrder order) const;
  TokenWalk walk(const std::shared_ptr<LiveMachine>& live, const std::vector<Token>& tokens);

  const Options options_;
  const Clock* clock_;
  std::unique_ptr<MaskCache> masks_;  // null without a vocabulary
  std::optional<Subject> subject_;
  std::uint64_t compiled_ = 0;
};

}  // namespace zerohop
