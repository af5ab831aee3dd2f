// What the server does with prompts before a model reads them: room, versions, habits, documents,
// and that every count of them agrees.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/base64.h"
#include "app/test_pdf.h"
#include "app/test_server.h"

namespace zerohop {
namespace {

namespace json = boost::json;

std::string one_turn(const std::string& content) {
  return R"("messages":[{"role":"user","content":")" + content + R"("}])";
}

std::int64_t count_tokens(const RunningServer& server, const std::string& members) {
  const Answer answer = post(server, "/v1/messages/count_tokens", "{" + members + "}");
  EXPECT_EQ(answer.status, 200) << answer.body;
  return number_at(answer.json(), "/input_tokens");
}

std::int64_t prompt_tokens(const json::value& message) {
  return number_at(message, "/usage/input_tokens") +
         number_at(message, "/usage/cache_creation_input_tokens") +
         number_at(message, "/usage/cache_read_input_tokens");
}

std::string error_text_of(const Answer& answer) { return text_at(answer.json(), "/error/message"); }

// ---- Room ----

constexpr std::int64_t kWindow = 256;

TestServerOptions small_window(bool strict) {
  return {never_ends(),
          [strict](Config& config) {
            config.engine.context_tokens = kWindow;
            config.wire.strict = strict;
          },
          {}};
}

// A user's turn that makes a prompt of `tokens`: each q is one.
std::string turn_of(const RunningServer& server, std::int64_t tokens) {
  const std::int64_t frame = count_tokens(server, R"("model":"fake",)" + one_turn("q")) - 1;
  return one_turn(std::string(static_cast<std::size_t>(tokens - frame), 'q'));
}

TEST(ServerRoom, PromptsLongerThanTheWindowAreRefusedWithBothNumbers) {
  const RunningServer server(small_window(false));
  const std::string turn = turn_of(server, kWindow + 1);
  const Answer anthropic = post(server, "/v1/messages", "{" + turn + "}");
  EXPECT_EQ(anthropic.status, 400);
  EXPECT_EQ(error_text_of(anthropic), "prompt is too long: 257 tokens > 256 maximum");
  EXPECT_EQ(text_at(anthropic.json(), "/error/type"), "invalid_request_error");
  const Answer openai = post(server, "/v1/chat/completions", "{" + turn + "}");
  EXPECT_EQ(openai.status, 400);
  EXPECT_EQ(text_at(openai.json(), "/error/code"), "context_length_exceeded");
  const Answer streamed = post(server, "/v1/messages", "{" + turn + R"(,"stream":true})");
  EXPECT_EQ(streamed.status, 400) << "a failure in front of the stream is a status";
  // Any length is counted.
  EXPECT_EQ(count_tokens(server, turn), kWindow + 1);
}

TEST(ServerRoom, APromptThatFillsTheWindowLeavesNoRoomForAnAnswer) {
  const RunningServer server(small_window(false));
  const std::string turn = turn_of(server, kWindow) + R"(,"max_tokens":5)";
  const std::string text =
      "input length and `max_tokens` exceed context limit: 256 + 5 > 256, decrease input length or "
      "`max_tokens` and try again";
  const Answer anthropic = post(server, "/v1/messages", "{" + turn + "}");
  EXPECT_EQ(anthropic.status, 400);
  EXPECT_EQ(error_text_of(anthropic), text);
  const Answer openai = post(server, "/v1/chat/completions", "{" + turn + "}");
  EXPECT_EQ(openai.status, 400);
  EXPECT_EQ(error_text_of(openai), text);
  // Written out, a prompt is as long as its text.
  const Answer written = post(server, "/v1/completions",
                              R"({"max_tokens":5,"prompt":")" + std::string(kWindow, 'q') + "\"}");
  EXPECT_EQ(written.status, 400);
  EXPECT_EQ(error_text_of(written), text);
}

TEST(ServerRoom, MaxTokensIsCutToTheRestOfTheWindow) {
  const RunningServer server(small_window(false));
  const std::string turn = turn_of(server, kWindow - 10) + R"(,"max_tokens":100000)";
  const json::value body = post(server, "/v1/messages", "{" + turn + "}").json();
  EXPECT_EQ(text_at(body, "/stop_reason"), "model_context_window_exceeded");
  EXPECT_EQ(number_at(body, "/usage/output_tokens"), 10);
  const json::value chat = post(server, "/v1/chat/completions", "{" + turn + "}").json();
  EXPECT_EQ(text_at(chat, "/choices/0/finish_reason"), "length");
  EXPECT_EQ(number_at(chat, "/usage/completion_tokens"), 10);
}

TEST(ServerRoom, StrictServersRefuseAnAnswerThatMayNotFit) {
  const RunningServer server(small_window(true));
  const std::string version = "anthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n";
  const std::string turn = R"("model":"fake",)" + turn_of(server, 200);
  const auto ask_for = [&](const std::string& path, int max_tokens) {
    return ask(server, {path, "{" + turn + R"(,"max_tokens":)" + std::to_string(max_tokens) + "}",
                        version});
  };
  EXPECT_EQ(ask_for("/v1/messages", 56).status, 200);
  const std::string text =
      "input length and `max_tokens` exceed context limit: 200 + 57 > 256, decrease input length "
      "or `max_tokens` and try again";
  for (const std::string path : {"/v1/messages", "/v1/chat/completions"}) {
    const Answer refused = ask_for(path, 57);
    EXPECT_EQ(refused.status, 400);
    EXPECT_EQ(error_text_of(refused), text) << path;
  }
  const Answer written =
      post(server, "/v1/completions",
           R"({"model":"fake","max_tokens":57,"prompt":")" + std::string(200, 'q') + "\"}");
  EXPECT_EQ(error_text_of(written), text);
}

