#include "constrain/json_machine.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "constrain/json_machine_test_kit.h"

namespace zerohop {
namespace {

using KeyOrder = JsonMachineOptions::KeyOrder;
using WhiteSpace = JsonMachineOptions::WhiteSpace;

enum class Minimal : bool { kNo, kYes };

// Of how many texts of a case all states are looked at, about.
constexpr double kLooks = 60;

// Looks at every state once, and at some of those one byte behind it.
class StateChecks {
 public:
  explicit StateChecks(const JsonMachineCase& each) : each_(each) {}

  void look(const std::string& text, MachineState state) {
    if (state == kDeadState || !looked_at_.insert(state).second) return;
    check_shortest_end(each_, text, state);
    check_forced(each_, text, state);
    check_content(each_, text, state, words_);
    const std::vector<unsigned char> living = living_bytes(*each_.machine, state);
    for (const unsigned char byte : living) {
      const MachineState next = each_.machine->step(state, byte);
      if (living.size() > kBytesMax && random_.below(living.size()) >= kBytesMax) continue;
      if (!ended_.insert(next).second) continue;
      check_shortest_end(each_, text + static_cast<char>(byte), next);
    }
  }

 private:
  static constexpr std::size_t kBytesMax = 8;

  const JsonMachineCase& each_;
  Random random_{5};
  const std::vector<std::string> words_ = content_words(random_, "abc\\u0");
  std::unordered_set<MachineState> looked_at_;
  std::unordered_set<MachineState> ended_;
};

// Exactly the right ones of `texts` are taken, and on the way to each of them nothing dies and no
// longer end is called the shortest.
void check_texts(const JsonMachineCase& each, const std::vector<std::string>& texts,
                 Minimal minimal = Minimal::kYes) {
  ASSERT_NE(each.machine, nullptr) << each.schema;
  StateChecks checks(each);
  ConstraintMachine& machine = *each.machine;
  Random random(17);
  const double looks = kLooks / static_cast<double>(texts.size());
  int right = 0;
  for (const std::string& text : texts) {
    const bool wanted = each.right(text);
    ASSERT_EQ(each.takes(text), wanted) << each.schema << "\n  " << text;
    right += wanted ? 1 : 0;
    const bool look = random.chance(wanted ? 3 * looks : looks);
    MachineState state = machine.start();
    for (std::size_t i = 0; state != kDeadState; ++i) {
      if (look) checks.look(text.substr(0, i), state);
      if (testing::Test::HasFatalFailure()) return;
      if (wanted && minimal == Minimal::kYes) {
        ASSERT_LE(machine.shortest_end_bytes(state), text.size() - i)
            << each.schema << "\n  " << text << "\n  " << text.substr(i);
      }
      if (i == text.size()) break;
      state = machine.step(state, static_cast<unsigned char>(text[i]));
    }
  }
  EXPECT_GT(right, 0) << each.schema;
  EXPECT_LT(right, static_cast<int>(texts.size())) << each.schema;
}

// All texts of at most `length_max` of the pieces.
std::vector<std::string> all_texts(const std::vector<std::string>& pieces, std::size_t length_max) {
  std::vector<std::string> texts{""};
  std::size_t begin = 0;
  for (std::size_t length = 0; length < length_max; ++length) {
    const std::size_t end = texts.size();
    for (std::size_t i = begin; i < end; ++i) {
      for (const std::string& piece : pieces) texts.push_back(texts[i] + piece);
    }
    begin = end;
  }
  return texts;
}

// All documents of less than `values_max` values with these scalars and names, and many of so many.
std::vector<std::string> all_documents(const std::vector<std::string>& scalars,
                                       const std::vector<std::string>& names,
                                       std::size_t values_max) {
  std::vector<std::vector<std::string>> of(values_max + 1);     // by number of values
  std::vector<std::vector<std::string>> items(values_max + 1);  // what stands between brackets
  std::vector<std::vector<std::string>> members(values_max + 1);
  items[0] = {""};
  members[0] = {""};
  const auto joined = [](const std::string& list, const std::string& next) {
    return list.empty() ? next : list + "," + next;
  };
  for (std::size_t size = 1; size <= values_max; ++size) {
    if (size == 1) of[1] = scalars;
    for (const std::string& list : items[size - 1]) of[size].push_back("[" + list + "]");
    for (const std::string& list : members[size - 1]) of[size].push_back("{" + list + "}");
    for (std::size_t last = 1; last <= size; ++last) {
      for (const std::string& value : of[last]) {
        for (const std::string& list : items[size - last]) {
          items[size].push_back(joined(list, value));
        }
        for (const std::string& list : members[size - last]) {
          for (const std::string& name : names) {
            const std::string key = "\"" + name + "\":";
            members[size].push_back(joined(list, key + value));
          }
        }
      }
    }
  }
  constexpr std::uint64_t kLargestMax = 1500;
  Random random(29);
  std::vector<std::string> all;
  for (const auto& part : of) {
    const bool largest = &part == &of.back() && part.size() > kLargestMax;
    for (const std::string& text : part) {
      if (!largest || random.below(part.size()) < kLargestMax) all.push_back(text);
    }
  }
  return all;
}

std::vector<std::string> letters_of(std::string_view letters) {
  std::vector<std::string> pieces;
  for (const char letter : letters) pieces.emplace_back(1, letter);
  return pieces;
}

// In both orders of keys, as the text stands without white space.
void check_documents(const std::string& schema, const std::vector<std::string>& texts,
                     Minimal minimal = Minimal::kYes) {
  for (const KeyOrder order : {KeyOrder::kDeclared, KeyOrder::kAny}) {
    check_texts(JsonMachineCase(schema, {.key_order = order}), texts, minimal);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// --- Scalars.

TEST(JsonMachine, FollowsLiterals) {
  const auto texts = all_documents({"null", "true", "false", "1", "\"a\""}, {"a"}, 2);
  for (const char* schema : {R"({"type":"null"})", R"({"type":"boolean"})", R"({"const":true})",
                             R"({"enum":[null,false]})", R"({"type":["null","boolean"]})"}) {
    check_documents(schema, texts);
  }
}

TEST(JsonMachine, FollowsNumbers) {
  std::vector<std::string> texts = all_texts(letters_of("-015.e"), 5);
  texts.push_back("null");
  for (const char* schema :
       {R"({"type":"number"})", R"({"type":"integer"})", R"({"type":"integer","minimum":5})",
        R"({"type":"number","minimum":-1,"exclusiveMaximum":1.5})", R"({"multipleOf":0.5})",
        R"({"type":"integer","multipleOf":5,"maximum":50})", R"({"enum":[1,10,0.5]})",
        R"({"type":"number","not":{"type":"integer"}})",
        R"({"anyOf":[{"const":1},{"type":"integer","minimum":100}]})"}) {
    check_texts(JsonMachineCase(schema), texts);
    if (HasFatalFailure()) return;
  }
}

TEST(JsonMachine, FollowsStrings) {
  std::vector<std::string> texts;
  for (const std::string& inside : all_texts(letters_of("ab\"\\u0"), 5))
    texts.push_back("\"" + inside);
  for (const std::string& inside :
       all_texts({"\\u00", "6", "1", "2", "e", "\\ud83d", "\\ude00", "0", "d8"}, 4)) {
    texts.push_back("\"" + inside + "\"");
  }
  for (const std::string& inside :
       all_texts({"\xc3\xa9", "\xe4\xb8", "\xad", "\xf0\x9f\x98\x80", "\xed\xa0", "a"}, 4)) {
    texts.push_back("\"" + inside + "\"");
  }
  for (const char* escape : {"\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "/", "\x7f", "\n", "\\x",
                             "\\u000a", "\\u001f", "\\u007f", "\\u0022"}) {
    texts.push_back("\"" + std::string(escape) + "\"");
  }
  for (const char* schema :
       {R"({"type":"string"})", R"({"type":"string","maxLength":2})",
        R"({"type":"string","minLength":2})", R"({"type":"string","pattern":"^a*b?$"})",
        R"({"type":"string","pattern":"a","minLength":2,"maxLength":4})",
        R"({"enum":["","a","ab","\u00e9","\"","\ud83d\ude00"]})",
        R"({"anyOf":[{"type":"string","maxLength":1},{"type":"string","pattern":"^aa"}]})",
        R"({"type":"string","not":{"enum":["a",""]}})"}) {
    for (const TextCoding coding : {TextCoding::kJsonCanonical, TextCoding::kJsonAny}) {
      check_texts(JsonMachineCase(schema, {.coding = coding}), texts, Minimal::kNo);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(JsonMachine, FollowsFormats) {
  check_texts(JsonMachineCase(R"({"type":"string","format":"date"})"),
              {R"("2024-02-29")", R"("2023-02-29")", R"("2024-02-3")", R"("2024-13-01")", "1"});
  check_texts(JsonMachineCase(R"({"type":"string","format":"ipv4"})"),
              {R"("1.2.3.4")", R"("1.2.3.256")", R"("1.2.3")", R"("127.0.0.1")"});
}

// --- Arrays.

TEST(JsonMachine, FollowsArrays) {
  const auto texts = all_documents({"1", "true", "\"a\""}, {}, 5);
  for (const char* schema :
       {R"({"type":"array","items":{"type":"integer"}})",
        R"({"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":3})",
        R"({"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"items":false})",
        R"({"type":"array","prefixItems":[{"type":"integer"}],"items":{"type":"array",
            "maxItems":1}})",
        R"({"type":"array","prefixItems":[true,false],"minItems":1})",
        R"({"type":"array","items":{"$ref":"#"}})", R"({"type":"array","maxItems":0})",
        R"({"type":["array","boolean"],"minItems":3})"}) {
    check_documents(schema, texts);
    if (HasFatalFailure()) return;
  }
}

