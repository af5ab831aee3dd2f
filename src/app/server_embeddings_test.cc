// POST /v1/embeddings, through the whole server.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "api/base64.h"
#include "app/test_folder.h"
#include "app/test_server.h"

namespace zerohop {
namespace {

namespace json = boost::json;

Answer embed(const RunningServer& server, const std::string& members) {
  return post(server, "/v1/embeddings", "{" + members + "}");
}

std::vector<float> floats_of(const json::value& body, std::size_t index) {
  std::vector<float> floats;
  for (const json::value& number :
       body.at_pointer("/data/" + std::to_string(index) + "/embedding").as_array()) {
    floats.push_back(number.to_number<float>());
  }
  return floats;
}

double length_of(const std::vector<float>& vector) {
  double square = 0;
  for (const float number : vector) square += static_cast<double>(number) * number;
  return std::sqrt(square);
}

void expect_refused(const Answer& answer, const std::string& param) {
  EXPECT_EQ(answer.status, 400) << answer.body;
  EXPECT_EQ(text_at(answer.json(), "/error/param"), param) << answer.body;
  EXPECT_EQ(text_at(answer.json(), "/type"), "(none)");
}

TEST(ServerEmbeddings, AreAListInTheOrderOfTheInputs) {
  const RunningServer server(FakeModelOptions{});
  const json::value body = embed(server, R"("input":["one","two","one"],"model":"small")").json();
  EXPECT_EQ(text_at(body, "/object"), "list");
  EXPECT_EQ(text_at(body, "/model"), "fake");
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string at = "/data/" + std::to_string(i);
    EXPECT_EQ(text_at(body, at + "/object"), "embedding");
    EXPECT_EQ(number_at(body, at + "/index"), static_cast<std::int64_t>(i));
    EXPECT_EQ(floats_of(body, i).size(), 8u);
    EXPECT_NEAR(length_of(floats_of(body, i)), 1, 1e-5);
  }
  EXPECT_EQ(floats_of(body, 0), floats_of(body, 2));
  EXPECT_NE(floats_of(body, 0), floats_of(body, 1));
  EXPECT_EQ(number_at(body, "/usage/prompt_tokens"), 9);
  EXPECT_EQ(number_at(body, "/usage/total_tokens"), 9);
}

TEST(ServerEmbeddings, AreTheSameNumbersInBase64) {
  const RunningServer server(FakeModelOptions{});
  const json::value plain = embed(server, R"("input":"hello","encoding_format":"float")").json();
  const json::value coded = embed(server, R"("input":"hello","encoding_format":"base64")").json();
  const auto bytes = base64_decode(text_at(coded, "/data/0/embedding"));
  ASSERT_TRUE(bytes.has_value());
  const std::vector<float> floats = floats_of(plain, 0);
  ASSERT_EQ(bytes->size(), floats.size() * sizeof(float));
  std::vector<float> decoded(floats.size());
  std::memcpy(decoded.data(), bytes->data(), bytes->size());
  EXPECT_EQ(decoded, floats);
}

TEST(ServerEmbeddings, AreShortenedToTheDimensionsAskedFor) {
  const RunningServer server(FakeModelOptions{});
  const std::vector<float> all = floats_of(embed(server, R"("input":"hello")").json(), 0);
  const std::vector<float> four =
      floats_of(embed(server, R"("input":"hello","dimensions":4)").json(), 0);
  ASSERT_EQ(four.size(), 4u);
  EXPECT_NEAR(length_of(four), 1, 1e-5);
  for (std::size_t i = 1; i < four.size(); ++i) {
    EXPECT_NEAR(four[i] * all[0], all[i] * four[0], 1e-5) << "the direction has changed";
  }
  EXPECT_EQ(floats_of(embed(server, R"("input":"hello","dimensions":8)").json(), 0), all);
  expect_refused(embed(server, R"("input":"hello","dimensions":9)"), "dimensions");
  expect_refused(embed(server, R"("input":"hello","dimensions":0)"), "dimensions");
}

TEST(ServerEmbeddings, TakeTokens) {
  const RunningServer server(FakeModelOptions{});
  const std::vector<float> text = floats_of(embed(server, R"("input":"ab")").json(), 0);
  EXPECT_EQ(floats_of(embed(server, R"("input":[97,98])").json(), 0), text);
  const json::value lists = embed(server, R"("input":[[99],[97,98]])").json();
  EXPECT_EQ(floats_of(lists, 1), text);
}

TEST(ServerEmbeddings, NameTheInputThatIsWrong) {
  const RunningServer server(TestServerOptions{
      FakeModelOptions{}, [](Config& config) { config.engine.context_tokens = 128; }, {}});
  expect_refused(embed(server, R"("input":"")"), "input");
  expect_refused(embed(server, R"("input":[])"), "input");
  expect_refused(embed(server, R"("input":["a",""])"), "input[1]");
  expect_refused(embed(server, R"("input":[[97],[97,100000]])"), "input[1]");
  expect_refused(embed(server, R"("input":["a",")" + std::string(129, 'q') + "\"]"), "input[1]");
  expect_refused(embed(server, ""), "input");
  EXPECT_EQ(embed(server, R"("input":")" + std::string(128, 'q') + "\"").status, 200);
  EXPECT_EQ(server.service().admission.in_flight(), 0u);
}