// ---- Versions ----

TestServerOptions with_profiles() {
  return {always_says("Paris"),
          [](Config& config) {
            config.wire.profiles = {{"classic", "stream=folded strict=true"}};
            config.wire.version_profiles = {{"2023-06-01", "classic"}};
          },
          {}};
}

Answer ask_streamed(const RunningServer& server, const std::string& headers) {
  return ask(server,
             {"/v1/messages",
              R"({"model":"fake","max_tokens":9,"stream":true,)" + one_turn("?") + "}", headers});
}

bool is_folded(const Answer& answer) {
  const std::vector<SseFrame> frames = answer.frames();
  EXPECT_GE(frames.size(), 3u) << answer.body;
  for (const SseFrame& frame : frames) {
    if (frame.event == "content_block_start") return false;
  }
  return true;
}

TEST(ServerVersions, ChooseTheProfileThatTheAnswerNames) {
  const RunningServer server(with_profiles());
  const Answer mapped = ask_streamed(server, "anthropic-version: 2023-06-01\r\n");
  EXPECT_EQ(mapped.header("anthropic-version-profile"), "classic");
  EXPECT_TRUE(is_folded(mapped));
  for (const std::string headers :
       {"", "anthropic-version: 2026-10-21\r\n", "anthropic-version: 1999-01-01\r\n",
        "anthropic-version: vertex-2023-10-16\r\n"}) {
    const Answer other = ask_streamed(server, headers);
    EXPECT_EQ(other.header("anthropic-version-profile"), "") << headers;
    EXPECT_FALSE(is_folded(other)) << headers;
  }
  // Errors name it too.
  const Answer strict =
      ask(server, {"/v1/messages", "{" + one_turn("?") + "}", "anthropic-version: 2023-06-01\r\n"});
  EXPECT_EQ(strict.status, 400) << "max_tokens and model are missing, and the profile is strict";
  EXPECT_EQ(strict.header("anthropic-version-profile"), "classic");

  const auto requests = [&](const std::string& requested, const std::string& applied) {
    return metric(server, "zerohop_api_versions_total",
                  "requested=\"" + requested + "\",applied=\"" + applied + "\"");
  };
  EXPECT_EQ(requests("2023-06-01", "classic"), 2);
  EXPECT_EQ(requests("2026-10-21", "none"), 1);
  EXPECT_EQ(requests("none", "none"), 1);
  EXPECT_EQ(requests("other", "none"), 1);
  EXPECT_EQ(requests("vertex", "none"), 1);
}

