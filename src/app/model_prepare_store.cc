#include "app/model_prepare_store.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cmath>
#include <set>
#include <system_error>
#include <utility>

#include "app/json_text.h"
#include "app/sha256.h"
#include "app/text_hash.h"
#include "app/whole_file.h"
#include "base/file_sync.h"
#include "base/hex.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

// Of the decision files; another number means that the fields mean something else.
constexpr std::string_view kFormat = "zerohop-prepare-2";

// On a quiet machine two timings of the same steps differ by a few hundredths.
constexpr double kDisturbanceMax = 0.2;
// Each costs a start some seconds, and some machines are never quiet.
constexpr std::uint32_t kAttemptsMax = 3;

Error cannot(const fs::path& path, const std::string& why) {
  return Error{ErrorCode::kInternal, path.string() + ": " + why, "", {}};
}

// JSON numbers are doubles to many readers; 64 bits need more.
std::optional<std::uint64_t> from_hex(std::string_view text) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (text.empty() || parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

// ---- Decisions as text ----

json::object speed_object(const ModelSpeed& speed) {
  return {{"prefill", speed.prefill}, {"batch", speed.batch}, {"single", speed.single}};
}

json::object candidate_object(const PrepareCandidate& candidate) {
  const ModelDivergence& divergence = candidate.figures.divergence;
  return {{"type", weight_type_name(candidate.type)},
          {"fault", candidate.fault},
          {"tokens", divergence.tokens},
          {"kl_mean", divergence.kl_mean},
          {"kl_max", divergence.kl_max},
          {"same_first", divergence.same_first},
          {"perplexity_original", divergence.perplexity_original},
          {"perplexity", divergence.perplexity},
          {"disturbance", candidate.figures.disturbance},
          {"original_speed", speed_object(candidate.figures.original)},
          {"speed", speed_object(candidate.figures.converted)}};
}

// Not finite, negative or missing: 0, which stands for "not measured".
double figure_at(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  boost::system::error_code fault;
  const double number = value == nullptr ? 0 : value->to_number<double>(fault);
  return fault || !std::isfinite(number) || number < 0 ? 0 : number;
}

ModelSpeed parse_speed(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  const json::object* speed = value == nullptr ? nullptr : value->if_object();
  if (speed == nullptr) return {};
  return {figure_at(*speed, "prefill"), figure_at(*speed, "batch"), figure_at(*speed, "single")};
}

std::optional<PrepareCandidate> parse_candidate(const json::value& value) {
  const json::object* object = value.if_object();
  if (object == nullptr) return std::nullopt;
  const std::optional<WeightType> type = weight_type_named(text_at(*object, "type"));
  if (!type) return std::nullopt;
  PrepareCandidate candidate;
  candidate.type = *type;
  candidate.fault = text_at(*object, "fault");
  ModelDivergence& divergence = candidate.figures.divergence;
  divergence.tokens = static_cast<std::uint32_t>(std::min(figure_at(*object, "tokens"), 1e9));
  divergence.kl_mean = figure_at(*object, "kl_mean");
  divergence.kl_max = figure_at(*object, "kl_max");
  divergence.same_first = figure_at(*object, "same_first");
  divergence.perplexity_original = figure_at(*object, "perplexity_original");
  divergence.perplexity = figure_at(*object, "perplexity");
  candidate.figures.disturbance = figure_at(*object, "disturbance");
  candidate.figures.original = parse_speed(*object, "original_speed");
  candidate.figures.converted = parse_speed(*object, "speed");
  return candidate;
}

// ---- Files ----

// A decision is some 2 kB; something else under its name must not fill the memory.
constexpr std::uintmax_t kNoteBytesMax = 1 << 20;

std::string lower_case(std::string_view name) {
  std::string out;
  for (const char c : name) out.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
  return out;
}

// A file name of bytes that every shell and file system takes.
std::string plain_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.';
    out.push_back(plain ? c : '_');
  }
  constexpr std::size_t kNameBytesMax = 64;
  return out.substr(0, kNameBytesMax);
}

fs::path folder_of(const fs::path& below, const fs::path& source) {
  std::error_code fault;
  const fs::path whole = fs::weakly_canonical(source, fault);
  const fs::path named = fault ? source : whole;
  return below / "prepared" /
         (plain_name(named.stem().string()) + "-" + hex_of_number(text_hash(named.string())));
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code fault;
  for (fs::directory_iterator at(folder, fault), end; !fault && at != end; at.increment(fault)) {
    files.push_back(at->path());
  }
  return files;
}

}  // namespace

bool is_settled(const PrepareDecision& decision) {
  const auto disturbed = [](const PrepareCandidate& candidate) {
    return candidate.figures.disturbance > kDisturbanceMax;
  };
  return decision.attempts >= kAttemptsMax || std::ranges::none_of(decision.candidates, disturbed);
}

std::string decision_text(const PrepareDecision& decision) {
  json::array candidates;
  for (const PrepareCandidate& candidate : decision.candidates) {
    candidates.push_back(candidate_object(candidate));
  }
  return json::serialize(json::object{{"format", kFormat},
                                      {"key", decision.key},
                                      {"subject", decision.subject},
                                      {"type", weight_type_name(decision.type)},
                                      {"source_type", decision.source_type},
                                      {"reason", decision.reason},
                                      {"attempts", decision.attempts},
                                      {"file_bytes", hex_of_number(decision.file_bytes)},
                                      {"file_checksum", hex_of_number(decision.file_checksum)},
                                      {"candidates", std::move(candidates)}});
}

