#include "trace_sim/trace.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>

#include "base/whole_number.h"

namespace zerohop::trace_sim {
namespace {

namespace json = boost::json;

// No trace has longer ones; a larger number is a damaged file.
constexpr double kTokensMax = 1 << 24;
constexpr double kBlockMax = 1u << 30;
constexpr double kSecondsMax = 1e9;

Error at(const std::string& place, std::string message) {
  return invalid_request(place, place + ": " + std::move(message));
}

std::string line_name(std::size_t line) { return "line " + std::to_string(line); }

// Calls take(number, line) for each line that is not empty, until it returns an error.
template <class Take>
Result<void> each_line(std::string_view text, Take take) {
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view words = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.ends_with('\r')) words.remove_suffix(1);
    if (words.empty()) continue;
    if (Result<void> taken = take(line, words); !taken) return taken;
  }
  return {};
}

Result<json::value> parse_json(std::string_view text, const std::string& place) {
  boost::system::error_code error;
  json::value value = json::parse(json::string_view(text.data(), text.size()), error);
  if (error) return at(place, "not JSON: " + error.message());
  return value;
}

// The number `key` of `object`, in [0, most].
Result<double> number(const json::value& object, std::string_view key, double most,
                      const std::string& place) {
  const json::object* members = object.if_object();
  if (members == nullptr) return at(place, "not an object");
  const json::value* value = members->if_contains(json::string_view(key.data(), key.size()));
  const std::string path = place + ", " + std::string(key);
  if (value == nullptr || !value->is_number()) return at(path, "a number is missing");
  const auto found = value->to_number<double>();
  if (!(found >= 0 && found <= most)) return at(path, "out of range");
  return found;
}

