// Runs a fuzz target without a fuzzing compiler: first every file of a corpus folder as it is, then
// seeded mutations of them. The same seed gives the same inputs on every machine, so that a failure
// of the tests can be repeated; it is weaker than libFuzzer, which follows coverage.
//
//   TARGET [--runs N] [--seconds N] [--seed N] [--keep FILE] [CORPUS]
//
// --runs counts mutated inputs (default 1000). --seconds goes on for that long instead. The input
// under test is written to --keep before it is run when that is given, so that it survives a crash;
// otherwise a crash names the run, and --seed with --runs brings it back.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;

constexpr std::size_t kInputBytesMax = 1 << 16;

struct Options {
  std::uint64_t runs = 1000;
  std::uint64_t seconds = 0;
  std::uint64_t seed = 1;
  std::string keep;
  std::string corpus;
};

// For the signal handler: which run is under way.
volatile std::sig_atomic_t current_run = 0;
volatile std::sig_atomic_t current_seed = 0;

extern "C" void report_crash(int signal_number) {
  std::fprintf(stderr, "crash (signal %d) in mutated run %d of seed %d\n", signal_number,
               static_cast<int>(current_run), static_cast<int>(current_seed));
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool parse_option(Options& options, std::string_view name, std::string_view text) {
  if (name == "--keep") {
    options.keep = text;
    return true;
  }
  const std::optional<std::uint64_t> value = parse_number(text);
  if (!value) return false;
  if (name == "--runs") {
    options.runs = *value;
  } else if (name == "--seconds") {
    options.seconds = *value;
  } else if (name == "--seed") {
    options.seed = *value;
  } else {
    return false;
  }
  return true;
}

std::optional<Options> parse(const std::vector<std::string_view>& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) {
      options.corpus = words[i];
    } else if (i + 1 >= words.size() || !parse_option(options, words[i], words[i + 1])) {
      return std::nullopt;
    } else {
      ++i;
    }
  }
  return options;
}

// In the order of names, so that a seed means the same everywhere.
std::vector<Input> read_corpus(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  if (!folder.empty() && std::filesystem::is_directory(folder)) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Input> corpus;
  for (const std::filesystem::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return corpus;
}

std::size_t place(zerohop::Random& random, const Input& input) {
  return static_cast<std::size_t>(random.below(input.size() + 1));
}

void insert_bytes(zerohop::Random& random, Input& input) {
  const std::size_t count = 1 + random.below(8);
  Input bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
  input.insert(input.begin() + static_cast<std::ptrdiff_t>(place(random, input)), bytes.begin(),
               bytes.end());
}

// A part of `other` in place of a part of `input`; also repeats parts when both are the same.
void splice(zerohop::Random& random, Input& input, const Input& other) {
  const std::size_t from = place(random, other);
  const std::size_t count = static_cast<std::size_t>(random.below(other.size() - from + 1));
  const Input part(other.begin() + static_cast<std::ptrdiff_t>(from),
                   other.begin() + static_cast<std::ptrdiff_t>(from + count));
  input.insert(input.begin() + static_cast<std::ptrdiff_t>(place(random, input)), part.begin(),
               part.end());
}

void erase(zerohop::Random& random, Input& input) {
  const std::size_t from = place(random, input);
  const std::size_t count = static_cast<std::size_t>(random.below(input.size() - from + 1));
  const auto begin = input.begin() + static_cast<std::ptrdiff_t>(from);
  input.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
}

void mutate_once(zerohop::Random& random, Input& input, const std::vector<Input>& corpus) {
  // Characters that mean something in the formats under test are hit far too seldom by chance.
  static constexpr std::string_view kTelling =
      "{}[]\":,\\ \r\n\t0-+.eE<>/&;=%u\x01\x7f\x80\xc3\xff";
  const std::size_t at = input.empty() ? 0 : static_cast<std::size_t>(random.below(input.size()));
  switch (random.below(6)) {
    case 0:
      if (!input.empty()) input[at] ^= static_cast<std::uint8_t>(1U << random.below(8));
      break;
    case 1:
      if (!input.empty()) {
        input[at] = static_cast<std::uint8_t>(kTelling[random.below(kTelling.size())]);
      }
      break;
    case 2: insert_bytes(random, input); break;
    case 3: erase(random, input); break;
    case 4: splice(random, input, corpus[random.below(corpus.size())]); break;
    default: splice(random, input, Input(input)); break;
  }
}

Input mutated(zerohop::Random& random, const std::vector<Input>& corpus) {
  Input input = corpus[random.below(corpus.size())];
  const std::uint64_t steps = 1 + random.below(6);
  for (std::uint64_t i = 0; i < steps; ++i) mutate_once(random, input, corpus);
  if (input.size() > kInputBytesMax) input.resize(kInputBytesMax);
  return input;
}

void keep(const std::string& path, const Input& input) {
  if (path.empty()) return;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(input.data()),
             static_cast<std::streamsize>(input.size()));
}

std::uint64_t run_mutations(const Options& options, const std::vector<Input>& corpus) {
  const zerohop::SteadyClock clock;
  const zerohop::TimePoint end = clock.now() + std::chrono::seconds(options.seconds);
  zerohop::Random random(options.seed);
  std::uint64_t run = 0;
  while (options.seconds > 0 ? clock.now() < end : run < options.runs) {
    current_run = static_cast<std::sig_atomic_t>(run);
    const Input input = mutated(random, corpus);
    keep(options.keep, input);
    LLVMFuzzerTestOneInput(input.data(), input.size());
    ++run;
  }
  return run;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Options> options = parse({argv + 1, argv + argc});
  if (!options) {
    std::fprintf(stderr, "usage: [--runs N] [--seconds N] [--seed N] [--keep FILE] [CORPUS]\n");
    return 2;
  }
  current_seed = static_cast<std::sig_atomic_t>(options->seed);
  std::signal(SIGABRT, report_crash);
  std::vector<Input> corpus = read_corpus(options->corpus);
  for (const Input& input : corpus) {
    keep(options->keep, input);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  const std::size_t files = corpus.size();
  if (corpus.empty()) corpus.emplace_back();
  const std::uint64_t runs = run_mutations(*options, corpus);
  std::printf("%zu corpus files and %llu mutated inputs passed\n", files,
              static_cast<unsigned long long>(runs));
  return 0;
}
