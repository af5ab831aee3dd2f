// The JSON machine under schemas, documents and walks made by chance, against a validator of whole
// values.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "constrain/json_machine_test_kit.h"

namespace zerohop {
namespace {

using KeyOrder = JsonMachineOptions::KeyOrder;
using WhiteSpace = JsonMachineOptions::WhiteSpace;

template <typename List>
const auto& one_of(Random& random, const List& list) {
  return list[random.below(std::size(list))];
}

constexpr const char* kScalars[] = {"null", "true", "false", "0",     "1",     "2",      "1.0",
                                    "-3",   "0.5",  "\"\"",  "\"a\"", "\"b\"", "\"ab\"", "\"aab\""};
constexpr const char* kNames[] = {"a", "b", "ab", "c"};

std::string name_list(Random& random) {
  std::string list;
  for (std::uint64_t i = 1 + random.below(2); i > 0; --i) {
    const std::string name = "\"" + std::string(one_of(random, kNames)) + "\"";
    if (list.find(name) == std::string::npos) list += (list.empty() ? "" : ",") + name;
  }
  return "[" + list + "]";
}

// Schemas of few keywords each, which often contradict each other; depth bounds nesting.
class RandomSchema {
 public:
  explicit RandomSchema(Random& random) : random_(random) {}

  std::string schema(int depth) {
    if (random_.chance(0.06)) return random_.chance(0.8) ? "true" : R"({"$ref":"#"})";
    if (depth == 0) return scalar();
    switch (random_.below(9)) {
      case 0: return combination("anyOf", depth);
      case 1:
        return random_.chance(0.5) ? combination("oneOf", depth) : combination("allOf", depth);
      case 2: return array(depth);
      case 3: return array(depth);
      case 4: return conditional(depth);
      case 5: return scalar();
      default: return object(depth);
    }
  }

 private:
  std::string number() { return std::to_string(random_.below(4)); }

  void add(std::string& keywords, double chance, const std::string& keyword) {
    if (random_.chance(chance)) keywords += (keywords.empty() ? "" : ",") + keyword;
  }

  std::string scalar() {
    switch (random_.below(5)) {
      case 0: {
        std::string values;
        for (std::uint64_t i = 1 + random_.below(4); i > 0; --i) {
          values += (values.empty() ? "" : ",") + std::string(one_of(random_, kScalars));
        }
        return R"({"enum":[)" + values + "]}";
      }
      case 1: {
        std::string keywords = R"("type":"string")";
        add(keywords, 0.3, R"("minLength":)" + number());
        add(keywords, 0.3, R"("maxLength":)" + std::to_string(1 + random_.below(4)));
        add(keywords, 0.3, random_.chance(0.5) ? R"("pattern":"^a*b?")" : R"("pattern":"b$")");
        return "{" + keywords + "}";
      }
      case 2: {
        std::string keywords = random_.chance(0.5) ? R"("type":"integer")" : R"("type":"number")";
        add(keywords, 0.4, R"("minimum":)" + number());
        add(keywords, 0.4, R"("maximum":)" + std::to_string(random_.below(30)));
        add(keywords, 0.2, R"("multipleOf":)" + std::string(random_.chance(0.5) ? "2" : "0.5"));
        return "{" + keywords + "}";
      }
      case 3: return R"({"type":["null","boolean"]})";
      default: return R"({"const":)" + std::string(one_of(random_, kScalars)) + "}";
    }
  }

  std::string combination(const std::string& keyword, int depth) {
    return R"({")" + keyword + R"(":[)" + schema(depth - 1) + "," + schema(depth - 1) + "]}";
  }

  std::string conditional(int depth) {
    if (random_.chance(0.3)) {
      return R"({"not":)" + scalar() + R"(,"type":["array","object","string","number"]})";
    }
    return R"({"if":)" + schema(depth - 1) + R"(,"then":)" + schema(depth - 1) + R"(,"else":)" +
           schema(depth - 1) + "}";
  }

  std::string array(int depth) {
    std::string keywords = R"("type":"array")";
    add(keywords, 0.6, R"("items":)" + (random_.chance(0.1) ? "false" : schema(depth - 1)));
    add(keywords, 0.3, R"("prefixItems":[)" + schema(depth - 1) + "," + schema(depth - 1) + "]");
    add(keywords, 0.2, R"("contains":)" + scalar());
    add(keywords, 0.1, R"("minContains":)" + number());
    add(keywords, 0.1, R"("maxContains":)" + number());
    add(keywords, 0.3, R"("minItems":)" + number());
    add(keywords, 0.3, R"("maxItems":)" + number());
    add(keywords, 0.15, R"("uniqueItems":true)");
    return "{" + keywords + "}";
  }

  std::string object(int depth) {
    std::string keywords = R"("type":"object")";
    std::string properties;
    for (const char* name : kNames) {
      if (random_.chance(0.4)) {
        properties += (properties.empty() ? "\"" : ",\"") + std::string(name) +
                      "\":" + (random_.chance(0.1) ? "false" : schema(depth - 1));
      }
    }
    add(keywords, 0.8, R"("properties":{)" + properties + "}");
    add(keywords, 0.4, R"("required":)" + name_list(random_));
    add(keywords, 0.5,
        R"("additionalProperties":)" + (random_.chance(0.5) ? "false" : schema(depth - 1)));
    add(keywords, 0.2, R"("patternProperties":{"^a":)" + schema(depth - 1) + "}");
    add(keywords, 0.15, R"("propertyNames":{"enum":)" + name_list(random_) + "}");
    add(keywords, 0.2, R"("minProperties":)" + number());
    add(keywords, 0.2, R"("maxProperties":)" + number());
    add(keywords, 0.2, R"("dependentRequired":{"a":)" + name_list(random_) + "}");
    add(keywords, 0.1, R"("dependentSchemas":{"b":)" + schema(depth - 1) + "}");
    add(keywords, 0.1, R"("not":)" + schema(depth - 1));
    return "{" + keywords + "}";
  }

