#include "constrain/constraint_session.h"

#include <gtest/gtest.h>

#include "constrain/constraint_test_kit.h"
#include "constrain/grammar_machine.h"

namespace zerohop {
namespace {

constexpr std::string_view kAlphabet = "abcdef\"{";

struct Bench {
  explicit Bench(std::shared_ptr<const TokenTrie> trie)
      : tokens(std::move(trie)), masks(tokens, 1 << 20) {}

  ConstraintSession session(std::unique_ptr<ConstraintMachine> machine, std::size_t tokens_max) {
    live = std::make_shared<LiveMachine>(std::move(machine), 1);
    return ConstraintSession(
        {.machine = live, .masks = &masks, .tokens_max = tokens_max, .statistics = &statistics});
  }

  std::shared_ptr<const TokenTrie> tokens;
  MaskCache masks;
  ConstraintStatistics statistics;
  std::shared_ptr<LiveMachine> live;
};

// One literal text.
std::unique_ptr<ConstraintMachine> literal(std::string_view text) {
  std::vector<TableMachine::Row> rows(text.size() + 1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    rows[i].next[static_cast<unsigned char>(text[i])] = static_cast<std::uint32_t>(i + 1);
  }
  rows.back().accepting = true;
  return std::make_unique<TableMachine>(std::move(rows));
}

// {"a…"}
std::unique_ptr<ConstraintMachine> quoted() {
  return std::make_unique<TableMachine>(std::vector<TableMachine::Row>{
      {.next = {{'{', 1}}},
      {.next = {{'"', 2}}},
      {.next = {{'a', 2}, {'b', 2}, {'"', 3}}},
      {.next = {{'}', 4}}},
      {.accepting = true},
  });
}

// What a model without a will picks, as the sampler goes about it.
Token pick(ConstraintSession& session, Random& random) {
  const auto width = session.tokens().width();
  for (int tries = 0; tries < 3; ++tries) {
    const auto token = static_cast<Token>(random.below(width));
    if (session.allows(token)) return token;
  }
  const TokenMask mask = session.mask();
  std::vector<Token> legal;
  mask.for_each([&](Token token) { legal.push_back(token); });
  for (int tries = 0; tries < 3 && !legal.empty(); ++tries) {
    const Token token = legal[random.below(legal.size())];
    if (session.allows(token)) return token;
  }
  const std::vector<Token> closing = session.closing_tokens();
  return closing[random.below(closing.size())];
}

TEST(ConstraintSession, AlwaysEndsInTimeWithAnAcceptedTextWhateverIsPicked) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    Bench bench(random_vocabulary(random, kAlphabet));
    auto machine = random_machine(random, kAlphabet);
    const auto check = machine->renew();
    ConstraintSession session = bench.session(std::move(machine), 1000);
    const std::size_t needed = session.tokens_needed().value();
    const std::size_t tokens_max = needed + random.below(10);
    EXPECT_EQ(session.limit_remaining(tokens_max), tokens_max);
    std::string text;
    bool ended = false;
    std::vector<ConstraintSession::Mark> marks;
    while (session.remaining() > 0 && !ended) {
      if (random.chance(0.2)) marks.push_back(session.mark());
      const Token token = pick(session, random);
      ASSERT_TRUE(session.allows(token));
      text += bench.tokens->bytes(token);
      ended = bench.tokens->is_end(token);
      session.accept(token);
      if (random.chance(0.1)) bench.live->trim();
      if (!marks.empty() && random.chance(0.1)) {
        marks.resize(1 + random.below(marks.size()));
        session.rollback(marks.back());
        text = session.text();
        ended = false;
      }
    }
    EXPECT_EQ(text, session.text());
    const MachineState end = step_all(*check, check->start(), text);
    ASSERT_NE(end, kDeadState);
    EXPECT_TRUE(check->accepting(end)) << text;
  }
}

TEST(ConstraintSession, KeepsOnlyTheShortestEndWhenTokensRunOut) {
  Bench bench(vocabulary_of({"aa", "a\"", "\"}"}));
  ConstraintSession session = bench.session(quoted(), 5);
  EXPECT_EQ(session.tokens_needed(), 3u);  // { " "}
  session.accept('{');
  session.accept('"');
  EXPECT_TRUE(session.allows('a'));
  session.accept('a');
  // Two left: an `a` would need `"}` in one token, which there is; an `a"` needs `}`.
  EXPECT_TRUE(session.allows('b'));
  EXPECT_TRUE(session.allows(257));
  session.accept('b');
  EXPECT_FALSE(session.allows('a'));
  EXPECT_FALSE(session.allows('"'));
  EXPECT_EQ(session.closing_tokens(), std::vector<Token>{258});
  session.accept(258);
  EXPECT_TRUE(session.may_end());
  EXPECT_TRUE(session.must_end());
}

