#include "app/top_screen.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <utility>
#include <vector>

#include "app/json_text.h"
#include "app/print_text.h"

namespace zerohop {
namespace {

namespace json = boost::json;

const json::object& object_at(const json::object& object, std::string_view key) {
  static const json::object kNone;
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_object() ? value->get_object() : kNone;
}

const json::array& entries_at(const json::object& object, std::string_view key) {
  static const json::array kNone;
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_array() ? value->get_array() : kNone;
}

// What clients chose is shown on a terminal: only printable ASCII of it.
std::string harmless(std::string_view text, std::size_t width) {
  std::string shown(text.substr(0, width));
  std::ranges::replace_if(
      shown, [](char c) { return c < 0x20 || c > 0x7e; }, '?');
  shown.resize(width, ' ');
  return shown;
}

std::string bar(double share, std::size_t width) {
  const double part = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
  std::string drawn(static_cast<std::size_t>(part + 0.5), '#');
  drawn.resize(width, '.');
  return "[" + drawn + "]";
}

struct Looks {
  const json::object& now;
  const json::object* before;
};

double rate(const Looks& looks, std::string_view total) {
  if (looks.before == nullptr) return 0;
  const double time =
      (number_at(looks.now, "unix_ms") - number_at(*looks.before, "unix_ms")) / 1000;
  const double grown = number_at(object_at(looks.now, "totals"), total) -
                       number_at(object_at(*looks.before, "totals"), total);
  return time > 0 ? std::max(0.0, grown / time) : 0;
}

std::vector<std::string> head_lines(const Looks& looks) {
  const json::object& now = looks.now;
  const json::object& queue = object_at(now, "queue");
  const json::object& cells = object_at(now, "cells");
  const json::object& cache = object_at(now, "cache");
  const double total = std::max(1.0, number_at(cells, "total"));
  const double held = number_at(cells, "active") + number_at(cells, "cached");
  const double steps = rate(looks, "steps");
  const double busy = rate(looks, "busy_seconds");
  std::vector<std::string> lines;
  lines.push_back(harmless(text_at(now, "instance"), 24) + " " +
                  harmless(text_at(now, "model"), 24) + " " + std::string(text_at(now, "health")));
  lines.push_back(
      print_text("queued %-5.0f prefill %-4.0f decode %-4.0f parked %-4.0f paused %-4.0f",
                 number_at(queue, "queued"), number_at(queue, "prefilling"),
                 number_at(queue, "decoding"), number_at(queue, "parked"),
                 number_at(queue, "paused")) +
      "rung " + std::string(text_at(now, "rung")));
  lines.push_back(
      print_text("output %7.1f tokens/s   prompt %7.0f tokens/s   cached %7.0f tokens/s",
                 rate(looks, "output_tokens"), rate(looks, "prompt_tokens_computed"),
                 rate(looks, "prompt_tokens_cached")));
  lines.push_back(print_text("step %8.1f ms   busy %3.0f %%   threads %.0f   fragmentation %.2f",
                             steps > 0 ? 1000 * busy / steps : 0.0, 100 * std::min(1.0, busy),
                             number_at(object_at(now, "totals"), "threads"),
                             number_at(now, "fragmentation")));
  lines.push_back("cells " + bar(held / total, 30) +
                  print_text(" %3.0f %% of %.0f, active %.0f, cached %.0f", 100 * held / total,
                             number_at(cells, "total"), number_at(cells, "active"),
                             number_at(cells, "cached")));
  lines.push_back("hits  " + bar(number_at(cache, "hit_rate"), 30) +
                  print_text(" %3.0f %%   answered %.0f, refused %.0f",
                             100 * number_at(cache, "hit_rate"),
                             number_at(object_at(now, "totals"), "answered"),
                             number_at(object_at(now, "totals"), "refused")));
  return lines;
}

void add_live(const json::object& now, std::vector<std::string>& lines) {
  lines.push_back("");
  lines.push_back(
      "LIVE                          TENANT       STATE       AGE s  PROMPT CACHED  OUT");
  for (const json::value& entry : entries_at(now, "live")) {
    const json::object* request = entry.if_object();
    if (request == nullptr) continue;
    lines.push_back(
        harmless(text_at(*request, "id"), 29) + " " + harmless(text_at(*request, "tenant"), 12) +
        " " + harmless(text_at(*request, "state"), 10) +
        print_text(" %6.1f  %6.0f %6.0f %4.0f", number_at(*request, "age_ms") / 1000,
                   number_at(*request, "prompt_tokens"), number_at(*request, "cached_tokens"),
                   number_at(*request, "pieces")));
  }
}

void add_refusals(const json::object& now, std::size_t most, std::vector<std::string>& lines) {
  std::vector<std::string> found;
  for (const json::value& entry : entries_at(now, "recent")) {
    const json::object* request = entry.if_object();
    if (request == nullptr || number_at(*request, "status") < 400 || found.size() == most) continue;
    found.push_back(harmless(text_at(*request, "id"), 29) +
                    print_text(" %3.0f ", number_at(*request, "status")) +
                    harmless(text_at(*request, "error"), 18) + " " +
                    harmless(text_at(*request, "message"), 100));
  }
  if (found.empty()) return;
  lines.push_back("");
  lines.push_back("REFUSED                       STATUS AND CAUSE");
  lines.insert(lines.end(), found.begin(), found.end());
}

}  // namespace

Result<std::string> TopScreen::draw(std::string_view body, const ScreenSize& size) {
  constexpr std::size_t kRefusals = 5;
  std::optional<json::object> now = object_in(body);
  if (!now || !now->contains("totals")) {
    return invalid_request("", "this is not what /console/data says");
  }
  std::vector<std::string> lines = head_lines({*now, before_ ? &*before_ : nullptr});
  add_live(*now, lines);
  add_refusals(*now, kRefusals, lines);
  if (lines.size() > size.rows) lines.resize(size.rows);
  std::string screen;
  for (std::string& line : lines) {
    line.resize(std::min(line.size(), size.columns));
    while (line.ends_with(' ')) line.pop_back();
    screen += line + "\n";
  }
  before_ = std::move(now);
  return screen;
}

}  // namespace zerohop
