#include "cache/reuse_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "base/random.h"

namespace zerohop {
namespace {

PieceFacts piece(std::uint64_t number) {
  PieceFacts facts;
  // Spread like real ids: the history goes by their bits. 0 has none.
  facts.id = number == 0 ? 0 : piece_id(number, 0, 0);
  facts.tokens = 512;
  return facts;
}

// A cache of pieces of one size in front of the model: what a prompt of one piece costs it.
class PieceCache {
 public:
  explicit PieceCache(std::size_t capacity) : capacity_(capacity) {}

  // True when it was there.
  bool use(const PieceFacts& like) {
    model_.advance();
    const auto found = pieces_.find(like.id);
    if (found != pieces_.end()) {
      model_.learn_used(found->second);
      ++found->second.uses;
      found->second.gap = model_.now() - found->second.last_used_at;
      found->second.last_used_at = model_.now();
      return true;
    }
    PieceFacts facts = like;
    facts.created_at = facts.last_used_at = model_.now();
    model_.recall(facts);
    model_.note(facts);
    pieces_.emplace(facts.id, facts);
    if (pieces_.size() > capacity_) drop_one();
    return false;
  }

  ReuseModel& model() { return model_; }

 private:
  void drop_one() {
    const auto worst =
        std::min_element(pieces_.begin(), pieces_.end(), [&](const auto& a, const auto& b) {
          return model_.value(a.second) < model_.value(b.second);
        });
    pieces_.erase(worst);
  }

  const std::size_t capacity_;
  ReuseModel model_;
  std::map<std::uint64_t, PieceFacts> pieces_;
};

// The same for plain recency.
class RecentPieces {
 public:
  explicit RecentPieces(std::size_t capacity) : capacity_(capacity) {}

  bool use(std::uint64_t id) {
    const auto found = std::find(ids_.begin(), ids_.end(), id);
    const bool hit = found != ids_.end();
    if (hit) ids_.erase(found);
    ids_.push_back(id);
    if (ids_.size() > capacity_) ids_.erase(ids_.begin());
    return hit;
  }

