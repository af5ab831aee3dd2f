#include "app/model_workspace.h"

#include <system_error>
#include <utility>

#include "app/file_hash.h"
#include "base/file_sync.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;

Error cannot_write(const fs::path& path, const std::error_code& fault) {
  return Error{ErrorCode::kModelUnavailable,
               "cannot write " + path.string() + ": " + fault.message(),
               {},
               {}};
}

}  // namespace

Result<ModelWorkspace> ModelWorkspace::open(const fs::path& models_folder,
                                            const std::function<void(const std::string&)>& say) {
  std::error_code fault;
  fs::create_directories(models_folder, fault);
  if (fault) return cannot_write(models_folder, fault);
  const fs::path lock_path = models_folder / ".lock";
  ModelWorkspace workspace;
  fault = workspace.lock_.open(lock_path, 0644);
  if (fault) return cannot_write(lock_path, fault);
  if (workspace.lock_.try_lock()) {
    if (say) say("another zerohop is pulling a model; waiting for it");
    fault = workspace.lock_.lock();
    if (fault) return cannot_write(lock_path, fault);
  }
  // Only now is the work folder ours: what lies there was left by a process that is gone.
  workspace.folder_ = models_folder / ".work";
  fs::remove_all(workspace.folder_, fault);
  fs::create_directories(workspace.folder_, fault);
  if (fault) return cannot_write(workspace.folder_, fault);
  return workspace;
}

ModelWorkspace::ModelWorkspace(ModelWorkspace&& other) noexcept
    : folder_(std::exchange(other.folder_, {})), lock_(std::move(other.lock_)) {}

// The lock goes last.
ModelWorkspace::~ModelWorkspace() {
  std::error_code ignored;  // the next one clears it
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

Result<fs::path> ModelWorkspace::install(const KnownModel& model, const fs::path& target) const {
  ZH_ASSIGN_OR_RETURN(const std::string hash, file_sha256(staged_file()));
  if (hash != model.sha256) {
    return Error{ErrorCode::kModelUnavailable,
                 std::string(model.name) + ": the file's SHA-256 is " + hash + ", expected " +
                     std::string(model.sha256) + "; nothing was installed",
                 {},
                 {}};
  }
  std::error_code fault = sync_to_disk(staged_file());
  if (fault) return cannot_write(target, fault);
  fs::permissions(staged_file(), fs::perms(0644), fault);
  fs::rename(staged_file(), target, fault);
  if (fault) return cannot_write(target, fault);
  return target;
}

}  // namespace zerohop