template <class Trace>
Result<Trace> in_order(Trace trace) {
  if (trace.empty()) return at("file", "no requests in it");
  std::stable_sort(trace.begin(), trace.end(),
                   [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return trace;
}

Result<std::vector<std::uint32_t>> block_ids(const json::value& request, const std::string& place) {
  const json::value* ids = request.as_object().if_contains("hash_ids");
  const std::string path = place + ", hash_ids";
  if (ids == nullptr || !ids->is_array()) return at(path, "an array is missing");
  std::vector<std::uint32_t> blocks;
  for (const json::value& id : ids->get_array()) {
    if (!id.is_number()) return at(path, "not a number");
    const auto block = id.to_number<double>();
    if (!(block >= 0 && block <= kBlockMax)) return at(path, "out of range");
    blocks.push_back(static_cast<std::uint32_t>(block));
  }
  if (blocks.empty()) return at(path, "no blocks");
  return blocks;
}

Result<BlockRequest> block_request(std::string_view words, const std::string& place) {
  const Result<json::value> request = parse_json(words, place);
  if (!request) return request.error();
  const Result<double> time = number(*request, "timestamp", kSecondsMax * 1000, place);
  if (!time) return time.error();
  const Result<double> prompt = number(*request, "input_length", kTokensMax, place);
  if (!prompt) return prompt.error();
  const Result<double> output = number(*request, "output_length", kTokensMax, place);
  if (!output) return output.error();
  Result<std::vector<std::uint32_t>> blocks = block_ids(*request, place);
  if (!blocks) return blocks.error();
  return BlockRequest{*time / 1000, static_cast<std::uint32_t>(*prompt),
                      static_cast<std::uint32_t>(*output), std::move(*blocks)};
}

// Seconds since 1970 of "2023-11-16 18:17:03.9799600".
std::optional<double> time_of(std::string_view words) {
  constexpr std::string_view kForm = "0000-00-00 00:00:00";
  if (words.size() < kForm.size()) return std::nullopt;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool digit = words[i] >= '0' && words[i] <= '9';
    if (kForm[i] == '0' ? !digit : words[i] != kForm[i]) return std::nullopt;
  }
  const auto part = [&](std::size_t from, std::size_t size) {
    return static_cast<int>(*whole_number<double>(words.substr(from, size)));
  };
  const std::chrono::year_month_day date{std::chrono::year(part(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(part(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(part(8, 2)))};
  const std::optional<double> seconds = whole_number<double>(words.substr(17));
  if (!date.ok() || !seconds || part(11, 2) > 23 || part(14, 2) > 59) return std::nullopt;
  const std::chrono::sys_days day = date;
  return static_cast<double>(day.time_since_epoch().count()) * 86400 + part(11, 2) * 3600 +
         part(14, 2) * 60 + *seconds;
}

Result<LengthRequest> azure_request(std::string_view words, const std::string& place) {
  const std::size_t first = words.find(',');
  const std::size_t second = first == words.npos ? words.npos : words.find(',', first + 1);
  if (second == words.npos || words.find(',', second + 1) != words.npos) {
    return at(place, "not three columns");
  }
  const std::optional<double> time = time_of(words.substr(0, first));
  if (!time) return at(place + ", TIMESTAMP", "not a time");
  const std::optional<double> prompt =
      whole_number<double>(words.substr(first + 1, second - first - 1));
  const std::optional<double> output = whole_number<double>(words.substr(second + 1));
  if (!prompt || !(*prompt >= 1 && *prompt <= kTokensMax)) {
    return at(place + ", ContextTokens", "not a number of tokens");
  }
  if (!output || !(*output >= 0 && *output <= kTokensMax)) {
    return at(place + ", GeneratedTokens", "not a number of tokens");
  }
  return LengthRequest{*time, "", static_cast<std::uint32_t>(*prompt),
                       static_cast<std::uint32_t>(*output)};
}

Result<LengthRequest> vtc_request(const json::value& response, const std::string& place) {
  const Result<double> time = number(response, "req_time", kSecondsMax, place);
  if (!time) return time.error();
  const Result<double> prompt = number(response, "prompt_len", kTokensMax, place);
  if (!prompt) return prompt.error();
  const Result<double> output = number(response, "output_len", kTokensMax, place);
  if (!output) return output.error();
  const json::value* client = response.as_object().if_contains("adapter_dir");
  if (client == nullptr || !client->is_string()) return at(place + ", adapter_dir", "no name");
  return LengthRequest{*time, std::string(client->get_string()),
                       static_cast<std::uint32_t>(*prompt), static_cast<std::uint32_t>(*output)};
}

void start_at_zero(LengthTrace& trace) {
  const double first = trace.front().seconds;
  for (LengthRequest& request : trace) request.seconds -= first;
}

}  // namespace

Result<TraceForm> trace_form(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  if (line.starts_with("TIMESTAMP,")) return TraceForm::kAzure;
  // A VTC file is one line of some 300 kB; both names stand near its beginning or the line's.
  const std::string_view head = line.substr(0, 4096);
  if (head.find("\"hash_ids\"") != head.npos) return TraceForm::kMooncake;
  if (head.find("\"responses\"") != head.npos) return TraceForm::kVtc;
  return at("line 1", "neither a Mooncake, an Azure nor a VTC trace");
}

Result<BlockTrace> parse_mooncake(std::string_view text) {
  BlockTrace trace;
  const Result<void> read = each_line(text, [&](std::size_t line, std::string_view words) {
    Result<BlockRequest> request = block_request(words, line_name(line));
    if (!request) return Result<void>(request.error());
    trace.push_back(std::move(*request));
    return Result<void>();
  });
  if (!read) return read.error();
  return in_order(std::move(trace));
}

Result<LengthTrace> parse_azure(std::string_view text) {
  LengthTrace trace;
  const Result<void> read = each_line(text, [&](std::size_t line, std::string_view words) {
    if (line == 1) return Result<void>();
    Result<LengthRequest> request = azure_request(words, line_name(line));
    if (!request) return Result<void>(request.error());
    trace.push_back(std::move(*request));
    return Result<void>();
  });
  if (!read) return read.error();
  Result<LengthTrace> ordered = in_order(std::move(trace));
  if (ordered) start_at_zero(*ordered);
  return ordered;
}

Result<LengthTrace> parse_vtc(std::string_view text) {
  const Result<json::value> file = parse_json(text.substr(0, text.find('\n')), "line 1");
  if (!file) return file.error();
  boost::system::error_code error;
  const json::value* responses = file->find_pointer("/result/responses", error);
  if (responses == nullptr || !responses->is_array()) {
    return at("result.responses", "an array is missing");
  }
  LengthTrace trace;
  for (const json::value& response : responses->get_array()) {
    const std::string place = "result.responses[" + std::to_string(trace.size()) + "]";
    Result<LengthRequest> request = vtc_request(response, place);
    if (!request) return request.error();
    // A prompt has a token at least; some logs count zero for an empty one.
    request->prompt_tokens = std::max(request->prompt_tokens, 1u);
    trace.push_back(std::move(*request));
  }
  Result<LengthTrace> ordered = in_order(std::move(trace));
  if (ordered) start_at_zero(*ordered);
  return ordered;
}

Result<std::string> read_trace(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.good() && !file.eof()) text.clear();
  if (text.empty()) {
    return Error{ErrorCode::kNotFound, path + ": there is no such file, or it is empty", "", {}};
  }
  return text;
}

}  // namespace zerohop::trace_sim
