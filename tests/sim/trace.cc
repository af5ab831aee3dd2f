#include "trace.h"

#include <utility>

#include "base/random.h"

namespace zerohop {
namespace {

constexpr std::size_t kLinesKept = 80;

}  // namespace

void Trace::add(std::string line) {
  for (const char character : line) {
    hash_ = mix64(hash_ ^ static_cast<unsigned char>(character));
  }
  last_.push_back(std::move(line));
  if (last_.size() > kLinesKept) last_.pop_front();
}

void Trace::fail(std::string what) {
  if (failed()) return;
  failure_ = std::move(what);
  add("FAILED: " + failure_);
}

std::string Trace::report() const {
  std::string text = "seed " + std::to_string(seed_) + ": " +
                     (failed() ? failure_ : std::string("no rule was broken")) + "\n";
  for (const std::string& line : last_) text.append("  ").append(line).append("\n");
  text.append("Replay: ./dev sim ").append(std::to_string(seed_)).append("\n");
  return text;
}

}  // namespace zerohop