TEST(ServerVersions, TheClientsOwnStreamProfileComesFirst) {
  const RunningServer server(with_profiles());
  EXPECT_TRUE(is_folded(ask_streamed(server, "anthropic-stream-profile: folded\r\n")));
  EXPECT_FALSE(is_folded(
      ask_streamed(server, "anthropic-version: 2023-06-01\r\nanthropic-stream-profile: full\r\n")));
  EXPECT_FALSE(is_folded(ask_streamed(server, "anthropic-stream-profile: crumpled\r\n")));
}

TEST(ServerVersions, MayStandInTheBody) {
  const RunningServer server(with_profiles());
  const std::string body = R"({"model":"fake","max_tokens":9,"stream":true,)" + one_turn("?") +
                           R"(,"anthropic_version":)";
  const Answer mapped = post(server, "/v1/messages", body + R"("2023-06-01"})");
  EXPECT_EQ(mapped.header("anthropic-version-profile"), "classic");
  EXPECT_TRUE(is_folded(mapped));
  const Answer other = post(server, "/v1/messages", body + R"("bedrock-2023-05-31"})");
  EXPECT_EQ(other.header("anthropic-version-profile"), "");
  EXPECT_FALSE(is_folded(other));
  // The header comes first.
  const Answer both =
      ask(server, {"/v1/messages", body + R"("2023-06-01"})", "anthropic-version: 2026-10-21\r\n"});
  EXPECT_EQ(both.header("anthropic-version-profile"), "");
  EXPECT_FALSE(is_folded(both));
}

TEST(ServerVersions, AFoldedStreamEndsWithReasonAndUsage) {
  const RunningServer server(with_profiles());
  const auto frames = ask_streamed(server, "anthropic-stream-profile: folded\r\n").frames();
  ASSERT_GE(frames.size(), 3u);
  EXPECT_EQ(frames.front().event, "message_start");
  EXPECT_EQ(frames.back().event, "message_stop");
  const std::string last = frames.back().data;
  EXPECT_NE(last.find(R"("stop_reason":"end_turn")"), std::string::npos) << last;
  EXPECT_NE(last.find(R"("output_tokens":)"), std::string::npos) << last;
}

TEST(ServerVersions, ServersWithAWrongProfileDoNotStart) {
  Config config;
  config.server.port = 0;
  config.wire.profiles = {{"classic", "stream=crumpled"}};
  const SteadyClock clock;
  Server server(config, clock);
  const auto loaded = server.load(make_fake_model({}));
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, ErrorCode::kConfiguration);
}

// ---- Habits ----

TEST(ServerHabits, WhatChangesWithEachRequestDoesNotSpoilThePrefix) {
  const RunningServer server(TestServerOptions{
      always_says("Paris"),
      [](Config& config) { config.prompt.habits.volatile_patterns = {"Current time: *"}; },
      {}});
  const std::string rules(300, 'r');
  const auto ask_at = [&](const std::string& time, const std::string& bill) {
    return post(server, "/v1/messages",
                R"({"system":"x-anthropic-billing-header: )" + bill + R"(\nCurrent time: )" + time +
                    R"(\n)" + rules + "\"," + one_turn("And now?") + "}")
        .json();
  };
  const json::value first = ask_at("12:00:01", "aaaa");
  EXPECT_EQ(number_at(first, "/usage/cache_read_input_tokens"), 0);
  const json::value second = ask_at("23:59:59", "bbbb");
  EXPECT_GT(number_at(second, "/usage/cache_read_input_tokens"), 300) << json::serialize(second);
  EXPECT_EQ(metric(server, "zerohop_prompt_rewrites_total", R"(rule="billing_header")"), 2);
  EXPECT_EQ(metric(server, "zerohop_prompt_rewrites_total", R"(rule="Current time: *")"), 2);
}

