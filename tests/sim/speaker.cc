#include "speaker.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <string_view>

namespace zerohop {
namespace {

namespace json = boost::json;

// Half characters across token borders, pieces of the fake vocabulary, names of control tokens.
constexpr std::array<std::string_view, 16> kWords{"the ",         "Paris",
                                                  " is",          " and ",
                                                  "caf\xc3\xa9 ", "\xf0\x9f\x98\x80",
                                                  "STOP",         "END",
                                                  "\n",           "why? ",
                                                  "<|im_end|>",   "one two ",
                                                  "\"quoted\" ",  "a\\b ",
                                                  "user\n",       "\xe6\x97\xa5\xe6\x9c\xac"};

// Shared by many speakers, so that prefixes meet.
constexpr std::array<std::string_view, 3> kSystems{
    "", "Answer briefly.", "You are a careful assistant. Cite the source of every claim."};

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 128; });
}

}  // namespace

Speaker::Speaker(const WorldOptions& options, const Oracle& oracle, Random& random)
    : options_(options),
      oracle_(oracle),
      random_(random),
      system_(kSystems[random.below(kSystems.size())]) {
  turns_.push_back({"user", "Tell me: " + words(1 + random_.below(10))});
}

std::string Speaker::words(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += kWords[random_.below(kWords.size())];
  return text;
}

// A string, or the same text in one or two blocks.
json::value Speaker::content(const std::string& text) {
  if (text.size() < 2 || random_.chance(0.5)) return json::value(text);
  json::array blocks;
  const auto add = [&](std::string_view part) {
    json::object block{{"type", "text"}, {"text", part}};
    if (random_.chance(0.3)) block["cache_control"] = json::object{{"type", "ephemeral"}};
    blocks.emplace_back(std::move(block));
  };
  const std::size_t cut = text.find(' ');
  if (cut == std::string::npos || random_.chance(0.5)) {
    add(text);
  } else {
    add(std::string_view(text).substr(0, cut));
    add(std::string_view(text).substr(cut));
  }
  return blocks;
}

json::array Speaker::messages(std::string& prefill) {
  json::array list;
  for (const Turn& turn : turns_) {
    list.emplace_back(json::object{{"role", turn.role}, {"content", content(turn.text)}});
  }
  if (random_.chance(0.15)) {
    prefill = "Well, " + std::string(kWords[random_.below(4)]);
    list.emplace_back(json::object{{"role", "assistant"}, {"content", prefill}});
  }
  return list;
}

void Speaker::add_limits(json::object& body) {
  const std::uint64_t kind = random_.below(20);
  if (kind == 0) {
    body["max_tokens"] = 0;
  } else if (kind == 1) {
    body["max_tokens"] = nullptr;
  } else {
    body["max_tokens"] = 1 + random_.below(kind < 12 ? 30 : 200);
  }
  if (random_.chance(0.6)) {
    body["temperature"] = 0;
    return;
  }
  // Chance must come from the request, or nobody could say what the right answer is.
  body["temperature"] = 0.5 + random_.uniform();
  body["seed"] = random_.below(1'000'000);
  if (random_.chance(0.3)) body["top_p"] = 0.9;
  if (random_.chance(0.3)) body["top_k"] = 1 + random_.below(20);
}

// Taken from what the model is going to say: some match, some begin at its end and are still open
// when it is over, some never begin.
void Speaker::add_stops(json::object& body) {
  const auto answer = oracle_.answer(json::serialize(body));
  json::array stops;
  if (answer && !answer->text.empty()) {
    const std::size_t begin = random_.below(answer->text.size());
    const std::string stop = answer->text.substr(begin, 1 + random_.below(6));
    if (is_ascii(stop) && random_.chance(0.7)) stops.emplace_back(stop);
    const std::size_t open = std::min<std::size_t>(answer->text.size(), 1 + random_.below(3));
    const std::string tail = answer->text.substr(answer->text.size() - open);
    if (is_ascii(tail) && random_.chance(0.3)) stops.emplace_back(tail + "\n\n");
  }
  if (random_.chance(0.5)) stops.emplace_back("\n\nHuman:");
  if (random_.chance(0.3)) stops.emplace_back("STOP");
  if (!stops.empty()) body["stop_sequences"] = std::move(stops);
}

// One of the ways in which clients get it wrong.
void Speaker::spoil(std::string& body) {
  json::object object = json::parse(body).as_object();
  switch (random_.below(9)) {
    case 0: body.resize(1 + random_.below(body.size() - 1)); return;
    case 1: body.insert(body.size() / 2, "\xff\xfe"); return;
    case 2: body = "[" + body + "]"; return;
    case 3: object["messages"] = json::array(); break;
    case 4: object["messages"].as_array()[0].as_object()["role"] = "robot"; break;
    case 5: object["max_tokens"] = -1; break;
    case 6: object["temperature"] = "hot"; break;
    case 7: object["stop_sequences"] = json::array{""}; break;
    default: object["tools"] = json::array{json::object{{"name", "f"}}}; break;
  }
  body = json::serialize(object);
}

SimRequest Speaker::next_request() {
  SimRequest request;
  json::object body;
  if (random_.chance(0.7)) body["model"] = "fake";
  if (!system_.empty()) body["system"] = content(system_);
  body["messages"] = messages(request.prefill);
  if (random_.chance(options_.too_long_chance)) {
    const std::string text(options_.engine.context_tokens, 'x');
    body["messages"].as_array().emplace_back(json::object{{"role", "user"}, {"content", text}});
  }
  add_limits(body);
  if (random_.chance(0.4)) add_stops(body);
  if (random_.chance(0.7)) body["stream"] = true;
  if (random_.chance(0.2)) body["metadata"] = json::object{{"user_id", "u"}};
  request.body = json::serialize(body);
  request.malformed = random_.chance(options_.malformed_chance);
  if (request.malformed) spoil(request.body);
  return request;
}

void Speaker::hear(const SimRequest& request, const std::string& text) {
  if (const std::string said = request.prefill + text; !said.empty()) {
    turns_.push_back({"assistant", said});
  }
  turns_.push_back({"user", words(1 + random_.below(6))});
}

}  // namespace zerohop
