// The folder in which a converted model is kept, with the note that says what it is and why it was
// chosen: one folder for each source file, below the user's cache folder.
//
//   prepared/smollm2-135m-91c40b1f2a3d5e77/     named by the path of the source
//     lock                  held (flock) while somebody measures; the kernel frees it
//     q8_0.gguf.part        a conversion under way; cleared by the next one that holds the lock
//     q8_0.gguf             appears by rename, whole and on the disk
//     4be1c5…e9.json        a decision for one key: machine, library, threads, rule
//
// A decision that was measured while something else disturbed the machine is used, and replaced by
// the next start's; after three attempts the last one stays.
//
// A decision that the original is best has no file. A decision counts only while everything in its
// key is the same, and its file only while size and checksum are: a damaged one is as good as none.
//
// At start, the main thread. The lock is between processes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "app/model_preparation.h"
#include "base/clock.h"
#include "base/file_lock.h"
#include "core/error.h"

namespace zerohop {

struct PrepareDecision {
  std::string key;      ///< all that the decision depends on; see prepare_key() in model_prepare.h
  std::string subject;  ///< source file and library; what has another one is swept away
  WeightType type = WeightType::kOriginal;
  std::string source_type;  ///< such as "Q4_1"; a note for people, decides nothing
  std::string reason;
  std::vector<PrepareCandidate> candidates;
  std::uint32_t attempts = 1;    ///< of which this one is the last
  std::uint64_t file_bytes = 0;  ///< of the converted file; 0 for kOriginal
  std::uint64_t file_checksum = 0;
};

/// Whether it holds for good: it was measured on a machine that nothing disturbed, or no attempt of
/// some was luckier.
bool is_settled(const PrepareDecision& decision);

/// One JSON object.
std::string decision_text(const PrepareDecision& decision);
/// Nothing when the text is damaged or of another version of this program.
std::optional<PrepareDecision> parse_decision(std::string_view text);

/// How a second process waits for the first.
struct PrepareWait {
  const Clock& clock;
  Duration limit{std::chrono::seconds(60)};
  std::function<void()> pause;                         ///< between two tries
  std::function<void(const std::string& line)> say{};  ///< is told about a wait; may be empty
};

class PrepareFolder {
 public:
  /// Nothing is made yet. `below` is the user's cache folder.
  PrepareFolder(const std::filesystem::path& below, const std::filesystem::path& source);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file_of(WeightType type) const;
  /// Where a conversion to `type` is written before it is kept.
  std::filesystem::path part_of(WeightType type) const;

  /// The decision under `key`, if it is whole and its file agrees with it.
  std::optional<PrepareDecision> find(const std::string& key) const;
  /// Whether there is a decision under `key`, be it damaged.
  bool noted(const std::string& key) const;

  /// Makes the folder and waits for its lock; what a killed process left there is removed. While
  /// the lock lives, no other process prepares the same source. Errors: kInternal (cannot be
  /// written, or the wait was too long).
  Result<FileLock> lock(const PrepareWait& wait) const;

  /// Under the lock: gives the part of `decision.type` its name and notes the decision, with the
  /// file's size and checksum. Decisions on another subject go, and files that no decision names.
  /// Errors: kInternal (a full disk, say); no half file is left.
  Result<PrepareDecision> keep(PrepareDecision decision) const;

  /// Under the lock: removes the parts.
  void clear_parts() const;

 private:
  std::filesystem::path note_of(const std::string& key) const;
  void sweep(const std::string& subject) const;

  const std::filesystem::path path_;
};

}  // namespace zerohop