TEST(ServerEmbeddings, ComeFromAModelOfTheirOwnWhereOneIsLoaded) {
  const TestBertFile bert;
  const RunningServer server(TestServerOptions{.embeddings = &bert});
  const json::value body = embed(server, R"("input":["one two","three"],"model":"any")").json();
  EXPECT_EQ(text_at(body, "/model"), "bert");
  EXPECT_EQ(text_at(embed(server, R"("input":"x","model":"fake")").json(), "/model"), "bert");
  EXPECT_EQ(floats_of(body, 0).size(), TestBert::kWidth);
  EXPECT_NEAR(length_of(floats_of(body, 1)), 1, 1e-5);
  EXPECT_EQ(number_at(body, "/usage/prompt_tokens"), 6 + 2 + 5 + 2);
  // "ab" as tokens of its own vocabulary, with and without those that stand around a text.
  const json::value tokens = embed(server, R"("input":[[5,8],[2,5,8,3]])").json();
  const std::vector<float> text = floats_of(embed(server, R"("input":"ab")").json(), 0);
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_NEAR(floats_of(tokens, 0)[i], text[i], 1e-4);
    EXPECT_NEAR(floats_of(tokens, 1)[i], text[i], 1e-4);
  }
  expect_refused(embed(server, R"("input":["a",")" + std::string(47, 'q') + "\"]"), "input[1]");
  EXPECT_EQ(embed(server, R"("input":")" + std::string(46, 'q') + "\"").status, 200);
  expect_refused(embed(server, R"("input":"a","dimensions":33)"), "dimensions");
}

TEST(ServerEmbeddings, ListTheirModelBesideTheServedOne) {
  const TestBertFile bert;
  const TestFolder batches;
  const RunningServer server(TestServerOptions{.batches = batches.path(), .embeddings = &bert});
  const json::value list = get(server, "/v1/models").json();
  EXPECT_EQ(text_at(list, "/data/0/id"), "fake");
  EXPECT_EQ(text_at(list, "/data/1/id"), "bert");
  EXPECT_EQ(text_at(list, "/data/1/type"), "model");
  EXPECT_EQ(number_at(list, "/data/1/max_input_tokens"), 48);
  EXPECT_EQ(text_at(list, "/data/0/capabilities/batch/supported"), "true");
  EXPECT_EQ(text_at(list, "/data/1/capabilities/batch/supported"), "false");
  EXPECT_EQ(get(server, "/v1/models/bert").status, 200);
}

TEST(ServerEmbeddings, AreCancelledWhenTheirReaderLeaves) {
  Gate gate(0);
  const RunningServer server(TestServerOptions{.gate = &gate});
  {
    Socket socket(server.port());
    socket.send(bytes_of({"/v1/embeddings", R"({"input":["one","two","three"]})", ""}));
    ASSERT_TRUE(eventually([&] { return gate.reached(); }));
    Socket behind(server.port());
    behind.send(bytes_of({"/v1/embeddings", R"({"input":"behind"})", ""}));
    ASSERT_TRUE(eventually([&] { return server.service().admission.in_flight() == 2; }));
  }
  // Whoever is answered now came after the two had left, so that is known when the engine goes on.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(get(server, "/livez").status, 200);
  // Jobs are ended by the engine.
  gate.open();
  server.settle();
  EXPECT_EQ(embed(server, R"("input":"next")").status, 200);
  // The one behind may have left before it came to the engine.
  EXPECT_GE(metric(server, "zerohop_cancellations_total", R"(phase="prefill")"), 1);
}

TEST(ServerEmbeddings, AreMadeWhileAnAnswerIsGenerated) {
  Gate gate(20);
  const RunningServer server(TestServerOptions{.model = never_ends(), .gate = &gate});
  Socket talker(server.port());
  talker.send(bytes_of({"/v1/messages",
                        R"({"max_tokens":400,"stream":true,"messages":[)"
                        R"({"role":"user","content":"Talk."}]})",
                        ""}));
  ASSERT_TRUE(eventually([&] { return gate.reached(); }));
  Socket reader(server.port());
  reader.send(bytes_of({"/v1/embeddings", R"({"input":"meanwhile"})", ""}));
  ASSERT_TRUE(eventually([&] { return server.service().admission.in_flight() == 2; }));
  gate.open();
  const Answer vectors = parse_answer(reader.receive_all());
  EXPECT_EQ(vectors.status, 200);
  EXPECT_EQ(floats_of(vectors.json(), 0).size(), 8u);
  const auto frames = parse_answer(talker.receive_all()).frames();
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames.back().event, "message_stop");
}

TEST(ServerEmbeddings, AreRefusedByAServerThatStops) {
  Gate gate(0);
  RunningServer server(TestServerOptions{.gate = &gate});
  Socket socket(server.port());
  socket.send(bytes_of({"/v1/embeddings", R"({"input":["one","two"]})", ""}));
  ASSERT_TRUE(eventually([&] { return gate.reached(); }));
  server.server().stop_now();
  ASSERT_TRUE(eventually([&] { return server.service().admission.closed(); }));
  gate.open();
  const Answer answer = parse_answer(socket.receive_all());
  EXPECT_TRUE(answer.status == 503 || answer.status == 200) << answer.head;
  server.join();
}

}  // namespace
}  // namespace zerohop