// A machine that says "ab" ends its text and then goes on with "acd": it has left out what it
// promised.
std::unique_ptr<ConstraintMachine> forgetful() {
  class Forgetful final : public ConstraintMachine {
   public:
    MachineState start() override { return 1; }
    MachineState step(MachineState state, unsigned char byte) override {
      const bool on = state > 0 && state < 4 && byte == "acd"[state - 1];
      return on ? state + 1 : kDeadState;
    }
    bool accepting(MachineState state) override { return state == 4; }
    std::string shortest_end(MachineState state) override {
      return state == 1 ? "ab" : std::string("acd").substr(state - 1);
    }
    std::size_t shortest_end_bytes(MachineState state) override {
      return shortest_end(state).size();
    }
    std::string forced(MachineState, std::size_t) override { return {}; }
    std::size_t memory_bytes() const override { return 0; }
    std::unique_ptr<ConstraintMachine> renew() const override {
      return std::make_unique<Forgetful>();
    }
  };
  return std::make_unique<Forgetful>();
}

TEST(ConstraintSession, GoesOnWhereItsPlanWasLeftOut) {
  Bench bench(vocabulary_of({}));
  for (const std::size_t tokens_max : {2, 3}) {
    ConstraintSession session = bench.session(forgetful(), tokens_max);
    EXPECT_EQ(session.tokens_needed(), 2u);
    ASSERT_TRUE(session.allows('a'));
    session.accept('a');
    EXPECT_FALSE(session.allows('b'));
    const std::vector<Token> closing = session.closing_tokens();
    ASSERT_FALSE(closing.empty());
    for (const Token token : closing) {
      const auto before = session.mark();
      session.accept(token);  // is legal
      session.rollback(before);
    }
  }
}

