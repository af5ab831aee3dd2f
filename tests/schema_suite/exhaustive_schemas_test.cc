// All small schemas over a tiny alphabet, with all short texts: a byte and a token are allowed
// exactly when the text can still become a document that is valid, by a validator that shares
// nothing with the engine (naive_validator.h).
//
// Schemas: every keyword over every atom, and pairs of these under allOf, anyOf, oneOf and if, at
// even distances. Texts: every document of at most three values, and every text that leaves the
// beginning of one of them by one letter. Both directions are proved by a document at hand:
//
//   allowed      the machine names a shortest end; with it the text is a valid document
//   not allowed  no valid document of the list begins like that
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/random.h"
#include "constrain/constraint_test_kit.h"
#include "constrain/json_machine.h"
#include "constrain/mask_cache.h"
#include "constrain/schema_compiler.h"
#include "naive_validator.h"

namespace zerohop {
namespace {

constexpr std::string_view kLetters = "[]{}\",:ab01";
constexpr std::size_t kPairDistance = 13;

// ---- Schemas ----

std::vector<std::string> atoms() {
  return {"true",
          R"({"type":"integer"})",
          R"({"type":"string"})",
          R"({"type":"array"})",
          R"({"type":"object"})",
          R"({"const":0})",
          R"({"const":"a"})",
          R"({"const":{"a":0}})",
          R"({"enum":[1,"",[]]})",
          R"({"minimum":1})",
          R"({"maxLength":0})",
          R"({"pattern":"^a"})"};
}

std::vector<std::string> schemas_of_one_keyword() {
  std::vector<std::string> all = atoms();
  for (const std::string& atom : atoms()) {
    for (const char* keyword :
         {"not", "items", "contains", "additionalProperties", "propertyNames"}) {
      all.push_back("{\"" + std::string(keyword) + "\":" + atom + "}");
    }
    all.push_back(R"({"prefixItems":[)" + atom + "]}");
    all.push_back(R"({"prefixItems":[)" + atom + R"(],"items":false})");
    all.push_back(R"({"properties":{"a":)" + atom + "}}");
    all.push_back(R"({"properties":{"a":)" + atom + R"(},"additionalProperties":false})");
    all.push_back(R"({"patternProperties":{"^a":)" + atom + "}}");
  }
  for (const char* schema :
       {R"({"required":["a"]})", R"({"minItems":1})", R"({"maxItems":1})", R"({"minProperties":1})",
        R"({"maxProperties":1})", R"({"minLength":1})", R"({"dependentRequired":{"a":["b"]}})",
        R"({"dependentSchemas":{"a":{"maxProperties":1}}})",
        R"({"type":"array","items":{"type":"integer"},"uniqueItems":true})"}) {
    all.emplace_back(schema);
  }
  return all;
}

std::vector<std::string> schemas_of_two() {
  const std::vector<std::string> ones = schemas_of_one_keyword();
  std::vector<std::string> all;
  for (std::size_t i = 0; i < ones.size() * ones.size(); i += kPairDistance) {
    const std::string& first = ones[i / ones.size()];
    const std::string& second = ones[i % ones.size()];
    switch (all.size() % 4) {
      case 0: all.push_back(R"({"allOf":[)" + first + "," + second + "]}"); break;
      case 1: all.push_back(R"({"anyOf":[)" + first + "," + second + "]}"); break;
      case 2: all.push_back(R"({"oneOf":[)" + first + "," + second + "]}"); break;
      default:
        all.push_back(R"({"if":)" + first + R"(,"then":)" + second + R"(,"else":{"not":)" + second +
                      "}}");
    }
  }
  return all;
}

// ---- Documents ----

// Of at most `values_max` values, names repeated as well.
std::vector<std::string> documents(std::size_t values_max) {
  std::vector<std::vector<std::string>> of(values_max + 1);  // by number of values
  std::vector<std::vector<std::string>> items(values_max + 1);
  std::vector<std::vector<std::string>> members(values_max + 1);
  items[0] = members[0] = {""};
  const auto behind = [](const std::string& list) { return list.empty() ? "" : list + ","; };
  std::vector<std::string> all;
  for (std::size_t size = 1; size <= values_max; ++size) {
    if (size == 1) of[1] = {"0", "1", "\"\"", "\"a\"", "\"b\""};
    for (const std::string& list : items[size - 1]) of[size].push_back("[" + list + "]");
    for (const std::string& list : members[size - 1]) of[size].push_back("{" + list + "}");
    for (std::size_t last = 1; last <= size; ++last) {
      for (const std::string& value : of[last]) {
        for (const auto& list : items[size - last]) items[size].push_back(behind(list) + value);
        for (const auto& list : members[size - last]) {
          for (const char* name : {"\"a\":", "\"b\":"}) {
            members[size].push_back(behind(list) + name + value);
          }
        }
      }
    }
    all.insert(all.end(), of[size].begin(), of[size].end());
  }
  return all;
}

// All beginnings of the documents; which ones begin a valid document is another question for each
// schema.
struct Beginnings {
  struct Node {
    std::map<char, std::size_t> next;
    std::string text;
  };
  std::vector<Node> nodes{1};
  std::vector<std::string> texts;
  std::vector<JsonNode> values;                 // of texts
  std::vector<std::vector<std::size_t>> paths;  // likewise: the nodes from the first letter on

