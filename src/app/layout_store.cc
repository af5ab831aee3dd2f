#include "app/layout_store.h"

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "app/engine_setup.h"
#include "app/json_text.h"
#include "app/machine.h"
#include "app/text_hash.h"
#include "app/whole_file.h"
#include "base/log.h"
#include "model/llama_backend.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

// A choice is some 300 bytes; something else under its name must not fill the memory.
constexpr std::uintmax_t kTextBytesMax = 1 << 20;

constexpr std::array kLayouts{KvLayout::kUnified, KvLayout::kStreams};
constexpr std::array kAttentions{FlashAttention::kAuto, FlashAttention::kOn, FlashAttention::kOff};

std::optional<KvLayoutChoiceReport> load(const fs::path& file, const std::string& key) {
  const std::optional<std::string> text = read_whole(file, kTextBytesMax);
  return text ? parse_layout(*text, key) : std::nullopt;
}

void store(const fs::path& file, const std::string& text) {
  std::error_code fault;
  fs::create_directories(file.parent_path(), fault);
  if (!fault) fault = write_whole(file, {text}, Durable::kNo);
  if (fault) {
    log_warning("layout not stored", {{"file", file.string()}, {"reason", fault.message()}});
  }
}

template <class Value, std::size_t kCount>
std::optional<Value> named(std::string_view name, const std::array<Value, kCount>& values,
                           std::string_view (*name_of)(Value)) {
  const auto found = std::ranges::find(values, name, name_of);
  if (found == values.end()) return std::nullopt;
  return *found;
}

// On a busy machine the time may run out before both were; the next start tries again then. Where
// there was time, what was not measured cannot be.
bool is_final(const KvLayoutChoiceReport& report) {
  if (report.measured && !report.out_of_time) return true;
  const auto measured = [&report](KvLayout layout) {
    return std::ranges::any_of(report.candidates, [layout](const LayoutFigures& figures) {
      return figures.measured && figures.layout == layout;
    });
  };
  return measured(KvLayout::kUnified) && measured(KvLayout::kStreams);
}

}  // namespace

bool measures_layout(const EngineConfig& config) {
  return config.kv_layout == KvLayoutChoice::kAuto && !config.deterministic;
}

std::string layout_text(const KvLayoutChoiceReport& report, const std::string& key) {
  return json::serialize(
      json::object{{"key", key},
                   {"kv_layout", kv_layout_name(report.layout)},
                   {"flash_attention", flash_attention_name(report.flash_attention)},
                   {"reason", report.reason}});
}

std::optional<KvLayoutChoiceReport> parse_layout(const std::string& text, const std::string& key) {
  boost::system::error_code fault;
  const json::value parsed = json::parse(text, fault);
  const json::object* object = fault ? nullptr : parsed.if_object();
  if (object == nullptr || text_at(*object, "key") != key) return std::nullopt;
  KvLayoutChoiceReport report;
  const auto layout = named(text_at(*object, "kv_layout"), kLayouts, kv_layout_name);
  const auto attention =
      named(text_at(*object, "flash_attention"), kAttentions, flash_attention_name);
  if (!layout || !attention) return std::nullopt;
  report.layout = *layout;
  report.flash_attention = *attention;
  report.measured = true;
  report.reason = text_at(*object, "reason");
  return report;
}

KvLayoutChoiceReport layout_for(const Model& model, const EngineConfig& config, const Clock& clock,
                                const fs::path& folder) {
  const ContextOptions options = context_options(config, model.info());
  const std::string machine = processor_name() + "|" + std::string(llama_library_version());
  const std::string key = layout_choice_key(model.info(), options, machine);
  const fs::path file =
      folder.empty() ? fs::path() : folder / ("layout-" + std::to_string(text_hash(key)) + ".json");
  if (!file.empty()) {
    if (auto stored = load(file, key)) {
      log_info("layout", {{"reason", stored->reason}, {"measured", "earlier"}});
      return *std::move(stored);
    }
  }
  LayoutProbe probe;
  probe.clock = &clock;
  KvLayoutChoiceReport report = measure_layouts(model, options, probe);
  log_info("layout", {{"reason", report.reason},
                      {"measured", report.measured ? "now" : "not"},
                      {"spent_ms", std::to_string(static_cast<int>(report.spent_ms))}});
  if (is_final(report) && !file.empty()) store(file, layout_text(report, key));
  return report;
}

}  // namespace zerohop
