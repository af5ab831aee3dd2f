// The place inside a models folder where a model is put together, for one process at a time.
//
//   models/.lock         held (flock) while a workspace is open; the kernel frees it at the end
//   models/.work/        cleared on opening and on closing
//   models/NAME.gguf     appears by rename, whole and checked
//
// Move-only; main thread.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "app/known_models.h"
#include "base/file_lock.h"
#include "core/error.h"

namespace zerohop {

class ModelWorkspace {
 public:
  /// Makes the folder if need be and waits for its lock; `say` (may be empty) is told about a wait.
  /// Errors: kModelUnavailable when the folder cannot be written.
  static Result<ModelWorkspace> open(const std::filesystem::path& models_folder,
                                     const std::function<void(const std::string&)>& say);

  ModelWorkspace(ModelWorkspace&& other) noexcept;
  ModelWorkspace& operator=(ModelWorkspace&&) = delete;
  ~ModelWorkspace();

  const std::filesystem::path& folder() const { return folder_; }
  /// Where the model file is to be put together.
  std::filesystem::path staged_file() const { return folder_ / "model.gguf"; }

  /// Checks the staged file's hash against `model`, writes it through to the disk and renames it to
  /// `target`, which is returned. Errors: kModelUnavailable; nothing has changed then.
  Result<std::filesystem::path> install(const KnownModel& model,
                                        const std::filesystem::path& target) const;

 private:
  ModelWorkspace() = default;

  std::filesystem::path folder_;  // empty: not ours
  FileLock lock_;
};

}  // namespace zerohop
