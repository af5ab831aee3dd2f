// Soft rescoring: tokens that go on with a value that is known to be good get a little more weight.
//
// Live tool arguments: the conversation says which values an argument may sensibly have (the ids of
// the user's orders). A rule gives these as JSON texts; while the model writes that argument in a
// call of that tool, and as long as what it has written is the beginning of such a value, every
// token that continues one of them gets `bias` added to its logit. It steers and never forbids:
// what is legal is the constraint's business, and a model that is sure of another value writes it.
// +2.5 makes a token 12 times as likely against others.
//
// The rules are shared and immutable; a SoftBias follows one sequence, engine thread only.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "constrain/token_trie.h"
#include "core/request.h"

namespace zerohop {

struct SoftRule {
  std::string tool;                 ///< in whose calls; another tool's are left alone
  std::string argument;             ///< the member whose value it is, at any depth
  std::vector<std::string> values;  ///< scalars as JSON texts: "\"A-17\"", "42"
  float bias = kLiveBias;
};

class SoftBias {
 public:
  SoftBias(std::shared_ptr<const TokenTrie> tokens,
           std::shared_ptr<const std::vector<SoftRule>> rules);

  /// The arguments of a call of `tool` begin, a JSON text; until then, and after end(), nothing is
  /// biased.
  void begin(std::string_view tool);
  void end() { where_ = Where::kOutside; }
  /// The bytes of an accepted token.
  void accept(std::string_view bytes);

  /// What to add to the logits of the next token. Each token once, ascending. Valid until the next
  /// call.
  std::span<const LogitBias> biases();

 private:
  enum class Where : std::uint8_t {
    kOutside,
    kStructure,  // brackets, commas, blanks
    kName,       // inside a string that is a name, or may turn out to be one
    kBehindName,
    kValue,  // behind the colon: written_ is what there is of the value
  };

  void read(char byte);
  void read_string(char byte);
  void continue_value(std::string_view rest, float bias);

  std::shared_ptr<const TokenTrie> tokens_;
  std::shared_ptr<const std::vector<SoftRule>> rules_;
  Where where_ = Where::kOutside;
  std::string tool_;  // of the call
  bool in_string_ = false;
  bool escaped_ = false;
  std::string name_;     // the last string, without quotes, as it was written
  std::string written_;  // of the value, from its first byte
  std::vector<LogitBias> biases_;
};

}  // namespace zerohop
