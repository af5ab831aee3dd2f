#include "app/layout_store.h"

#include <gtest/gtest.h>

#include "app/test_folder.h"
#include "model/fake_model.h"

namespace zerohop {
namespace {

EngineConfig small_config() {
  EngineConfig config;
  config.context_tokens = 512;
  config.sequences = 2;
  return config;
}

TEST(LayoutStore, GivesBackWhatWasStoredUnderTheSameKey) {
  KvLayoutChoiceReport report;
  report.layout = KvLayout::kStreams;
  report.flash_attention = FlashAttention::kOff;
  report.reason = "streams \"win\"";
  const auto again = parse_layout(layout_text(report, "k"), "k");
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->layout, KvLayout::kStreams);
  EXPECT_EQ(again->flash_attention, FlashAttention::kOff);
  EXPECT_EQ(again->reason, report.reason);
  EXPECT_TRUE(again->measured);
  EXPECT_FALSE(parse_layout(layout_text(report, "k"), "other").has_value());
}

TEST(LayoutStore, TakesNoDamagedText) {
  for (const char* bad : {"", "[]", "{", R"({"key":"k"})",
                          R"({"key":"k","kv_layout":"cubes","flash_attention":"on"})",
                          R"({"key":"k","kv_layout":"streams","flash_attention":1})"}) {
    EXPECT_FALSE(parse_layout(bad, "k").has_value()) << bad;
  }
}

TEST(LayoutStore, MeasuresOnlyWhereTheChoiceIsLeftToIt) {
  EngineConfig config;
  EXPECT_TRUE(measures_layout(config));
  config.deterministic = true;
  EXPECT_FALSE(measures_layout(config));
  config.deterministic = false;
  config.kv_layout = KvLayoutChoice::kStreams;
  EXPECT_FALSE(measures_layout(config));
}

TEST(LayoutStore, KeepsAMeasurementForTheNextStart) {
  const TestFolder folder;
  const auto model = make_fake_model({});
  const SteadyClock clock;
  const EngineConfig config = small_config();
  const KvLayoutChoiceReport first = layout_for(*model, config, clock, folder.path());
  const KvLayoutChoiceReport second = layout_for(*model, config, clock, folder.path());
  ASSERT_TRUE(first.measured);
  EXPECT_EQ(second.layout, first.layout);
  EXPECT_EQ(second.reason, first.reason);
  EXPECT_EQ(second.spent_ms, 0) << "was measured again";
}

// Streams need more memory than there is, say.
class PoolOnlyModel final : public Model {
 public:
  const ModelInfo& info() const override { return model_->info(); }
  const Tokenizer& tokenizer() const override { return model_->tokenizer(); }
  const ChatTemplate& chat_template() const override { return model_->chat_template(); }
  Result<std::unique_ptr<ModelContext>> make_context(const ContextOptions& options) const override {
    if (options.layout == KvLayout::kUnified) return model_->make_context(options);
    return Error{ErrorCode::kConfiguration, "no memory", "", {}};
  }

 private:
  const std::unique_ptr<Model> model_ = make_fake_model({});
};

TEST(LayoutStore, KeepsAMeasurementWhereOneLayoutCannotBe) {
  const TestFolder folder;
  const PoolOnlyModel model;
  const VirtualClock clock;  // time enough
  const EngineConfig config = small_config();
  const KvLayoutChoiceReport first = layout_for(model, config, clock, folder.path());
  ASSERT_TRUE(first.measured);
  EXPECT_NE(first.reason.find("cannot be measured"), std::string::npos) << first.reason;
  EXPECT_EQ(first.reason, layout_for(PoolOnlyModel(), config, clock, folder.path()).reason);
  EXPECT_FALSE(std::filesystem::is_empty(folder.path())) << "the next start would measure again";
}

TEST(LayoutStore, MeasuresAgainWhereTheTimeRanOut) {
  const TestFolder folder;
  VirtualClock clock;
  FakeModelOptions slow;
  slow.clock = &clock;
  slow.cost.base = std::chrono::milliseconds(400);
  const auto model = make_fake_model(slow);
  ASSERT_TRUE(layout_for(*model, small_config(), clock, folder.path()).out_of_time);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(LayoutStore, LeavesNothingBesideAPlaceThatItCannotWrite) {
  const TestFolder folder;
  const auto model = make_fake_model({});
  const SteadyClock clock;
  const EngineConfig config = small_config();
  ASSERT_TRUE(layout_for(*model, config, clock, folder.path()).measured);
  std::filesystem::path file;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) file = entry.path();
  ASSERT_FALSE(file.empty());
  std::filesystem::remove(file);
  std::filesystem::create_directories(file / "in the way");
  EXPECT_TRUE(layout_for(*model, config, clock, folder.path()).measured);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_EQ(entry.path(), file);
  }
}

}  // namespace
}  // namespace zerohop