TEST(ServerHabits, WithoutARuleTextThatChangesSpoilsThePrefix) {
  const RunningServer server(always_says("Paris"));
  for (const std::string time : {"12:00:01", "23:59:59"}) {
    const json::value body = post(server, "/v1/messages",
                                  R"({"system":"Current time: )" + time + R"(\n)" +
                                      std::string(300, 'r') + "\"," + one_turn("?") + "}")
                                 .json();
    EXPECT_LT(number_at(body, "/usage/cache_read_input_tokens"), 60);
  }
}

// ---- Counts ----

TEST(ServerCounts, TheThreeInputCountsAddUpToWhatCountTokensSays) {
  FakeModelOptions model = always_says("Paris");
  const RunningServer server(
      TestServerOptions{model, [](Config& config) { config.engine.context_tokens = 8192; }, {}});
  const std::string mark = R"("cache_control":{"type":"ephemeral"})";
  const std::string long_text(400, 'x');
  const std::vector<std::string> shapes{
      one_turn("Hi"),
      R"("system":"Be brief.",)" + one_turn("Hi"),
      R"("system":[{"type":"text","text":")" + long_text + "\"," + mark + "}]," + one_turn("Hi"),
      R"("messages":[{"role":"user","content":[{"type":"text","text":")" + long_text + "\"," +
          mark + R"(},{"type":"text","text":"And?"}]}])",
      R"("messages":[{"role":"user","content":"A"},{"role":"assistant","content":"B"},)"
      R"({"role":"system","content":"C"},{"role":"user","content":"D"}])",
      R"("tools":[{"name":"f","description":"does","input_schema":{"type":"object"},)" + mark +
          "}]," + one_turn("Hi"),
      R"("tools":[{"name":"f","input_schema":{"type":"object"}}],"tool_choice":{"type":"any"},)" +
          one_turn("Hi"),
      R"("tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[)"
      R"({"role":"user","content":"A"},{"role":"assistant","content":[)"
      R"({"type":"tool_use","id":"toolu_1","name":"f","input":{"k":1}}]},)"
      R"({"role":"user","content":[)"
      R"({"type":"tool_result","tool_use_id":"toolu_1","content":"done",)" +
          mark + "}]}]",
      R"("messages":[{"role":"user","content":[{"type":"document","title":"T","source":)"
      R"({"type":"text","media_type":"text/plain","data":"A text."}},)"
      R"({"type":"text","text":"?"}]}])",
      R"("messages":[{"role":"user","content":"A"},{"role":"assistant","content":"Par"}])",
  };
  for (const std::string& shape : shapes) {
    const std::int64_t counted = count_tokens(server, shape);
    EXPECT_GT(counted, 0);
    for (const std::string round : {"first", "from the cache"}) {
      const Answer answer = post(server, "/v1/messages", R"({"max_tokens":20,)" + shape + "}");
      ASSERT_EQ(answer.status, 200) << answer.body;
      EXPECT_EQ(prompt_tokens(answer.json()), counted) << round << shape;
      if (shape.find("cache_control") == shape.npos) {
        EXPECT_EQ(number_at(answer.json(), "/usage/cache_creation_input_tokens"), 0) << shape;
      }
    }
    const auto frames =
        post(server, "/v1/messages", R"({"max_tokens":20,"stream":true,)" + shape + "}").frames();
    ASSERT_FALSE(frames.empty());
    EXPECT_EQ(prompt_tokens(*frames.front().json().as_object().if_contains("message")), counted)
        << shape;
  }
}

