// Golden files: tests/golden/api/KIND_NAME.txt holds an input, a line of ten dashes, and the exact
// output. KIND says what is done with the input:
//
//   request, strict, count   a body → the typed request, or status and error body
//   stream, reply            one JSON object a line, each an event (the first one may hold options
//                            of the reply) → SSE bytes, or the reply
//   error                    an error as JSON → status, headers, body
//   models                   {"models":[…],"query":{…}} → the list
//
// ZEROHOP_GOLDEN_UPDATE=1 rewrites the outputs; read the difference before you keep it.
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value_to.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "api/anthropic_events.h"
#include "api/anthropic_reply.h"
#include "api/anthropic_request.h"
#include "api/error_body.h"
#include "api/golden_script.h"
#include "api/model_list.h"
#include "api/request_dump.h"

namespace zerohop {
namespace {

namespace json = boost::json;

const std::filesystem::path kFolder = "tests/golden/api";
constexpr std::string_view kSeparator = "----------\n";

// ---- Typed request → text ----

std::string refusal(const Error& error) {
  return std::to_string(error_traits(error.code).status) + "\n" +
         anthropic_error_body(error, "req_golden") + "\n";
}

void dump_chat(const ChatRequest& chat, RequestDump& dump) {
  dump.quoted("model", chat.model);
  dump.line("stream", chat.stream ? "true" : "false");
  dump.conversation(chat.conversation);
  dump.generation(chat.generation);
}

std::string dump(const Result<ChatRequest>& parsed) {
  if (!parsed.ok()) return refusal(parsed.error());
  RequestDump dump;
  dump_chat(*parsed, dump);
  return dump.text();
}

std::string dump(const Result<AnthropicRequest>& parsed) {
  if (!parsed.ok()) return refusal(parsed.error());
  RequestDump dump;
  dump_chat(parsed->chat, dump);
  const AnthropicReplyOptions& reply = parsed->reply;
  if (reply.thinking == ThinkingDisplay::kOmitted) dump.line("reply", "thinking omitted");
  if (reply.context_management) dump.line("reply", "context_management");
  for (const ToolsetCall& call : reply.toolset_calls) {
    dump.line("reply", call.model_name + " is " + call.toolset + "/" + call.member);
  }
  return dump.text();
}

// ---- Events, errors and models from JSON ----

Usage read_usage(const json::object& script) {
  return Usage{count_at(script, "prompt"), count_at(script, "cached"), count_at(script, "marked"),
               count_at(script, "output"), count_at(script, "thinking_tokens")};
}

Event read_event(const json::object& script) {
  const std::string name = text_at(script, "event");
  if (name == "started") return Started{read_usage(script)};
  if (name == "text") return TextDelta{text_at(script, "text")};
  if (name == "thinking") return ThinkingDelta{text_at(script, "text")};
  if (name == "call") return ToolCallStarted{text_at(script, "id"), text_at(script, "name")};
  if (name == "json") return ToolCallDelta{text_at(script, "text")};
  if (name == "logprobs") return TokenLogprobs{};
  if (name == "failed") return Failed{read_error(script)};
  EXPECT_EQ(name, "finished");
  return Finished{reason_named(text_at(script, "reason")), text_at(script, "stop"),
                  read_usage(script)};
}

std::vector<json::object> script_lines(const std::string& input) {
  std::vector<json::object> lines;
  std::istringstream stream(input);
  for (std::string text; std::getline(stream, text);)
    lines.push_back(json::parse(text).as_object());
  return lines;
}

const ReplyHead kHead{"msg_golden", "small", "req_golden"};

// {"options":[NAME…]}, the first line of a script, or nothing.
AnthropicReplyOptions read_options(std::vector<json::object>& script) {
  AnthropicReplyOptions options;
  if (script.empty() || !script.front().contains("options")) return options;
  for (const json::value& item : script.front().at("options").as_array()) {
    const std::string name = json::value_to<std::string>(item);
    if (name == "folded") options.profile = StreamProfile::kFolded;
    if (name == "empty_delta") options.heartbeat = Heartbeat::kEmptyDelta;
    if (name == "omitted") options.thinking = ThinkingDisplay::kOmitted;
    if (name == "context_management") options.context_management = true;
    if (name == "toolset") options.toolset_calls.push_back({"browser_key", "key", "browser"});
  }
  script.erase(script.begin());
  return options;
}

std::string run_stream(const std::string& input) {
  std::vector<json::object> script = script_lines(input);
  AnthropicStream stream(kHead, read_options(script));
  std::string out;
  for (const json::object& line : script) {
    if (text_at(line, "event") == "silence") {
      stream.append_keep_alive(out);
    } else {
      stream.append(0, read_event(line), out);
    }
  }
  return out;
}

std::string run_reply(const std::string& input) {
  std::vector<json::object> script = script_lines(input);
  AnthropicReply reply(kHead, read_options(script));
  for (const json::object& line : script) reply.add(0, read_event(line));
  if (reply.failure() != nullptr)
    return anthropic_error_body(*reply.failure(), "req_golden") + "\n";
  return reply.body() + "\n";
}

std::string run_error(const std::string& input) {
  const json::value script = json::parse(input);
  const Error error = read_error(script.as_object());
  std::string out = std::to_string(error_traits(error.code).status) + "\n";
  for (const auto& [name, value] : error_headers(error))
    out.append(name).append(": ").append(value).append("\n");
  return out + anthropic_error_body(error, text_at(script.as_object(), "request_id")) + "\n";
}

std::optional<std::string> optional_at(const json::object& object, std::string_view key) {
  if (!object.contains(key)) return std::nullopt;
  return text_at(object, key);
}

std::string run_models(const std::string& input) {
  const json::value script = json::parse(input);
  std::vector<ModelDescription> models;
  for (const json::value& item : script.at("models").as_array()) {
    const json::object& model = item.as_object();
    models.push_back({text_at(model, "id"), text_at(model, "name"), count_at(model, "created"),
                      count_at(model, "window"), count_at(model, "most"),
                      ModelAbilities{.thinking = model.contains("thinking"),
                                     .batch = model.contains("batch"),
                                     .pdf_input = model.contains("pdf"),
                                     .structured_outputs = model.contains("structured")}});
  }
  const json::object& query = script.at("query").as_object();
  const auto body =
      model_list_body(models, {optional_at(query, "limit"), optional_at(query, "after_id"),
                               optional_at(query, "before_id"), optional_at(query, "lifecycle")});
  return (body.ok() ? *body : anthropic_error_body(body.error(), "req_golden")) + "\n";
}

std::string run(const std::string& kind, const std::string& input) {
  constexpr ParseOptions kStrict{.strictness = Strictness::kStrict};
  if (kind == "request") return dump(parse_messages_request(input, ParseOptions{}));
  if (kind == "strict") return dump(parse_messages_request(input, kStrict));
  if (kind == "count") return dump(parse_count_tokens_request(input, ParseOptions{}));
  if (kind == "stream") return run_stream(input);
  if (kind == "reply") return run_reply(input);
  if (kind == "error") return run_error(input);
  if (kind == "models") return run_models(input);
  ADD_FAILURE() << "unknown kind " << kind;
  return {};
}

// ---- The files ----

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void check_file(const std::filesystem::path& path) {
  SCOPED_TRACE(path.string());
  const std::string whole = read_file(path);
  std::size_t split = whole.find("\n" + std::string(kSeparator));
  ASSERT_NE(split, std::string::npos) << "no separator line";
  const std::string input = whole.substr(0, split);
  const std::string name = path.filename().string();
  const std::string output = run(name.substr(0, name.find('_')), input);
  const std::string rewritten = input + "\n" + std::string(kSeparator) + output;
  if (std::getenv("ZEROHOP_GOLDEN_UPDATE") != nullptr) {
    std::ofstream(path, std::ios::binary) << rewritten;
    return;
  }
  EXPECT_EQ(whole, rewritten);
}

TEST(ApiGolden, EveryFileGivesItsOutput) {
  ASSERT_TRUE(std::filesystem::is_directory(kFolder)) << "run from the top of the source tree";
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    files.insert(entry.path());
  }
  EXPECT_GE(files.size(), 25u);
  for (const auto& path : files) check_file(path);
}

}  // namespace
}  // namespace zerohop