TEST(JsonMachine, CountsItems) {
  const auto texts = all_documents({"1", "2", "\"a\""}, {}, 5);
  for (const char* schema :
       {R"({"type":"array","contains":{"const":1},"items":{"enum":[1,2,"a"]}})",
        R"({"type":"array","contains":{"const":1},"minContains":2,"maxContains":2})",
        R"({"type":"array","contains":{"const":1},"maxItems":2})",
        R"({"type":"array","contains":{"const":1},"minContains":0,"maxContains":1,"minItems":2})",
        R"({"type":"array","allOf":[{"contains":{"const":1}},{"contains":{"type":"string"}}],
            "maxItems":3})",
        R"({"type":"array","allOf":[{"contains":{"type":"integer"},"maxContains":2},
            {"contains":{"const":2}}],"minItems":3})",
        R"({"type":"array","not":{"items":{"type":"integer"}}})",
        R"({"type":"array","prefixItems":[{"const":2}],"contains":{"const":1},"maxItems":2})"}) {
    check_documents(schema, texts);
    if (HasFatalFailure()) return;
  }
}

TEST(JsonMachine, KeepsItemsApart) {
  const auto texts = all_documents({"1", "2", "1.0", "10e-1", "\"1\"", "null"}, {}, 4);
  for (const char* schema :
       {R"({"type":"array","uniqueItems":true,"items":{"type":"integer"}})",
        R"({"type":"array","uniqueItems":true,"items":{"enum":[1,2]},"minItems":1})",
        R"({"type":"array","uniqueItems":true,"items":{"type":["number","string","null"]}})",
        R"({"type":"array","uniqueItems":true,"items":{"enum":[1,"1",null]},"minItems":3})",
        R"({"type":"array","uniqueItems":true,"prefixItems":[{"enum":[1,2]},{"enum":[1,2]}],
            "items":false})",
        R"({"anyOf":[{"type":"array","uniqueItems":true,"items":{"enum":[1,2]}},
            {"type":"array","items":{"const":1}}]})"}) {
    check_documents(schema, texts, Minimal::kNo);
    if (HasFatalFailure()) return;
  }
}