 private:
  const std::size_t capacity_;
  std::vector<std::uint64_t> ids_;
};

struct Hits {
  int ours = 0;
  int recent = 0;
};

Hits compare(std::size_t capacity, int lookups, const std::function<PieceFacts(int)>& next) {
  PieceCache cache(capacity);
  RecentPieces recent(capacity);
  Hits hits;
  for (int i = 0; i < lookups; ++i) {
    const PieceFacts facts = next(i);
    if (cache.use(facts)) ++hits.ours;
    if (recent.use(facts.id)) ++hits.recent;
  }
  return hits;
}

TEST(ReuseModel, KnowsNothingAtFirstAndGoesByRecency) {
  ReuseModel model;
  PieceFacts old = piece(1);
  for (int i = 0; i < 50; ++i) model.advance();
  PieceFacts young = piece(2);
  young.last_used_at = model.now();
  EXPECT_GT(model.value(young), model.value(old));
  old.last_used_at = model.now() - 1;
  EXPECT_GT(model.value(young), model.value(old));
}

TEST(ReuseModel, GoesByRecencyForPiecesWithoutAnId) {
  ReuseModel model;
  for (int i = 0; i < 50; ++i) model.advance();
  PieceFacts old = piece(0);
  old.uses = 9;
  old.last_used_at = 10;
  PieceFacts young = piece(0);
  young.last_used_at = 20;
  model.learn_used(old);
  EXPECT_GT(model.value(young), model.value(old));
}

TEST(ReuseModel, RemembersAPieceThatWasDropped) {
  ReuseModel model;
  PieceFacts facts = piece(77);
  facts.uses = 3;
  EXPECT_EQ(model.recall(facts), 0u);
  model.note(facts);
  model.learn_used(facts);
  ++facts.uses;
  for (int i = 0; i < 100; ++i) model.advance();
  PieceFacts again = piece(77);
  again.tokens = 1;
  EXPECT_EQ(model.recall(again), 512u);
  EXPECT_EQ(again.uses, 5u);
  EXPECT_EQ(again.gap, 100u);
}

TEST(ReuseModel, IsMuchBetterThanRecencyWhereScansPassThrough) {
  // Every fourth prompt is one of 30 that come back. 40 pieces fit: all of these, or by recency a
  // third of them.
  Random random(3);
  const Hits hits = compare(40, 9000, [&](int i) {
    return piece(i % 4 == 0 ? 1 + random.below(30) : std::uint64_t{1000} + i);
  });
  EXPECT_GT(hits.ours, 1.5 * hits.recent);
}

TEST(ReuseModel, IsAsGoodAsRecencyWhereRecencyIsRight) {
  // The same few prompts for a while, then others: what was used last is what is used next.
  Random random(4);
  const Hits hits = compare(30, 9000, [&](int i) {
    const auto base = static_cast<std::uint64_t>(i / 10) + 1;
    return piece(base + static_cast<std::uint64_t>(random.uniform() * random.uniform() * 60));
  });
  EXPECT_GE(hits.ours, 0.99 * hits.recent);
}

TEST(ReuseModel, IsNoWorseThanRecencyUnderACyclicLoad) {
  const Hits hits =
      compare(50, 9000, [](int i) { return piece(1 + static_cast<std::uint64_t>(i % 60)); });
  EXPECT_GE(hits.ours, hits.recent);
}

TEST(ReuseModel, LearnsThatLongAnswersComeBack) {
  Random random(5);
  PieceCache cache(200);
  std::uint64_t unseen = 1000;
  for (int i = 0; i < 6000; ++i) {
    PieceFacts facts = piece(++unseen);
    facts.answer_tokens = 8;
    if (random.chance(0.5)) {
      facts.id = piece(1 + random.below(300)).id;
      facts.answer_tokens = 600;
    }
    cache.use(facts);
  }
  PieceFacts brief = piece(1);
  brief.answer_tokens = 8;
  brief.last_used_at = cache.model().now() - 20;
  PieceFacts lengthy = brief;
  lengthy.answer_tokens = 600;
  EXPECT_GT(cache.model().value(lengthy), 2 * cache.model().value(brief));
}

TEST(ReuseModel, FollowsALoadThatChanges) {
  // First the prompts with short answers come back, later those with long ones.
  Random random(6);
  PieceCache cache(100);
  std::uint64_t unseen = 1000;
  const auto value = [&](std::uint32_t answer_tokens) {
    PieceFacts facts = piece(1);
    facts.answer_tokens = answer_tokens;
    facts.last_used_at = cache.model().now() - 20;
    return cache.model().value(facts);
  };
  const auto play = [&](std::uint32_t returning, std::uint32_t passing, int lookups) {
    for (int i = 0; i < lookups; ++i) {
      PieceFacts facts = piece(++unseen);
      facts.answer_tokens = passing;
      if (random.chance(0.5)) {
        facts.id = piece(returning + random.below(150)).id;
        facts.answer_tokens = returning;
      }
      cache.use(facts);
    }
  };
  play(8, 600, 6000);
  EXPECT_GT(value(8), value(600));
  play(600, 8, 30'000);
  EXPECT_GT(value(600), value(8));
}

TEST(ReuseModel, UrgentRequestsPiecesAreWorthMore) {
  ReuseModel model;
  PieceFacts facts = piece(1);
  facts.priority = PriorityClass::kBatch;
  const double batch = model.value(facts);
  facts.priority = PriorityClass::kStandard;
  const double standard = model.value(facts);
  facts.priority = PriorityClass::kPriority;
  EXPECT_LT(batch, standard);
  EXPECT_LT(standard, model.value(facts));
}

TEST(ReuseModel, SurvivesExtremeFacts) {
  ReuseModel model;
  PieceFacts facts;
  facts.id = ~std::uint64_t{0};
  facts.tokens = facts.begin = facts.uses = facts.answer_tokens = ~std::uint32_t{0};
  for (int i = 0; i < 1000; ++i) {
    model.advance();
    facts.last_used_at = i % 2 == 0 ? model.now() : 0;
    model.recall(facts);
    model.learn_used(facts);
    model.note(facts);
    facts.uses = ~std::uint32_t{0};
    ASSERT_GE(model.value(facts), 0);
  }
}

TEST(PieceId, DependsOnWhatIsAboveOnThePlaceAndOnTheToken) {
  EXPECT_EQ(piece_id(5, 10, 3), piece_id(5, 10, 3));
  EXPECT_NE(piece_id(5, 10, 3), piece_id(6, 10, 3));
  EXPECT_NE(piece_id(5, 10, 3), piece_id(5, 11, 3));
  EXPECT_NE(piece_id(5, 10, 3), piece_id(5, 10, 4));
  EXPECT_NE(piece_id(0, 0, 0), 0u);
}

TEST(ReuseHistory, TheLongestUnusedOfASetMakesRoom) {
  ReuseHistory history;
  // Ids that differ only below the bits that choose a set.
  for (std::uint64_t i = 1; i <= ReuseHistory::kWays; ++i) {
    SeenPiece& place = history.place_for(i);
    EXPECT_EQ(place.id, 0u);
    place = {.id = i, .last_used_at = i == 3 ? 1 : 100 + i};
  }
  EXPECT_EQ(history.place_for(50).id, 3u);
  EXPECT_EQ(history.find(50), nullptr);
  ASSERT_NE(history.find(2), nullptr);
  EXPECT_EQ(history.find(2)->last_used_at, 102u);
}

}  // namespace
}  // namespace zerohop
