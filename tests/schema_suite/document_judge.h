// Whether documents are accepted by what answers follow: the JSON machine byte by byte, and
// sessions token by token, each document in all styles. Beside that the oracle, which looks at the
// whole value, and must agree about every text.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "constrain/constraint_session.h"
#include "constrain/json_machine.h"
#include "constrain/mask_cache.h"
#include "constrain/schema_form.h"
#include "constrain/schema_form_oracle.h"
#include "document_styles.h"

namespace zerohop {

/// A vocabulary, and the masks of it that all judges share.
struct JudgeVocabulary {
  std::shared_ptr<const TokenTrie> tokens;
  Tokenize tokenize;
  std::unique_ptr<MaskCache> masks;
};

/// The default model's; null, with a recorded failure, when its file is not there.
JudgeVocabulary* default_vocabulary();

class DocumentJudge {
 public:
  struct Options {
    JudgeVocabulary* vocabulary = nullptr;  ///< null: byte by byte only
    /// 1.0 is as good an integer as 1. In draft 4 it is not, so that spelling changes the value.
    bool spelling_of_numbers_is_free = true;
    /// The mask of one place in so many is held against the check of its token: a mask over 49,152
    /// tokens costs as much as checking a thousand.
    std::size_t masks_every = 8;
  };
  DocumentJudge(std::shared_ptr<const SchemaForm> form, const Options& options);
  ~DocumentJudge();

  struct Verdict {
    bool ever = false;   ///< in some style, by some way
    bool always = true;  ///< in all styles that the schema leaves free, by all ways
    std::vector<std::string> disagreements = {};  ///< of a machine with the oracle or with another
  };
  Verdict judge(const JsonNode& value);

  /// A text as it stands: the machine for keys in any order, and the tokens.
  Verdict judge_text(std::string_view text);

 private:
  struct Machines;
  struct Asked {
    std::string_view text;
    std::string_view style;
    bool wanted = false;       // by the oracle
    bool declared = false;     // by the oracle, keys in their order
    bool all_escaped = false;  // more than the machine of canonical escapes allows
    bool binding = false;      // counts for Verdict::always
  };
  void ask(const Asked& asked, Verdict& verdict);
  void ask_tokens(const Asked& asked, Verdict& verdict);

  std::shared_ptr<const SchemaForm> form_;
  Options options_;
  SchemaFormOracle oracle_;
  SchemaFormOracle oracle_declared_;
  std::unique_ptr<Machines> machines_;
  std::size_t places_ = 0;
};

}  // namespace zerohop