TEST(ConstraintSession, SaysAtOnceThatALongTextCannotFit) {
  Bench bench(vocabulary_of({"xxxx"}));
  auto machine = std::move(make_regex_machine("x{100000}")).value();
  int written = 0;
  ConstraintSession session({.machine = std::make_shared<LiveMachine>(std::move(machine), 1),
                             .masks = &bench.masks,
                             .tokenize =
                                 [&](std::string_view part) {
                                   ++written;
                                   return bench.tokens->greedy(part).value();
                                 },
                             .tokens_max = 10});
  EXPECT_EQ(session.tokens_needed_least(), 25'000u);
  EXPECT_EQ(written, 0);
  EXPECT_EQ(bench.session(literal("hello"), 10).tokens_needed_least(), 0u);
}

TEST(ConstraintSession, SaysHowManyTokensTheShortestTextNeeds) {
  Bench bench(vocabulary_of({"hel", "lo"}));
  EXPECT_EQ(bench.session(literal("hello"), 2).tokens_needed(), 2u);
}

TEST(ConstraintSession, SaysThatItsTextCannotBeWritten) {
  std::vector<std::string> bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.emplace_back(1, static_cast<char>(byte));
  bytes[1].clear();
  Bench bench(std::make_shared<TokenTrie>(bytes, std::vector<Token>{}, bytes.size()));
  EXPECT_EQ(bench.session(literal("a\x01"), 10).tokens_needed(), std::nullopt);
}

TEST(ConstraintSession, DraftsForcedTextWithoutWhatALongerTokenCouldSwallow) {
  Bench bench(vocabulary_of({"\"na", "me", "\":", "\": "}));
  // "name": or "name": with a blank
  std::vector<TableMachine::Row> rows(9);
  const std::string_view text = "\"name\":";
  for (std::size_t i = 0; i < text.size(); ++i) {
    rows[i].next[static_cast<unsigned char>(text[i])] = static_cast<std::uint32_t>(i + 1);
  }
  rows[7].next = {{' ', 8}, {'1', 8}};
  rows[8].accepting = true;
  ConstraintSession session = bench.session(std::make_unique<TableMachine>(rows), 20);
  EXPECT_EQ(session.forced_tokens(10), (std::vector<Token>{256, 257}));
  EXPECT_EQ(session.forced_tokens(1), (std::vector<Token>{256}));
}

TEST(ConstraintSession, DraftsAllOfAForcedTextThatEndsThere) {
  Bench bench(vocabulary_of({"hel", "lo", "lo!"}));
  EXPECT_EQ(bench.session(literal("hello"), 20).forced_tokens(10), (std::vector<Token>{256, 257}));
}

TEST(ConstraintSession, GoesBackToAMarkAsIfNothingHadBeen) {
  Bench bench(vocabulary_of({}));
  ConstraintSession session = bench.session(literal("abcd"), 6);
  session.accept('a');
  const auto behind_a = session.mark();
  for (const bool replaced : {false, true}) {
    session.accept('b');
    const auto behind_b = session.mark();
    session.accept('c');
    if (replaced) bench.live->trim();
    session.rollback(behind_b);
    EXPECT_EQ(session.text(), "ab");
    EXPECT_FALSE(session.allows('b'));
    EXPECT_TRUE(session.allows('c'));
    session.rollback(behind_a);
    EXPECT_EQ(session.text(), "a");
    EXPECT_EQ(session.remaining(), 5u);
    EXPECT_FALSE(session.allows('c'));
    EXPECT_TRUE(session.allows('b'));
  }
}

// A draft looks ahead; nobody can tell afterwards.
TEST(ConstraintSession, StaysWhereItIsWhenItDrafts) {
  Bench bench(vocabulary_of({"hel", "lo", "lo!"}));
  for (std::size_t tokens_max = 2; tokens_max < 6; ++tokens_max) {
    ConstraintSession session = bench.session(literal("hello"), tokens_max);
    EXPECT_EQ(session.forced_tokens(10), (std::vector<Token>{256, 257}));
    EXPECT_EQ(session.text(), "");
    EXPECT_EQ(session.remaining(), tokens_max);
    EXPECT_FALSE(session.closed_early());
    EXPECT_TRUE(session.allows(256));
  }
}

TEST(ConstraintSession, DoesNotUseTokensThatJoinToAnotherText) {
  const auto tokens = vocabulary_of({"ab"});
  const Tokenize wrong = [](std::string_view) { return std::vector<Token>{' ', 'a', 'b'}; };
  EXPECT_EQ(write_in_tokens("ab", *tokens, wrong), (std::vector<Token>{256}));
  const Tokenize right = [](std::string_view) { return std::vector<Token>{'a', 'b'}; };
  EXPECT_EQ(write_in_tokens("ab", *tokens, right), (std::vector<Token>{'a', 'b'}));
}

TEST(ConstraintSession, AllowsNoTokenBehindWhichAMissingControlCharacterWouldBeNeeded) {
  std::vector<std::string> bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.emplace_back(1, static_cast<char>(byte));
  bytes[1].clear();
  const auto trie = std::make_shared<TokenTrie>(bytes, std::vector<Token>{}, bytes.size());
  ASSERT_TRUE(trie->covers_bytes().ok());
  ASSERT_FALSE(trie->covers_controls());
  Bench bench(trie);
  ConstraintSession session =
      bench.session(std::make_unique<TableMachine>(std::vector<TableMachine::Row>{
                        {.next = {{'a', 1}, {'b', 2}}}, {.next = {{1, 2}}}, {.accepting = true}}),
                    10);
  EXPECT_FALSE(session.allows('a'));
  EXPECT_TRUE(session.allows('b'));
  EXPECT_FALSE(session.closed_early()) << "more tokens would not help";
}

TEST(ConstraintSession, KnowsWhetherTooFewTokensChangedTheText) {
  Bench bench(vocabulary_of({}));
  ConstraintSession session = bench.session(quoted(), 6);
  session.accept('{');
  session.accept('"');
  const auto early = session.mark();
  session.accept('a');
  session.accept('b');
  EXPECT_FALSE(session.allows('x'));  // never legal
  EXPECT_TRUE(session.allows('"'));
  EXPECT_FALSE(session.closed_early());
  EXPECT_FALSE(session.allows('a'));  // no room for the end behind it
  EXPECT_TRUE(session.closed_early());
  session.accept('"');
  EXPECT_TRUE(session.closed_early());
  session.rollback(early);
  EXPECT_FALSE(session.closed_early());
}

TEST(ConstraintSession, FindsOutOnceForAMachineHowManyTokensItsShortestTextTakes) {
  Bench bench(vocabulary_of({"{\""}));
  auto machine = quoted();
  const auto live = std::make_shared<LiveMachine>(std::move(machine), 1);
  int written = 0;
  const auto session = [&] {
    return ConstraintSession({.machine = live,
                              .masks = &bench.masks,
                              .tokenize =
                                  [&](std::string_view text) {
                                    ++written;
                                    return bench.tokens->greedy(text).value();
                                  },
                              .tokens_max = 10});
  };
  EXPECT_EQ(session().tokens_needed(), 3u);
  EXPECT_EQ(session().tokens_needed(), 3u);
  EXPECT_EQ(written, 1);
}

TEST(TokenTrie, RefusesVocabulariesThatDoNotCoverText) {
  std::vector<std::string> bytes;
  for (int byte = 0; byte < 255; ++byte) bytes.emplace_back(1, static_cast<char>(byte));
  bytes[0xf1].clear();
  const TokenTrie trie(bytes, {}, 300);
  EXPECT_TRUE(trie.covers_bytes().ok());  // 255 is in no text, 0xf1 begins no assigned character
  EXPECT_FALSE(trie.covers_controls());
  EXPECT_TRUE(trie.has_bytes_of("\xf3x") && trie.has_bytes_of(""));
  EXPECT_FALSE(trie.has_bytes_of("x\xf1"));
  bytes['x'] = "xx";
  const auto refused = TokenTrie(bytes, {}, 300).covers_bytes();
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("120"), std::string::npos);
}

TEST(TokenTrie, WritesTextWithItsLongestTokens) {
  const auto trie = vocabulary_of({"ab", "abcd", "bc"});
  EXPECT_EQ(trie->greedy("abcbcd"), (std::vector<Token>{'a' - 'a' + 256, 'c', 258, 'd'}));
  EXPECT_EQ(trie->greedy("abcd"), (std::vector<Token>{257}));
  EXPECT_EQ(trie->greedy(""), std::vector<Token>{});
}

}  // namespace
}  // namespace zerohop