TEST(JsonMachine, KeepsStringsApart) {
  std::vector<std::string> texts;
  for (const std::string& list : all_texts({"\"\"", "\"a\"", "\"ab\"", "\"b\"", ","}, 5)) {
    texts.push_back("[" + list + "]");
  }
  for (const char* schema :
       {R"({"type":"array","uniqueItems":true,"items":{"type":"string","maxLength":1}})",
        R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})",
        R"({"type":"array","uniqueItems":true,"items":{"enum":["a","ab"]}})",
        R"({"type":"array","uniqueItems":true,"items":{"enum":["","a","ab"]},"minItems":3})",
        R"({"type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^[ab]$"},
            "minItems":1})"}) {
    check_documents(schema, texts, Minimal::kNo);
    if (HasFatalFailure()) return;
  }
}

// --- Objects.

TEST(JsonMachine, FollowsObjects) {
  const auto texts = all_documents({"1", "\"x\""}, {"a", "b", "ab"}, 4);
  for (const char* schema :
       {R"({"type":"object"})",
        R"({"type":"object","properties":{"a":{"type":"integer"},"b":{}},"required":["b"]})",
        R"({"type":"object","properties":{"b":{"type":"integer"},"a":{}},"required":["b","a"],
            "additionalProperties":false})",
        R"({"type":"object","properties":{"ab":{"type":"string"},"a":{"type":"integer"}},
            "additionalProperties":{"type":"integer"}})",
        R"({"type":"object","additionalProperties":{"type":"integer"},"minProperties":2})",
        R"({"type":"object","properties":{"a":{},"b":{}},"maxProperties":1})",
        R"({"type":"object","properties":{"a":{},"b":{},"ab":{}},"minProperties":2,
            "maxProperties":2,"additionalProperties":false})",
        R"({"type":"object","propertyNames":{"enum":["a","b"]},"minProperties":1})",
        R"({"type":"object","patternProperties":{"^a":{"type":"integer"},"b$":{"type":"string"}}})",
        R"({"type":"object","patternProperties":{"^a":{"type":"integer"}},
            "additionalProperties":false,"minProperties":1})",
        R"({"type":"object","properties":{"a":{"type":"integer"}},"required":["b"]})",
        R"({"type":"object","dependentRequired":{"a":["b"],"b":["ab"]}})",
        R"({"type":"object","properties":{"ab":{},"b":{},"a":{}},"dependentRequired":{"a":["b"]},
            "additionalProperties":false})",
        R"({"type":"object","dependentRequired":{"a":["b"]},"maxProperties":1})",
        R"({"type":"object","properties":{"a":{"$ref":"#"},"b":{"type":"integer"}},
            "additionalProperties":false})"}) {
    check_documents(schema, texts);
    if (HasFatalFailure()) return;
  }
}

