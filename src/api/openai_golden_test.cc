// Golden files of the OpenAI dialect: tests/golden/openai/KIND_NAME.txt holds an input, a line of
// ten dashes, and the exact output. KIND says what is done with the input:
//
//   chat, strictchat, completions, embeddings, responses
//                        a body → the typed request, or status and error body
//   chatstream, chatreply, completionsstream, completionsreply, responsesstream, responsesreply
//                        one JSON object a line: first the options, then events, each perhaps with
//                        the number of its choice → SSE bytes, or the reply
//   vectors              {"vectors":[…],"encoding":…} → the embeddings reply
//   error                an error as JSON → status and body
//
// ZEROHOP_GOLDEN_UPDATE=1 rewrites the outputs; read the difference before you keep it.
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value_to.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "api/golden_script.h"
#include "api/openai_chat_reply.h"
#include "api/openai_chat_request.h"
#include "api/openai_chat_stream.h"
#include "api/openai_completions_reply.h"
#include "api/openai_completions_request.h"
#include "api/openai_embeddings.h"
#include "api/openai_error_body.h"
#include "api/openai_request_dump.h"
#include "api/openai_responses_reply.h"
#include "api/openai_responses_request.h"
#include "api/openai_responses_stream.h"

namespace zerohop {
namespace {

namespace json = boost::json;

const std::filesystem::path kFolder = "tests/golden/openai";
constexpr std::string_view kSeparator = "----------\n";
constexpr ParseOptions kStrict{.strictness = Strictness::kStrict};

// ---- Typed request → text ----

std::string refused(const Error& error) {
  return std::to_string(error_traits(error.code).status) + "\n" + openai_error_body(error) + "\n";
}

std::string dump(const Result<OpenAiChatRequest>& parsed) {
  if (!parsed.ok()) return refused(parsed.error());
  OpenAiRequestDump out;
  out.chat(parsed->chat);
  out.flag("include_usage", parsed->reply.include_usage);
  out.flag("logprobs", parsed->reply.logprobs);
  out.flag("legacy functions", parsed->reply.legacy_functions);
  return out.text();
}

std::string dump(const Result<OpenAiCompletionsRequest>& parsed) {
  if (!parsed.ok()) return refused(parsed.error());
  OpenAiRequestDump out;
  out.quoted("model", parsed->model);
  for (const OpenAiPrompt& prompt : parsed->prompts) out.prompt(prompt);
  out.generation(parsed->generation);
  out.output(parsed->output);
  out.line("choices", std::to_string(parsed->choices()));
  out.flag("stream", parsed->stream);
  out.flag("echo", parsed->echo);
  out.flag("include_usage", parsed->reply.include_usage);
  return out.text();
}

std::string dump(const Result<OpenAiEmbeddingsRequest>& parsed) {
  if (!parsed.ok()) return refused(parsed.error());
  OpenAiRequestDump out;
  out.quoted("model", parsed->model);
  for (const OpenAiPrompt& input : parsed->inputs) out.prompt(input);
  out.flag("base64", parsed->encoding == EmbeddingEncoding::kBase64);
  if (parsed->dimensions) out.line("dimensions", std::to_string(*parsed->dimensions));
  return out.text();
}

std::string dump(const Result<OpenAiResponsesRequest>& parsed) {
  if (!parsed.ok()) return refused(parsed.error());
  OpenAiRequestDump out;
  out.chat(parsed->chat);
  out.line("echo", parsed->echo);
  return out.text();
}

// ---- Events and errors from JSON ----

bool flag_at(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->as_bool();
}

Usage read_usage(const json::object& script) {
  Usage usage;
  usage.prompt_tokens = count_at(script, "prompt");
  usage.prompt_tokens_cached = count_at(script, "cached");
  usage.output_tokens = count_at(script, "output");
  usage.thinking_tokens = count_at(script, "thinking");
  return usage;
}

TokenChance read_chance(const json::value& pair) {
  return {0, json::value_to<std::string>(pair.at(0)),
          static_cast<float>(json::value_to<double>(pair.at(1)))};
}

Event read_token(const json::object& script) {
  TokenLogprobs token;
  token.chosen = read_chance(script.at("token"));
  if (const auto* top = script.if_contains("top")) {
    for (const json::value& pair : top->as_array()) token.likeliest.push_back(read_chance(pair));
  }
  return token;
}

Event read_event(const json::object& script) {
  const std::string name = text_at(script, "event");
  if (name == "started") return Started{read_usage(script), {}};
  if (name == "text") return TextDelta{text_at(script, "text")};
  if (name == "thinking") return ThinkingDelta{text_at(script, "text")};
  if (name == "call") return ToolCallStarted{text_at(script, "id"), text_at(script, "name")};
  if (name == "arguments") return ToolCallDelta{text_at(script, "json")};
  if (name == "logprobs") return read_token(script);
  if (name == "failed") return Failed{read_error(script)};
  EXPECT_EQ(name, "finished");
  return Finished{reason_named(text_at(script, "reason")), text_at(script, "stop"),
                  read_usage(script)};
}

// ---- Writers ----

struct Script {
  json::object options;
  std::vector<json::object> events;
};

Script read_script(const std::string& input) {
  Script script;
  std::istringstream stream(input);
  std::string text;
  std::getline(stream, text);
  script.options = json::parse(text).as_object();
  while (std::getline(stream, text)) script.events.push_back(json::parse(text).as_object());
  return script;
}

OpenAiReplyHead head(std::string id) {
  return {std::move(id), "small", 1'700'000'000, "fp_golden"};
}

OpenAiReplyOptions reply_options(const json::object& options) {
  return {flag_at(options, "include_usage"), flag_at(options, "logprobs"),
          flag_at(options, "legacy")};
}

std::string run_stream(ReplyStream& stream, const Script& script) {
  std::string out;
  for (const json::object& event : script.events) {
    if (text_at(event, "event") == "keep_alive") {
      stream.append_keep_alive(out);
    } else {
      stream.append(count_at(event, "choice"), read_event(event), out);
    }
  }
  EXPECT_TRUE(stream.ended());
  return out;
}

std::string run_reply(WholeReply& reply, const Script& script) {
  for (const json::object& event : script.events) {
    reply.add(count_at(event, "choice"), read_event(event));
  }
  EXPECT_TRUE(reply.complete());
  if (reply.failure() != nullptr) return openai_error_body(*reply.failure()) + "\n";
  return reply.body() + "\n";
}

OpenAiCompletionsReplyOptions completions_options(const json::object& options) {
  OpenAiCompletionsReplyOptions made{
      head("cmpl-golden"), reply_options(options), count_at(options, "n", 1), {}};
  for (const json::value& echo : options.at("echoes").as_array()) {
    made.echoes.push_back(json::value_to<std::string>(echo));
  }
  return made;
}

OpenAiResponsesReplyOptions responses_options() {
  return {head("resp_golden"), R"("instructions":null,"tools":[],"store":false)"};
}

std::string run_chat_stream(const std::string& input) {
  const Script script = read_script(input);
  OpenAiChatStream stream(head("chatcmpl-golden"), reply_options(script.options),
                          count_at(script.options, "n", 1));
  return run_stream(stream, script);
}

std::string run_chat_reply(const std::string& input) {
  const Script script = read_script(input);
  OpenAiChatReply reply(head("chatcmpl-golden"), reply_options(script.options),
                        count_at(script.options, "n", 1));
  return run_reply(reply, script);
}

std::string run_completions_stream(const std::string& input) {
  const Script script = read_script(input);
  OpenAiCompletionsStream stream(completions_options(script.options));
  return run_stream(stream, script);
}

std::string run_completions_reply(const std::string& input) {
  const Script script = read_script(input);
  OpenAiCompletionsReply reply(completions_options(script.options));
  return run_reply(reply, script);
}

std::string run_responses_stream(const std::string& input) {
  OpenAiResponsesStream stream(responses_options());
  return run_stream(stream, read_script(input));
}

std::string run_responses_reply(const std::string& input) {
  OpenAiResponsesReply reply(responses_options());
  return run_reply(reply, read_script(input));
}

std::string run_vectors(const std::string& input) {
  const json::value script = json::parse(input);
  OpenAiEmbeddings embeddings;
  embeddings.model = "small";
  embeddings.prompt_tokens = count_at(script.as_object(), "prompt");
  if (flag_at(script.as_object(), "base64")) embeddings.encoding = EmbeddingEncoding::kBase64;
  for (const json::value& numbers : script.at("vectors").as_array()) {
    std::vector<float>& vector = embeddings.vectors.emplace_back();
    for (const json::value& number : numbers.as_array()) {
      vector.push_back(static_cast<float>(json::value_to<double>(number)));
    }
  }
  return openai_embeddings_body(embeddings).value() + "\n";
}

std::string run_error(const std::string& input) {
  const json::value script = json::parse(input);
  return refused(read_error(script.as_object()));
}

using Runner = std::function<std::string(const std::string&)>;

const std::map<std::string, Runner>& runners() {
  static const std::map<std::string, Runner> table{
      {"chat", [](auto& body) { return dump(parse_chat_completions_request(body, {})); }},
      {"strictchat",
       [](auto& body) { return dump(parse_chat_completions_request(body, kStrict)); }},
      {"completions", [](auto& body) { return dump(parse_completions_request(body, {})); }},
      {"embeddings", [](auto& body) { return dump(parse_embeddings_request(body, {})); }},
      {"responses", [](auto& body) { return dump(parse_responses_request(body, {})); }},
      {"chatstream", run_chat_stream},
      {"chatreply", run_chat_reply},
      {"completionsstream", run_completions_stream},
      {"completionsreply", run_completions_reply},
      {"responsesstream", run_responses_stream},
      {"responsesreply", run_responses_reply},
      {"vectors", run_vectors},
      {"error", run_error}};
  return table;
}

// ---- The files ----

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void check_file(const std::filesystem::path& path) {
  SCOPED_TRACE(path.string());
  const std::string whole = read_file(path);
  const std::size_t split = whole.find("\n" + std::string(kSeparator));
  ASSERT_NE(split, std::string::npos) << "no separator line";
  const std::string input = whole.substr(0, split);
  const std::string name = path.filename().string();
  const auto runner = runners().find(name.substr(0, name.find('_')));
  ASSERT_NE(runner, runners().end()) << "unknown kind";
  const std::string rewritten = input + "\n" + std::string(kSeparator) + runner->second(input);
  if (std::getenv("ZEROHOP_GOLDEN_UPDATE") != nullptr) {
    std::ofstream(path, std::ios::binary) << rewritten;
    return;
  }
  EXPECT_EQ(whole, rewritten);
}

TEST(OpenAiGolden, EveryFileGivesItsOutput) {
  ASSERT_TRUE(std::filesystem::is_directory(kFolder)) << "run from the top of the source tree";
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    files.insert(entry.path());
  }
  EXPECT_GE(files.size(), 40u);
  for (const auto& path : files) check_file(path);
}

}  // namespace
}  // namespace zerohop
