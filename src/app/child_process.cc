#include "app/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>
#include <system_error>

#include "app/environment.h"
#include "base/check.h"
#include "base/clock.h"

namespace zerohop {
namespace {

std::string system_message(int code) { return std::generic_category().message(code); }

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return Error{ErrorCode::kInternal, "no pipe: " + system_message(errno), {}, {}};
  }
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

// A file without a name that holds `text`: a child may read it at its own pace, and nobody has to
// feed it.
Result<FileDescriptor> make_input(const std::string& text) {
  FileDescriptor file(text.empty() ? open("/dev/null", O_RDONLY | O_CLOEXEC)
                                   : memfd_create("input", MFD_CLOEXEC));
  std::size_t written = 0;
  while (file.get() >= 0 && written < text.size()) {
    const ssize_t count = write(file.get(), text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    written += static_cast<std::size_t>(count);
  }
  if (file.get() < 0 || written < text.size() || lseek(file.get(), 0, SEEK_SET) < 0) {
    if (!text.empty()) {
      return Error{ErrorCode::kInternal, "no input file: " + system_message(errno), {}, {}};
    }
  }
  return file;
}

// argv or envp: pointers into `texts`, closed by a null.
std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

std::vector<std::string> child_environment(const ChildCommand& command) {
  Environment variables = process_environment();
  for (const auto& [name, value] : command.environment) variables[name] = value;
  std::vector<std::string> lines;
  for (const auto& [name, value] : variables) lines.push_back(name + "=" + value);
  return lines;
}

// A server ignores SIGPIPE and may block others; a child starts with the usual reactions.
void use_default_signals(posix_spawnattr_t& attributes) {
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

struct ChildFiles {
  int input;
  int output;
};

Result<pid_t> start(const ChildCommand& command, ChildFiles files) {
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = child_environment(command);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, files.input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, files.output, STDOUT_FILENO);
  if (command.errors == ChildErrors::kWithOutput) {
    posix_spawn_file_actions_adddup2(&actions, files.output, STDERR_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  use_default_signals(attributes);
  pid_t child = 0;
  const int fault = posix_spawnp(&child, arguments.front().c_str(), &actions, &attributes,
                                 pointers(arguments).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (fault == 0) return child;
  const ErrorCode code = fault == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInternal;
  return Error{code, arguments.front() + ": " + system_message(fault), {}, {}};
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

class Watcher {
 public:
  Watcher(const ChildCommand& command, pid_t child, int output)
      : command_(command), child_(child), output_(output) {}

  ChildExit watch() {
    // The end of output usually means the end of the child, but a grandchild may keep the pipe
    // open: so both are watched.
    bool open = true;
    while (open && !ended()) {
      pollfd waiting{output_, POLLIN, 0};
      const int ready = poll(&waiting, 1, static_cast<int>(command_.tick.count()));
      if (ready > 0) open = read_some();
      if (command_.on_tick) command_.on_tick();
      if (must_die()) {
        kill(child_, SIGKILL);
        break;
      }
    }
    if (!status_) reap(0);
    if (open && !overflowed_) read_rest();
    if (command_.on_tick) command_.on_tick();  // however fast the child was, its end is seen
    return {code_of(*status_), std::move(text_), timed_out_, overflowed_};
  }

 private:
  bool must_die() {
    timed_out_ = command_.time_limit && clock_.now() - begin_ > *command_.time_limit;
    return timed_out_ || overflowed_;
  }

  bool ended() {
    if (!status_) reap(WNOHANG);
    return status_.has_value();
  }

  void reap(int options) {
    int status = 0;
    pid_t got = 0;
    do {
      got = waitpid(child_, &status, options);
    } while (got < 0 && errno == EINTR);
    ZH_CHECK(got >= 0);
    if (got == child_) status_ = status;
  }

  bool read_some() {
    char buffer[4096];
    const ssize_t count = read(output_, buffer, sizeof buffer);
    if (count < 0) return errno == EINTR || errno == EAGAIN;
    text_.append(buffer, static_cast<std::size_t>(count));
    if (text_.size() > command_.output_bytes_max) {
      overflowed_ = command_.overflow == ChildOverflow::kKill;
      text_.erase(0, text_.size() - command_.output_bytes_max);
    }
    return count > 0;
  }

  // What the ended child had written and we have not read yet.
  void read_rest() {
    pollfd waiting{output_, POLLIN, 0};
    while (poll(&waiting, 1, 0) > 0 && read_some()) {
    }
  }

  // A process of the system runs in the system's time.
  const SteadyClock clock_;
  const TimePoint begin_ = clock_.now();
  const ChildCommand& command_;
  const pid_t child_;
  const int output_;
  std::optional<int> status_;
  std::string text_;
  bool timed_out_ = false;
  bool overflowed_ = false;
};

}  // namespace

Result<ChildExit> run_child(const ChildCommand& command) {
  ZH_CHECK(!command.arguments.empty());
  ZH_ASSIGN_OR_RETURN(Pipe pipe, make_pipe());
  ZH_ASSIGN_OR_RETURN(const FileDescriptor input, make_input(command.input));
  ZH_ASSIGN_OR_RETURN(const pid_t child, start(command, {input.get(), pipe.write_end.get()}));
  pipe.write_end = FileDescriptor();
  if (command.memory_bytes_max != 0) {
    const rlimit limit{command.memory_bytes_max, command.memory_bytes_max};
    prlimit(child, RLIMIT_AS, &limit, nullptr);
  }
  return Watcher(command, child, pipe.read_end.get()).watch();
}

std::string last_line(const std::string& output) {
  const std::size_t end = output.find_last_not_of(" \t\r\n");
  if (end == output.npos) return {};
  const std::size_t before = output.find_last_of("\r\n", end);
  return output.substr(before == output.npos ? 0 : before + 1,
                       end - (before == output.npos ? 0 : before + 1) + 1);
}

}  // namespace zerohop