TEST(JsonMachine, CountsProperties) {
  const auto texts = all_documents({"1", "2"}, {"a", "b", "ab"}, 4);
  for (const char* schema :
       {R"({"type":"object","not":{"additionalProperties":{"const":1}}})",
        R"({"type":"object","not":{"patternProperties":{"^a":{"const":1}}}})",
        R"({"type":"object","properties":{"a":{"const":1}},"not":{"propertyNames":{"enum":["a",
            "b"]}}})",
        R"({"type":"object","not":{"patternProperties":{"^a":{"const":1}}},"maxProperties":1})",
        R"({"type":"object","not":{"additionalProperties":{"const":1}},"minProperties":2,
            "propertyNames":{"enum":["a","b"]}})"}) {
    check_documents(schema, texts);
    if (HasFatalFailure()) return;
  }
}

TEST(JsonMachine, TellsAlternativesApartLate) {
  const auto texts = all_documents({"1", "\"x\"", "null"}, {"a", "b"}, 4);
  for (const char* schema :
       {R"({"anyOf":[{"type":"object","properties":{"a":{"type":"integer"},"b":{"const":1}},
            "required":["b"]},
                     {"type":"object","properties":{"a":{"type":"string"},"b":{"const":"x"}},
            "required":["b"]}]})",
        R"({"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"array",
            "items":{"type":"string"}},{"type":"integer"}]})",
        R"({"oneOf":[{"properties":{"a":{"type":"integer"}},"required":["a"]},
            {"properties":{"b":{"type":"integer"}},"required":["b"]}],"type":"object"})",
        R"({"type":"object","if":{"properties":{"a":{"const":1}},"required":["a"]},
            "then":{"required":["b"]},"else":{"properties":{"b":false}}})",
        R"({"anyOf":[{"type":"array","prefixItems":[{"type":"array","items":{"const":1}}],
            "items":{"const":1},"minItems":1},
                     {"type":"array","prefixItems":[{"type":"array"}],"items":{"const":"x"},
            "minItems":2}]})",
        R"({"type":"array","items":{"anyOf":[{"type":"array","items":{"const":1}},{"type":"array",
            "items":{"const":null}}]}})",
        R"({"anyOf":[{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"],
            "additionalProperties":false},{"enum":[1,null]}]})",
        R"(true)"}) {
    check_documents(schema, texts);
    if (HasFatalFailure()) return;
  }
}