TEST(ServerCounts, WhatIsMarkedIsWrittenOnceAndThenRead) {
  const RunningServer server(always_says("Paris"));
  const std::string body = R"({"system":[{"type":"text","text":")" + std::string(200, 'x') +
                           R"(","cache_control":{"type":"ephemeral"}}],)" + one_turn("Hi") + "}";
  const json::value first = post(server, "/v1/messages", body).json();
  const std::int64_t written = number_at(first, "/usage/cache_creation_input_tokens");
  EXPECT_GT(written, 200);
  EXPECT_EQ(number_at(first, "/usage/cache_read_input_tokens"), 0);
  const json::value second = post(server, "/v1/messages", body).json();
  EXPECT_EQ(number_at(second, "/usage/cache_creation_input_tokens"), 0);
  EXPECT_GE(number_at(second, "/usage/cache_read_input_tokens"), written);
}

// ---- Documents ----

std::string base64(const std::string& bytes) {
  std::string text;
  append_base64(bytes, text);
  return text;
}

std::string document_turn(const std::string& source) {
  return R"("messages":[{"role":"user","content":[{"type":"text","text":"Read."},)"
         R"({"type":"document","source":)" +
         source + "}]}]";
}

std::string pdf_source(const std::string& bytes) {
  return R"({"type":"base64","media_type":"application/pdf","data":")" + base64(bytes) + "\"}";
}

TEST(ServerDocuments, APdfReadsLikeItsText) {
  const RunningServer server(always_says("Paris"));
  const std::string pdf = document_turn(pdf_source(make_pdf({"The first page.", "The last."})));
  const std::string text = document_turn(
      R"({"type":"text","media_type":"text/plain","data":"The first page.\n\nThe last."})");
  const std::int64_t counted = count_tokens(server, pdf);
  EXPECT_EQ(counted, count_tokens(server, text));
  const json::value as_text = post(server, "/v1/messages", "{" + text + "}").json();
  EXPECT_EQ(prompt_tokens(as_text), counted);
  const json::value as_pdf = post(server, "/v1/messages", "{" + pdf + "}").json();
  EXPECT_EQ(text_at(as_pdf, "/content/0/text"), "Paris") << json::serialize(as_pdf);
  EXPECT_EQ(prompt_tokens(as_pdf), counted);
  // The same tokens, not only as many: all but the last, which is always computed.
  EXPECT_EQ(number_at(as_pdf, "/usage/cache_read_input_tokens"), counted - 1);
}

TEST(ServerDocuments, ABrokenPdfIsRefusedWithItsPath) {
  const RunningServer server(FakeModelOptions{});
  const std::string turn = document_turn(pdf_source("%PDF-1.4\nbroken"));
  for (const std::string path : {"/v1/messages", "/v1/messages/count_tokens"}) {
    const Answer answer = post(server, path, "{" + turn + "}");
    EXPECT_EQ(answer.status, 400);
    EXPECT_TRUE(error_text_of(answer).starts_with("messages[0].content[1]: ")) << answer.body;
  }
  const std::string nested =
      R"({"messages":[{"role":"user","content":"A"},{"role":"assistant","content":[)"
      R"({"type":"tool_use","id":"toolu_1","name":"f","input":{}}]},{"role":"user","content":[)"
      R"({"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"x"},)"
      R"({"type":"document","source":)" +
      pdf_source("broken") + "}]}]}]}";
  const Answer answer = post(server, "/v1/messages", nested);
  EXPECT_EQ(answer.status, 400);
  EXPECT_TRUE(error_text_of(answer).starts_with("messages[2].content[0].content[1]: "))
      << answer.body;
  EXPECT_EQ(server.service().admission.in_flight(), 0u);
}

}  // namespace
}  // namespace zerohop
