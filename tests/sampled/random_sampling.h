// For tests: documents of a model that writes at random. Each legal token is as likely as any other
// and the answer may have any number of tokens from the smallest possible one on, so texts get to
// places where no real model goes.
//
// Whatever was drawn, the text is one JSON document (read by a parser of its own) that the schema's
// form accepts (judged by looking at the whole value), and complete when the tokens are spent.
// That the form says what the schema says is held against another validator in
// tests/e2e/test_sampled_structure.py.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.h"
#include "constrain/constraint_session.h"
#include "constrain/constraint_test_kit.h"
#include "constrain/json_machine.h"
#include "constrain/mask_cache.h"
#include "constrain/schema_compiler.h"
#include "constrain/schema_document.h"
#include "constrain/schema_form_oracle.h"

namespace zerohop {

struct NamedSchema {
  std::string name;
  std::string text;
};

inline std::vector<JsonNode> read_lines(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::vector<JsonNode> nodes;
  for (std::string line; std::getline(file, line);) {
    auto node = parse_json_node(line);
    EXPECT_TRUE(node.ok()) << path << ": " << line.substr(0, 100);
    if (node.ok()) nodes.push_back(*std::move(node));
  }
  return nodes;
}

// Single bytes, and pieces of the schemas themselves and of JSON, cut anywhere.
inline std::shared_ptr<const TokenTrie> vocabulary_for(const std::vector<NamedSchema>& schemas) {
  std::set<std::string> words{"\":",  "\": ", "\",",   "\", ",  "\",\"", "{\"", "\"}",
                              "}}",   "[{",   "}]",    "[]",    "{}",    "[\"", "\"]",
                              "null", "true", "false", "10",    "00",    "0.5", ".0",
                              "e1",   "-1",   "\\n",   "\\u00", "é",     "日本"};
  Random random(11);
  constexpr std::size_t kWords = 1'500;
  for (int tries = 0; words.size() < kWords && tries < 100'000; ++tries) {
    const std::string& text = schemas[random.below(schemas.size())].text;
    words.insert(text.substr(random.below(text.size()), 2 + random.below(6)));
  }
  return vocabulary_of({words.begin(), words.end()});
}

inline SchemaOptions as_requests_do() {
  SchemaOptions options;
  options.integers = SchemaOptions::Integers::kDigitsAlone;
  options.numbers = SchemaOptions::NumberRange::kOfReaders;
  return options;
}

class Sampler {
 public:
  explicit Sampler(std::shared_ptr<const TokenTrie> tokens)
      : tokens_(std::move(tokens)), masks_(tokens_, std::size_t{16} << 20) {}

  /// Samples `times` documents of a schema.
  void sample(const NamedSchema& schema, int times) {
    SCOPED_TRACE(schema.name + " " + schema.text.substr(0, 500));
    const CompiledSchema compiled = compile_schema(schema.text, as_requests_do());
    if (const auto* refusal = std::get_if<SchemaRefusal>(&compiled)) {
      ADD_FAILURE() << refusal->pointer << " " << refusal->keyword << ": " << refusal->reason;
      return;
    }
    const auto& form = std::get<std::shared_ptr<const SchemaForm>>(compiled);
    const auto live = std::make_shared<LiveMachine>(make_json_machine(form), next_id_++);
    for (int i = 0; i < times && !testing::Test::HasFailure(); ++i) {
      Random random(static_cast<std::uint64_t>(i) * 1'000'003 + next_id_);
      write_document(live, *form, random);
    }
    masks_.forget(live->cache_id());
  }

  std::size_t documents = 0;
  std::size_t cut = 0;     ///< of these, by the number of tokens
  std::size_t unread = 0;  ///< of these, with a number that the judge does not read

 private:
  void write_document(const std::shared_ptr<LiveMachine>& live, const SchemaForm& form,
                      Random& random) {
    constexpr std::size_t kMost = 1'000;
    ConstraintSession session({live, &masks_, {}, kMost, &statistics_});
    const auto needed = session.tokens_needed();
    ASSERT_TRUE(needed && *needed <= kMost);
    session.limit_remaining(*needed + random.below(40));
    bool ended = false;
    while (session.remaining() > 0 && !ended) {
      const Token token = draw(session, random);
      ASSERT_TRUE(session.allows(token)) << session.text();
      ended = tokens_->is_end(token);
      session.accept(token);
    }
    ++documents;
    if (!ended) ++cut;
    check(session.text(), form);
  }

  // As the engine does: any token, then a legal one, then the shortest end.
  Token draw(ConstraintSession& session, Random& random) {
    const auto any = static_cast<Token>(random.below(tokens_->tokens()));
    if (session.allows(any)) return any;
    std::vector<Token> legal;
    session.mask().for_each([&](Token token) { legal.push_back(token); });
    for (int tries = 0; tries < 4 && !legal.empty(); ++tries) {
      const Token token = legal[random.below(legal.size())];
      if (session.allows(token)) return token;
    }
    const std::vector<Token> closing = session.closing_tokens();
    return closing[random.below(closing.size())];
  }

  // A number may be as small as it likes, and this reader stops at 10^-1,000,000,000.
  static bool is_too_small_to_read(const Error& error) {
    return error.message.find("exponent is out of range") != std::string::npos;
  }

  void check(std::string_view text, const SchemaForm& form) {
    const auto value = parse_json_node(text);
    if (!value.ok() && is_too_small_to_read(value.error())) {
      ++unread;
      return;
    }
    ASSERT_TRUE(value.ok()) << text << ": " << value.error().message;
    const SchemaFormOracle oracle(form, SchemaFormOracle::Order::kDeclared);
    EXPECT_TRUE(oracle.accepts(*value)) << text;
  }

  std::shared_ptr<const TokenTrie> tokens_;
  MaskCache masks_;
  ConstraintStatistics statistics_;
  std::uint64_t next_id_ = 1;
};

inline void sample_all(const std::vector<NamedSchema>& schemas, int times) {
  Sampler sampler(vocabulary_for(schemas));
  for (const NamedSchema& schema : schemas) {
    sampler.sample(schema, times);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(sampler.documents, schemas.size() * static_cast<std::size_t>(times));
  EXPECT_LT(sampler.unread, sampler.documents / 20);
  EXPECT_GT(sampler.cut, sampler.documents / 10) << "too many tokens were allowed";
  EXPECT_LT(sampler.cut, sampler.documents) << "too few tokens were allowed";
}

}  // namespace zerohop