// --- Layout.

TEST(JsonMachine, AllowsWhiteSpaceAsItsHeaderSays) {
  const std::vector<std::string> inside = all_texts({"[", "]", ",", "1", " ", "\n", "\r", "\t"}, 4);
  std::vector<std::string> texts;
  for (const std::string& text : inside) {
    texts.push_back("[1" + text);
    texts.push_back("[[1],\n" + text);
    texts.push_back(text);
  }
  for (const std::string& text : all_texts({"{", "\"a\"", ":", "1", ",", " ", "\n", "}"}, 5)) {
    texts.push_back("{\"b\":1" + text);
    texts.push_back("{" + text);
  }
  for (const WhiteSpace white : {WhiteSpace::kFree, WhiteSpace::kCompact, WhiteSpace::kSpaced}) {
    for (const std::uint32_t indent : {0U, 2U}) {
      check_texts(JsonMachineCase("true", {.indent_max = indent, .white_space = white}), texts);
      check_texts(JsonMachineCase(
                      R"({"items":{"type":"array","minItems":1},"maxItems":2,"minProperties":2,
            "maxProperties":3})",
                      {.indent_max = indent, .white_space = white}),
                  texts, Minimal::kYes);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(JsonMachine, WritesPrettyDocuments) {
  const JsonMachineCase each(R"({"type":"object","properties":{"list":{"type":"array"}}})");
  EXPECT_TRUE(each.takes("{\n  \"list\": [\n    1,\n    {\n      \"x\": []\n    }\n  ]\n}"));
  EXPECT_TRUE(each.takes("{\r\n\t\"list\": [1, 2]\r\n}"));
  EXPECT_FALSE(each.takes("{\n\n  \"list\": []\n}"));
  EXPECT_FALSE(each.takes(" {}"));
  EXPECT_FALSE(each.takes("{} "));
}

// --- Limits.

TEST(JsonMachine, OpensNoMoreContainersThanItsLimit) {
  const auto texts = all_documents({"1"}, {"a", "b"}, 5);
  for (const char* schema :
       {"true", R"({"type":"object","properties":{"a":{"$ref":"#"},"b":{}},"required":["b"]})",
        R"({"type":"object","properties":{"a":{"$ref":"#"},"b":{"const":1}},"minProperties":1})",
        R"({"anyOf":[{"const":1},{"type":"array","items":{"$ref":"#"},"minItems":1}]})",
        R"({"type":"array","items":{"$ref":"#"},"contains":{"maxItems":0},"maxItems":2,
            "minContains":0,"maxContains":1})",
        R"({"type":"array","prefixItems":[{"$ref":"#"}],"items":{"const":1}})",
        R"({"type":"object","properties":{"a":{"anyOf":[{"type":"array","items":{"type":"array"},
            "minItems":1},{"type":"object","required":["aaaaaaaaaa"]}]}},"required":["a"]})"}) {
    for (const std::uint32_t depth : {1U, 2U, 3U}) {
      for (const KeyOrder order : {KeyOrder::kDeclared, KeyOrder::kAny}) {
        const JsonMachineCase each(schema, {.key_order = order, .depth_max = depth});
        if (std::string(schema).find("aaaaaaaaaa") == std::string::npos) {
          check_texts(each, texts);
        } else if (depth >= 2) {
          StateChecks checks(each);
          const std::string text = R"({"a":[[],1,{}],"c":{}})";
          EXPECT_FALSE(each.takes(text)) << depth;
          const std::string good = R"({"a":{"aaaaaaaaaa":1},"c":{}})";
          EXPECT_TRUE(each.takes(good)) << depth;
          EXPECT_EQ(each.takes(R"({"a":[[]]})"), depth == 3);
          MachineState state = each.machine->start();
          for (std::size_t i = 0; i < good.size(); ++i) {
            checks.look(good.substr(0, i), state);
            state = each.machine->step(state, static_cast<unsigned char>(good[i]));
          }
        }
        if (HasFatalFailure()) return;
      }
    }
  }
}