  explicit Beginnings(const std::vector<std::string>& documents) {
    for (const std::string& text : documents) {
      auto value = parse_json_node(text);
      std::vector<std::size_t> path;
      std::size_t node = 0;
      for (const char letter : text) {
        const auto [found, added] = nodes[node].next.try_emplace(letter, nodes.size());
        const std::size_t child = found->second;
        if (added) nodes.push_back({{}, nodes[node].text + letter});
        path.push_back(node = child);
      }
      if (!value.ok()) continue;  // a name twice
      texts.push_back(text);
      values.push_back(std::move(value).value());
      paths.push_back(std::move(path));
    }
  }
};

const Beginnings& beginnings() {
  static const Beginnings all(documents(3));
  return all;
}

// ---- One schema ----

class SchemaCheck {
 public:
  SchemaCheck(const std::string& text, ConstraintMachine& machine)
      : text_(text), schema_(parse_json_node(text).value()), machine_(machine) {
    const Beginnings& all = beginnings();
    alive_.assign(all.nodes.size(), false);
    for (std::size_t i = 0; i < all.texts.size(); ++i) {
      const bool valid = NaiveValidator::accepts(schema_, all.values[i]);
      EXPECT_EQ(accepts(machine_, all.texts[i]), valid) << text_ << "\n  " << all.texts[i];
      if (!valid) continue;
      ++valid_;
      alive_[0] = true;
      for (const std::size_t node : all.paths[i]) alive_[node] = true;
    }
  }

  /// Documents of the list that are valid.
  std::size_t valid() const { return valid_; }

  /// Each letter behind each beginning that the machine follows.
  void check_letters() {
    const Beginnings& all = beginnings();
    std::vector<MachineState> states(all.nodes.size(), kDeadState);
    states[0] = machine_.start();
    check_end("", states[0]);
    for (std::size_t node = 0; node < all.nodes.size(); ++node) {
      if (states[node] == kDeadState) continue;
      live_.push_back(node);
      for (const char letter : kLetters) {
        const MachineState next = machine_.step(states[node], static_cast<unsigned char>(letter));
        const auto child = all.nodes[node].next.find(letter);
        const bool known = child != all.nodes[node].next.end();
        if (known) states[child->second] = next;
        if (next != kDeadState) {
          check_end(all.nodes[node].text + letter, next);
        } else if (known) {
          ASSERT_FALSE(alive_[child->second]) << text_ << "\n  " << all.nodes[child->second].text;
        }
        if (testing::Test::HasFatalFailure()) return;
      }
    }
    states_ = std::move(states);
  }

