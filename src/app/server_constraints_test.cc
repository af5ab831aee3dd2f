// Answers that must have a form, through a whole server: the model is random, so whatever is right
// is right because nothing else could be sampled.

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "app/test_folder.h"
#include "app/test_server.h"

namespace zerohop {
namespace {

namespace json = boost::json;

TestServerOptions random_model(std::function<void(Config&)> configure = nullptr) {
  TestServerOptions options;
  options.configure = [configure](Config& config) {
    config.engine.context_tokens = 4096;
    if (configure) configure(config);
  };
  return options;
}

std::string body(const std::string& members) {
  return R"({"max_tokens":300,"seed":7,"messages":[{"role":"user","content":"Go"}],)" + members +
         "}";
}

std::string format(const std::string& schema) {
  return R"("output_config":{"format":{"type":"json_schema","schema":)" + schema + "}}";
}

const std::string kPoint =
    R"({"type":"object","properties":{"x":{"type":"integer","minimum":3,"maximum":9},)"
    R"("name":{"enum":["a","b"]}},"required":["x","name"],"additionalProperties":false})";
const std::string kRefused =
    R"({"type":"object","properties":{"a":{"type":"string","pattern":"(b)\\1"}}})";
const std::string kTools = R"("tools":[{"name":"draw","input_schema":)" + kPoint + "}]";

void expect_point(const json::value& point) {
  const double x = point.at("x").to_number<double>();
  EXPECT_TRUE(x >= 3 && x <= 9 && x == static_cast<int>(x)) << x;
  EXPECT_TRUE(text_at(point, "/name") == "a" || text_at(point, "/name") == "b");
}

TEST(ServerConstraints, AnAnswerMatchesItsSchema) {
  const RunningServer server(random_model());
  for (int i = 0; i < 3; ++i) {
    const json::value message = post(server, "/v1/messages", body(format(kPoint))).json();
    EXPECT_EQ(text_at(message, "/stop_reason"), "end_turn") << json::serialize(message);
    expect_point(json::parse(text_at(message, "/content/0/text")));
  }
}

TEST(ServerConstraints, AnAnswerMatchesItsSchemaInEachChoice) {
  const RunningServer server(random_model());
  const json::value reply =
      post(server, "/v1/chat/completions",
           body(R"("n":3,"response_format":{"type":"json_schema","json_schema":{"name":"p",)"
                R"("strict":true,"schema":)" +
                kPoint + "}}"))
          .json();
  for (const char* choice : {"0", "1", "2"}) {
    const std::string at = "/choices/" + std::string(choice);
    EXPECT_EQ(text_at(reply, at + "/finish_reason"), "stop") << json::serialize(reply);
    expect_point(json::parse(text_at(reply, at + "/message/content")));
  }
}

TEST(ServerConstraints, AnAnswerIsOneOfSomeTextsExactly) {
  const RunningServer server(random_model());
  const json::value choice =
      post(server, "/v1/chat/completions", body(R"("guided_choice":[" yes\n"])")).json();
  EXPECT_EQ(text_at(choice, "/choices/0/message/content"), " yes\n") << json::serialize(choice);
  const json::value pattern =
      post(server, "/v1/completions",
           R"({"prompt":"x","max_tokens":50,"guided_regex":"<think>[0-9]{3}</think> "})")
          .json();
  const std::string text = text_at(pattern, "/choices/0/text");
  EXPECT_EQ(text.size(), 19u) << json::serialize(pattern);
  EXPECT_TRUE(text.starts_with("<think>"));
}

TEST(ServerConstraints, AToolMustBeCalledAsItsSchemaSays) {
  const RunningServer server(random_model());
  for (const std::string choice : {R"("type":"any")", R"("type":"tool","name":"draw")"}) {
    const json::value message =
        post(server, "/v1/messages",
             body(kTools + R"(,"tool_choice":{"disable_parallel_tool_use":true,)" + choice + "}"))
            .json();
    EXPECT_EQ(text_at(message, "/stop_reason"), "tool_use") << json::serialize(message);
    EXPECT_EQ(text_at(message, "/content/0/name"), "draw");
    expect_point(message.at_pointer("/content/0/input"));
  }
}

TEST(ServerConstraints, AClientHearsWhichSchemaCannotBeEnforced) {
  const RunningServer server(random_model());
  const Answer refused = post(server, "/v1/messages", body(format(kRefused)));
  EXPECT_EQ(refused.status, 400);
  const std::string message = text_at(refused.json(), "/error/message");
  EXPECT_NE(message.find("output_config.format.schema"), std::string::npos) << message;
  EXPECT_NE(message.find("/properties/a pattern"), std::string::npos) << message;
  const Answer tool =
      post(server, "/v1/messages",
           body(R"("tools":[{"name":"odd","strict":true,"input_schema":)" + kRefused + "}]"));
  EXPECT_EQ(tool.status, 400);
  EXPECT_NE(tool.body.find("tools[0].input_schema"), std::string::npos) << tool.body;
  EXPECT_EQ(post(server, "/v1/messages",
                 body(format(R"({"type":"string","minLength":2,)"
                             R"("maxLength":1})")))
                .status,
            400);
}

TEST(ServerConstraints, AReplySaysWhatWasRelaxed) {
  const RunningServer server(random_model());
  const Answer reply = post(server, "/v1/messages",
                            body(R"("tools":[{"name":"odd","input_schema":)" + kRefused +
                                 R"(}],"tool_choice":{"type":"any"})"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.header("anthropic-kernel-constraint-relaxed"), "odd /properties/a pattern");
  const Answer all = post(server, "/v1/messages", body(kTools));
  EXPECT_EQ(all.header("anthropic-kernel-constraint-relaxed"), "");
}

TEST(ServerConstraints, AnAnswerThatCannotBeFinishedIsRefused) {
  const RunningServer server(random_model());
  const Answer refused = post(
      server, "/v1/messages",
      R"({"max_tokens":5,"messages":[{"role":"user","content":"Go"}],)" + format(kPoint) + "}");
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(refused.body.find("max_tokens"), std::string::npos) << refused.body;
  const auto refusals = [&](const std::string& outcome) {
    return metric(server, "zerohop_constraint_answers_total", "outcome=\"" + outcome + "\"");
  };
  EXPECT_EQ(refusals("refused_early"), 1);
  EXPECT_EQ(refusals("refused"), 0) << "the engine has not seen it";
  // The shortest one just fits.
  const json::value shortest =
      post(
          server, "/v1/messages",
          R"({"max_tokens":20,"messages":[{"role":"user","content":"Go"}],)" + format(kPoint) + "}")
          .json();
  expect_point(json::parse(text_at(shortest, "/content/0/text")));
  EXPECT_EQ(refusals("refused_early"), 1);
}

// Unless a tool itself insists.
TEST(ServerConstraints, AServerMayLeaveToolsFree) {
  const RunningServer server(
      random_model([](Config& config) { config.constraints.tools = false; }));
  const std::string tool = R"("tools":[{"name":"odd","input_schema":)" + kRefused;
  const std::string any = R"(}],"tool_choice":{"type":"any"})";
  const Answer left = post(server, "/v1/messages", body(tool + any));
  EXPECT_EQ(left.status, 200);
  EXPECT_EQ(left.header("anthropic-kernel-constraint-relaxed"), "") << "nothing was promised";
  EXPECT_EQ(metric(server, "zerohop_constraint_requests_total", "cache=\"miss\""), 0);
  EXPECT_EQ(post(server, "/v1/messages", body(tool + R"(,"strict":true)" + any)).status, 400);
  const json::value formed = post(server, "/v1/messages", body(format(kPoint))).json();
  expect_point(json::parse(text_at(formed, "/content/0/text")));
  EXPECT_EQ(metric(server, "zerohop_constraint_requests_total", "cache=\"miss\""), 1);
}

TEST(ServerConstraints, AServerMayEnforceNothing) {
  const RunningServer server(
      random_model([](Config& config) { config.constraints.enabled = false; }));
  const Answer reply = post(server, "/v1/messages", body(format(kRefused)));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.header("anthropic-kernel-constraint-relaxed"), "all constraints.enabled=false");
}

TEST(ServerConstraints, AClientHearsOfValuesThatNoCallCanHave) {
  const RunningServer server(random_model());
  const json::value message =
      post(server, "/v1/messages",
           R"({"max_tokens":300,"diagnostics":{},"messages":[{"role":"user","content":)"
           R"("Draw with name: c, or name: a"}],"tools":[{"name":"draw","live_arguments":true,)"
           R"("input_schema":)" +
               kPoint + R"(}],"tool_choice":{"type":"any"}})")
          .json();
  EXPECT_EQ(text_at(message, "/diagnostics/tool_conflicts"),
            R"([{"tool":"draw","argument":"name","value":"c"}])")
      << json::serialize(message);
}

// Every figure about constraints moves with what it counts.
TEST(ServerConstraints, EveryFigureOfThemMoves) {
  const RunningServer server(random_model());
  const auto now = [&](const std::string& name, const std::string& labels = "") {
    return metric(server, "zerohop_constraint_" + name, labels);
  };
  const std::string format_of_a_point = body(format(kPoint));
  EXPECT_EQ(post(server, "/v1/messages", format_of_a_point).status, 200);
  EXPECT_EQ(now("requests_total", "cache=\"miss\""), 1);
  EXPECT_EQ(now("requests_total", "cache=\"hit\""), 0);
  EXPECT_EQ(now("compile_seconds_count"), 1);
  const double checked = now("tokens_total", "event=\"checked\"");
  const double missed = now("tokens_total", "event=\"missed\"");
  EXPECT_GT(missed, 0);
  EXPECT_GE(checked, missed);
  EXPECT_GT(now("tokens_total", "event=\"forced\""), 0);
  EXPECT_GT(now("legal_mass"), 0);
  EXPECT_LT(now("legal_mass"), 1);
  const double built = now("masks_total", "cache=\"miss\"");
  EXPECT_GT(built, 0);
  EXPECT_GT(now("mask_microseconds_total"), 0);
  EXPECT_GT(now("mask_microseconds_max"), 0);
  EXPECT_EQ(now("machines"), 1);
  EXPECT_GT(now("bytes", "kind=\"masks\""), 0);
  EXPECT_GT(now("bytes", "kind=\"machines\""), 0);

  EXPECT_EQ(post(server, "/v1/messages", format_of_a_point).status, 200);
  EXPECT_EQ(now("requests_total", "cache=\"hit\""), 1);
  EXPECT_EQ(now("compile_seconds_count"), 1);
  EXPECT_GT(now("masks_total", "cache=\"hit\""), 0);

  EXPECT_EQ(post(server, "/v1/messages", body(format(kRefused))).status, 400);
  EXPECT_EQ(now("refusals_total", "kind=\"unsupported\",keyword=\"pattern\""), 1);
  const std::string odd = R"("tools":[{"name":"odd","input_schema":)" + kRefused + "}]";
  EXPECT_EQ(post(server, "/v1/messages", body(odd)).status, 200);
  EXPECT_EQ(now("relaxed_total"), 1);
  const std::string of_tokens = R"("messages":[{"role":"user","content":"Go"}],)";
  const std::string any_text = R"({"type":"string","minLength":10})";
  EXPECT_EQ(post(server, "/v1/messages",
                 R"({"max_tokens":13,"seed":7,)" + of_tokens + format(any_text) + "}")
                .status,
            200);
  EXPECT_EQ(now("answers_total", "outcome=\"closed_early\""), 1);
}

TEST(ServerConstraints, AreCompiledBeforeTheFirstRequest) {
  const TestFolder folder;
  const std::string file = (folder.path() / "tools.json").string();
  std::ofstream(file) << R"([{"name":"draw","input_schema":)" << kPoint << "}]";
  const RunningServer server(
      random_model([&](Config& config) { config.constraints.precompile = {file}; }));
  EXPECT_EQ(post(server, "/v1/messages", body(kTools)).status, 200);
  EXPECT_EQ(metric(server, "zerohop_constraint_requests_total", "cache=\"hit\""), 1);
}

// The forms in which people have a format at hand: a request's, an SDK's, the schema alone.
TEST(ServerConstraints, FilesHoldAFormatInAnyOfItsForms) {
  const std::string hosted = R"({"type":"json_schema","schema":)" + kPoint + "}";
  const std::string named = R"({"name":"p","strict":true,"schema":)" + kPoint + "}";
  const std::string chat = R"({"type":"json_schema","json_schema":)" + named + "}";
  for (const std::string& content :
       {kPoint, hosted, "{\"format\":" + hosted + "}",
        "{\"output_config\":{\"format\":" + hosted + "}}", "{\"output_format\":" + hosted + "}",
        chat, "{\"response_format\":" + chat + "}", "{\"json_schema\":" + named + "}", named}) {
    const TestFolder folder;
    const std::string file = (folder.path() / "format.json").string();
    std::ofstream(file) << content;
    const RunningServer server(
        random_model([&](Config& config) { config.constraints.precompile = {file}; }));
    EXPECT_EQ(post(server, "/v1/messages", body(format(kPoint))).status, 200) << content;
    EXPECT_EQ(metric(server, "zerohop_constraint_requests_total", "cache=\"hit\""), 1) << content;
  }
}

TEST(ServerConstraints, FilesThatHoldNothingToCompileAreRefused) {
  const TestFolder folder;
  const SteadyClock clock;
  Config config;
  config.server.port = 0;
  config.constraints.precompile = {(folder.path() / "odd.json").string()};
  for (const std::string content :
       {R"({"name":"draw"})", "{}", "[]", "7", "{", R"({"type":"text"})", R"({"type":"yaml"})",
        R"({"type":"json_schema"})", R"({"schema":7})", R"({"tools":[]})"}) {
    std::ofstream(config.constraints.precompile.front()) << content;
    Server server(config, clock);
    ASSERT_TRUE(server.listen().ok());
    const Result<void> refused = server.load(make_fake_model({}), nullptr);
    ASSERT_FALSE(refused.ok()) << content;
    EXPECT_EQ(refused.error().code, ErrorCode::kConfiguration) << content;
    EXPECT_NE(refused.error().message.find("odd.json"), std::string::npos) << content;
  }
}

}  // namespace
}  // namespace zerohop