// --- All together.

// Each line of the file: its machine takes what is to be accepted and nothing that is to be
// rejected; then `look` at both. How many there were.
template <class Look>
int answer_cases(const std::string& path, const Look& look) {
  std::ifstream file(path);
  std::string line;
  int cases = 0;
  while (std::getline(file, line) && !testing::Test::HasFatalFailure()) {
    const auto parsed = parse_json_node(line);
    if (!parsed.ok()) {
      ADD_FAILURE() << line;
      continue;
    }
    ++cases;
    JsonMachineCase each(to_json_text(*parsed->find("schema")), {.key_order = KeyOrder::kAny});
    if (each.machine == nullptr) {
      ADD_FAILURE() << line;
      continue;
    }
    for (const bool wanted : {true, false}) {
      for (const JsonNode& text : parsed->find(wanted ? "accept" : "reject")->items) {
        EXPECT_EQ(each.takes(text.text), wanted) << parsed->find("id")->text << ": " << text.text;
      }
    }
    look(each, *parsed);
  }
  return cases;
}

TEST(JsonMachine, AnswersEveryCaseOfTheCaseList) {
  const auto look = [](JsonMachineCase& each, const JsonNode& parsed) {
    StateChecks checks(each);
    for (const JsonNode& text : parsed.find("accept")->items) {
      MachineState state = each.machine->start();
      for (std::size_t i = 0; i < text.text.size() && state != kDeadState; ++i) {
        checks.look(text.text.substr(0, i), state);
        if (testing::Test::HasFatalFailure()) return;
        state = each.machine->step(state, static_cast<unsigned char>(text.text[i]));
      }
    }
  };
  EXPECT_GE(answer_cases("tests/cases/schema_cases.jsonl", look), 60);
}

// Cases about how documents are written: other spellings of the same value get other answers.
TEST(JsonMachine, AnswersEveryCaseOfTheListOfTexts) {
  const auto nothing_more = [](const JsonMachineCase&, const JsonNode&) {};
  EXPECT_GE(answer_cases("tests/cases/text_cases.jsonl", nothing_more), 17);
}

}  // namespace
}  // namespace zerohop