  /// Each token behind some of them.
  void check_tokens(MaskCache& masks, std::uint64_t id, Random& random) {
    for (int times = 0; times < 2 && !live_.empty(); ++times) {
      const std::size_t node = live_[random.below(live_.size())];
      const TokenMask mask = masks.mask(machine_, id, states_[node]);
      const TokenTrie& tokens = masks.tokens();
      for (std::size_t i = 0; i < tokens.tokens(); ++i) {
        const auto token = static_cast<Token>(i);
        const std::string_view bytes = tokens.bytes(token);
        if (bytes.find_first_not_of(kLetters) != bytes.npos || bytes.empty()) continue;
        const std::string text = beginnings().nodes[node].text + std::string(bytes);
        if (mask.allows(token)) {
          const MachineState behind = step_all(machine_, states_[node], bytes);
          ASSERT_NE(behind, kDeadState) << text_ << "\n  " << text;
          check_end(text, behind);
        } else {
          ASSERT_FALSE(begins_valid(text)) << text_ << "\n  " << text;
        }
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }

 private:
  // What the machine says would end it is a valid document; asked once for each of its states.
  void check_end(const std::string& text, MachineState state) {
    if (!looked_at_.insert(state).second) return;
    const std::string whole = text + machine_.shortest_end(state);
    const auto value = parse_json_node(whole);
    ASSERT_TRUE(value.ok()) << text_ << "\n  " << text << "\n  " << whole;
    ASSERT_TRUE(NaiveValidator::accepts(schema_, *value)) << text_ << "\n  " << whole;
  }

  bool begins_valid(std::string_view text) const {
    std::size_t node = 0;
    for (const char letter : text) {
      const auto next = beginnings().nodes[node].next.find(letter);
      if (next == beginnings().nodes[node].next.end()) return false;
      node = next->second;
    }
    return alive_[node];
  }

  const std::string text_;
  const JsonNode schema_;
  ConstraintMachine& machine_;
  std::vector<bool> alive_;  // of beginnings: some valid document begins so
  std::size_t valid_ = 0;
  std::vector<std::size_t> live_;  // beginnings that the machine follows
  std::vector<MachineState> states_;
  std::set<MachineState> looked_at_;
};

// Two and three letters; single bytes come with the vocabulary.
std::shared_ptr<const TokenTrie> tokens_of_letters() {
  std::vector<std::string> words;
  for (const char first : kLetters) {
    for (const char second : kLetters) {
      words.push_back({first, second});
      for (const char third : kLetters) words.push_back({first, second, third});
    }
  }
  return vocabulary_of(words);
}

struct Tally {
  std::size_t followed = 0;
  std::size_t nothing = 0;  // satisfies them
  std::size_t refused = 0;
};

void check_all(const std::vector<std::string>& schemas, Tally& tally) {
  MaskCache masks(tokens_of_letters(), std::size_t{8} << 20);
  Random random(41);
  std::uint64_t id = 0;
  for (const std::string& text : schemas) {
    const CompiledSchema compiled = compile_schema(text);
    if (const auto* refusal = std::get_if<SchemaRefusal>(&compiled)) {
      const bool empty = refusal->kind == SchemaRefusal::Kind::kUnsatisfiable;
      ++(empty ? tally.nothing : tally.refused);
      const JsonNode schema = parse_json_node(text).value();
      for (std::size_t i = 0; empty && i < beginnings().texts.size(); ++i) {
        ASSERT_FALSE(NaiveValidator::accepts(schema, beginnings().values[i]))
            << text << "\n  " << beginnings().texts[i];
      }
      continue;
    }
    ++tally.followed;
    const auto machine =
        make_json_machine(std::get<std::shared_ptr<const SchemaForm>>(compiled),
                          {.key_order = JsonMachineOptions::KeyOrder::kAny,
                           .white_space = JsonMachineOptions::WhiteSpace::kCompact});
    SchemaCheck check(text, *machine);
    check.check_letters();
    if (!testing::Test::HasFatalFailure()) check.check_tokens(masks, ++id, random);
    if (testing::Test::HasFailure()) FAIL() << text;
  }
}

TEST(ExhaustiveSchemas, AllowAByteOrATokenExactlyWhereADocumentCanStillFollow) {
  EXPECT_GT(beginnings().texts.size(), 200u);
  Tally tally;
  check_all(schemas_of_one_keyword(), tally);
  EXPECT_LE(tally.refused, 4u);
  EXPECT_GT(tally.followed, 130u);
}

TEST(ExhaustiveSchemas, DoSoWhereTwoSchemasMeet) {
  Tally tally;
  check_all(schemas_of_two(), tally);
  EXPECT_LE(tally.refused, tally.followed / 20);
  EXPECT_GT(tally.followed, 1'000u);
  EXPECT_GT(tally.nothing, 10u);
}

}  // namespace
}  // namespace zerohop