  Random& random_;
};

// Layouts of white space, from none to all that is allowed and some that is not.
class RandomText {
 public:
  RandomText(Random& random, WhiteSpace white) : random_(random), white_(white) {}

  std::string value(int depth) {
    const std::uint64_t kind = depth == 0 ? 0 : random_.below(3);
    if (kind == 0) return one_of(random_, kScalars);
    const bool array = kind == 1;
    std::string text(array ? "[" : "{");
    const std::uint64_t count = random_.below(4);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i > 0) text += "," + white();
      if (!array) text += "\"" + std::string(one_of(random_, kNames)) + "\":" + white();
      text += value(depth - 1);
    }
    return text + (array ? "]" : "}");
  }

 private:
  std::string white() {
    if (white_ == WhiteSpace::kCompact) return "";
    if (white_ == WhiteSpace::kSpaced) return " ";
    return random_.chance(0.5) ? "" : " ";
  }

  Random& random_;
  const WhiteSpace white_;
};

constexpr std::string_view kMutations = "{}[],:\"ab10.-e tn\n";

std::string mutated(Random& random, std::string text) {
  if (text.empty()) return text;
  const std::size_t at = random.below(text.size());
  const char byte = one_of(random, kMutations);
  switch (random.below(3)) {
    case 0: text.erase(at, 1); break;
    case 1: text.insert(at, 1, byte); break;
    default: text[at] = byte;
  }
  return text;
}

// The reader of whole texts has a bound on exponents, the machine has none.
bool readable(std::string_view text) {
  std::size_t digits = 0;
  bool exponent = false;
  for (const char byte : text) {
    const bool digit = byte >= '0' && byte <= '9';
    if (!digit && byte != '+' && byte != '-') exponent = byte == 'e' || byte == 'E';
    digits = digit ? digits + 1 : 0;
    if (exponent && digits > 8) return false;
  }
  return true;
}

// A document by chance from the machine itself.
std::string walked(const JsonMachineCase& each, Random& random, bool looks) {
  ConstraintMachine& machine = *each.machine;
  const auto words = content_words(random, "ab\\u0");
  std::string text;
  MachineState state = machine.start();
  const std::size_t bytes_max = random.below(40);
  while (text.size() < bytes_max) {
    if (looks) {
      check_shortest_end(each, text, state);
      check_forced(each, text, state);
      check_content(each, text, state, words);
      if (testing::Test::HasFatalFailure()) return text;
    }
    std::vector<unsigned char> living = living_bytes(machine, state);
    if (living.empty() || !readable(text + "0")) break;
    // Mostly bytes that lead somewhere else than deeper into strings.
    const auto likely = std::partition(living.begin(), living.end(), [](unsigned char byte) {
      return kMutations.find(static_cast<char>(byte)) != std::string_view::npos;
    });
    if (likely != living.begin() && random.chance(0.95)) living.erase(likely, living.end());
    const unsigned char byte = one_of(random, living);
    text.push_back(static_cast<char>(byte));
    state = machine.step(state, byte);
  }
  return text + machine.shortest_end(state);
}

void compare(const JsonMachineCase& each, const std::string& text, int& right) {
  if (!readable(text)) return;
  const bool wanted = each.right(text);
  right += wanted ? 1 : 0;
  ASSERT_EQ(each.takes(text), wanted) << each.schema << "\n  " << text;
}

// How many texts were right.
int check_schema(const std::string& schema, Random& random) {
  int right = 0;
  for (const WhiteSpace white : {WhiteSpace::kFree, WhiteSpace::kCompact, WhiteSpace::kSpaced}) {
    const KeyOrder order = random.chance(0.5) ? KeyOrder::kAny : KeyOrder::kDeclared;
    const std::uint32_t depth = random.chance(0.3) ? 2 : 100;
    const JsonMachineCase each(schema,
                               {.key_order = order, .white_space = white, .depth_max = depth});
    RandomText texts(random, white);
    for (int i = 0; i < 40; ++i) {
      compare(each, texts.value(3), right);
      if (testing::Test::HasFatalFailure()) return right;
    }
    for (int i = 0; i < 5; ++i) {
      std::string text = walked(each, random, i == 0);
      if (testing::Test::HasFatalFailure()) return right;
      compare(each, text, right);
      for (int times = 0; times < 4; ++times) {
        text = mutated(random, text);
        compare(each, text, right);
      }
      if (testing::Test::HasFatalFailure()) return right;
    }
  }
  return right;
}

TEST(JsonMachineRandom, AgreesWithAValidatorOfWholeValues) {
  constexpr int kRounds = 150;
  Random random(2024);
  int compiled = 0;
  int right = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string schema = RandomSchema(random).schema(3);
    if (std::holds_alternative<SchemaRefusal>(compile_schema(schema))) continue;
    ++compiled;
    right += check_schema(schema, random);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
  EXPECT_GT(compiled, kRounds / 3);
  EXPECT_GT(right, 10 * compiled);
}

}  // namespace
}  // namespace zerohop