std::optional<PrepareDecision> parse_decision(std::string_view text) {
  boost::system::error_code fault;
  const json::value parsed = json::parse(json::string_view(text.data(), text.size()), fault);
  const json::object* object = fault ? nullptr : parsed.if_object();
  if (object == nullptr || text_at(*object, "format") != kFormat) return std::nullopt;
  const std::optional<WeightType> type = weight_type_named(text_at(*object, "type"));
  const auto bytes = from_hex(text_at(*object, "file_bytes"));
  const auto sum = from_hex(text_at(*object, "file_checksum"));
  if (!type || !bytes || !sum) return std::nullopt;
  PrepareDecision decision;
  decision.key = text_at(*object, "key");
  decision.subject = text_at(*object, "subject");
  decision.type = *type;
  decision.source_type = text_at(*object, "source_type");
  decision.reason = text_at(*object, "reason");
  decision.attempts = static_cast<std::uint32_t>(std::min(figure_at(*object, "attempts"), 1e9));
  decision.file_bytes = *bytes;
  decision.file_checksum = *sum;
  const json::value* list = object->if_contains("candidates");
  if (list == nullptr || !list->is_array()) return std::nullopt;
  for (const json::value& value : list->get_array()) {
    std::optional<PrepareCandidate> candidate = parse_candidate(value);
    if (!candidate) return std::nullopt;
    decision.candidates.push_back(*std::move(candidate));
  }
  return decision;
}

PrepareFolder::PrepareFolder(const fs::path& below, const fs::path& source)
    : path_(folder_of(below, source)) {}

fs::path PrepareFolder::file_of(WeightType type) const {
  return path_ / (lower_case(weight_type_name(type)) + ".gguf");
}

fs::path PrepareFolder::part_of(WeightType type) const {
  return path_ / (lower_case(weight_type_name(type)) + ".gguf.part");
}

fs::path PrepareFolder::note_of(const std::string& key) const {
  return path_ / (hex_of_number(text_hash(key)) + ".json");
}

std::optional<PrepareDecision> PrepareFolder::find(const std::string& key) const {
  const std::optional<std::string> text = read_whole(note_of(key), kNoteBytesMax);
  if (!text) return std::nullopt;
  std::optional<PrepareDecision> decision = parse_decision(*text);
  if (!decision || decision->key != key) return std::nullopt;
  if (decision->type == WeightType::kOriginal) return decision;
  const fs::path file = file_of(decision->type);
  std::error_code fault;
  const bool same_size = fs::file_size(file, fault) == decision->file_bytes && !fault;
  if (same_size && whole_file_checksum(file.string()) == decision->file_checksum) return decision;
  return std::nullopt;
}

bool PrepareFolder::noted(const std::string& key) const {
  std::error_code fault;
  return fs::exists(note_of(key), fault);
}

Result<FileLock> PrepareFolder::lock(const PrepareWait& wait) const {
  std::error_code fault;
  fs::create_directories(path_, fault);
  if (fault) return cannot(path_, fault.message());
  const fs::path file = path_ / "lock";
  FileLock held;
  fault = held.open(file, 0644);
  if (fault) return cannot(file, fault.message());
  const TimePoint deadline = wait.clock.now() + wait.limit;
  bool told = false;
  while ((fault = held.try_lock())) {
    if (fault != std::errc::operation_would_block) return cannot(file, fault.message());
    if (wait.clock.now() >= deadline) {
      return cannot(file, "another zerohop has held it for too long");
    }
    if (!std::exchange(told, true) && wait.say) {
      wait.say("another zerohop is preparing this model; waiting for it");
    }
    wait.pause();
  }
  clear_parts();
  return held;
}

void PrepareFolder::clear_parts() const {
  std::error_code ignored;
  for (const fs::path& file : files_in(path_)) {
    if (file.extension() == ".part") fs::remove(file, ignored);
  }
}

Result<PrepareDecision> PrepareFolder::keep(PrepareDecision decision) const {
  if (decision.type != WeightType::kOriginal) {
    const fs::path part = part_of(decision.type);
    std::error_code fault;
    decision.file_bytes = fs::file_size(part, fault);
    const auto sum = whole_file_checksum(part.string());
    if (fault || !sum) return cannot(part, "cannot be read");
    decision.file_checksum = *sum;
    fs::rename(part, file_of(decision.type), fault);
    if (fault) return cannot(file_of(decision.type), fault.message());
  }
  clear_parts();
  const fs::path note = note_of(decision.key);
  const std::error_code fault = write_whole(note, {decision_text(decision)}, Durable::kYes);
  sweep(decision.subject);
  // The entries of the folder must be on the disk too, or a power cut undoes a rename.
  (void)sync_to_disk(path_);
  if (fault) return cannot(note, fault.message());
  return decision;
}

void PrepareFolder::sweep(const std::string& subject) const {
  std::error_code ignored;
  std::set<fs::path> named;
  for (const fs::path& file : files_in(path_)) {
    if (file.extension() != ".json") continue;
    const std::optional<std::string> text = read_whole(file, kNoteBytesMax);
    const auto decision = text ? parse_decision(*text) : std::nullopt;
    if (decision && decision->subject == subject) {
      if (decision->type != WeightType::kOriginal) named.insert(file_of(decision->type));
    } else {
      fs::remove(file, ignored);
    }
  }
  for (const fs::path& file : files_in(path_)) {
    if (file.extension() == ".gguf" && !named.contains(file)) fs::remove(file, ignored);
  }
}

}  // namespace zerohop
