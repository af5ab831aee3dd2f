// Facts about numbers as number languages. One compilation, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "constrain/number_language.h"
#include "constrain/schema_compiler.h"
#include "constrain/schema_tableau.h"

namespace zerohop {

class SchemaNumbers {
 public:
  SchemaNumbers(SchemaSet& set, SchemaWork& work, SchemaOptions::NumberRange range)
      : set_(set), work_(work), range_(range) {}

  /// The conjunctions that `facts` amount to, one per value where an enum lists them.
  std::vector<NumberRule> rules(const SchemaFacts& facts) const;
  /// nullptr: no number satisfies it, or refused.
  std::shared_ptr<const NumberLanguage> language(const NumberRule& rule, const SchemaFacts& facts);
  /// How many values a language from here has: UINT64_MAX for infinitely many, nothing where that
  /// is not known.
  std::optional<std::uint64_t> values(const NumberLanguage& language) const;
  std::size_t memory_bytes() const { return memory_bytes_; }

 private:
  SchemaSet& set_;
  SchemaWork& work_;
  SchemaOptions::NumberRange range_;
  std::map<std::string, std::shared_ptr<const NumberLanguage>> languages_;
  std::unordered_map<const NumberLanguage*, std::optional<std::uint64_t>> values_;
  std::size_t memory_bytes_ = 0;
};

}  // namespace zerohop
