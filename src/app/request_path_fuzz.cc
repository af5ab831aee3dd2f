// Fuzz target: any bytes as the body of every endpoint that generates text, from the parser to what
// the engine would be given, on the fake model: parse, prompt, tokens, output stage. Whatever they
// are, the outcome is work for the engine or an error that blames the client, never the server.
// Seeds: tests/corpus/request_path/ (bodies of all dialects).
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "api/error_body.h"
#include "api/openai_error_body.h"
#include "app/messages_call.h"
#include "app/openai_calls.h"
#include "app/service.h"
#include "app/test_tier.h"
#include "base/check.h"
#include "base/log.h"

namespace zerohop {
namespace {

// A service with a fake model behind it, without a socket and without an engine thread.
class Fixture {
 public:
  Fixture() : service_(Config{}, clock_) {
    log_configure({.level = LogLevel::kOff});
    FakeModelOptions model;
    model.context_trained = 4096;
    service_.loaded_tier = make_fake_tier(service_.config.engine, clock_, waker_, model);
    strict_.name = "strict";
    strict_.strict = true;
    strict_.default_max_tokens = 16;
  }

  void run(const std::string& body) {
    for (const WireProfile* profile :
         {&scope_.live->wire_profiles.find(""), &std::as_const(strict_)}) {
      MessagesHead head;
      head.profile = profile;
      check(make_messages_call(scope_, std::move(head)), body);
      count(*profile, body);
    }
    check(make_chat_completions_call(scope_), body);
    check(make_completions_call(scope_), body);
    check(make_responses_call(scope_), body);
  }

 private:
  static void check_error(const Error& error) {
    const int status = error_traits(error.code).status;
    ZH_CHECK(status >= 400 && status < 500);
    ZH_CHECK(!error.message.empty());
    ZH_CHECK(!anthropic_error_body(error, "req_fuzz").empty() && !openai_error_body(error).empty());
  }

  void check(const std::unique_ptr<DialectCall>& call, const std::string& body) {
    const Result<void> parsed = call->parse(body);
    if (!parsed.ok()) return check_error(parsed.error());
    Conversation* conversation = call->conversation();
    // Reading a PDF starts a process: its own tests do that.
    if (conversation != nullptr && has_unread_documents(*conversation)) return;
    const Result<PreparedCall> prepared = call->prepare();
    if (!prepared.ok()) return check_error(prepared.error());
    ZH_CHECK(!prepared->choices.empty());
    ZH_CHECK((prepared->stream != nullptr) != (prepared->whole != nullptr));
    for (const PreparedGeneration& choice : prepared->choices) {
      const EngineRequest& request = choice.request;
      ZH_CHECK(!request.prompt.empty() && request.prompt.size() <= service_.tier().window());
      ZH_CHECK(request.marked_tokens <= request.prompt.size());
      ZH_CHECK(request.stage != nullptr);
    }
  }

  // Counted and computed prompts are the same.
  void count(const WireProfile& profile, const std::string& body) {
    const Result<ChatRequest> request = parse_count_call(scope_, profile, body);
    if (!request.ok()) return check_error(request.error());
    if (has_unread_documents(request->conversation)) return;
    const Result<std::uint32_t> counted = count_prompt_tokens(scope_, *request);
    if (!counted.ok()) return check_error(counted.error());
    MessagesHead head;
    head.profile = &profile;
    const auto call = make_messages_call(scope_, std::move(head));
    if (!call->parse(body).ok()) return;
    const Result<PreparedCall> prepared = call->prepare();
    if (prepared.ok()) ZH_CHECK(prepared->choices.front().request.prompt.size() == *counted);
  }

  SteadyClock clock_;
  NobodyToWake waker_;
  Service service_;
  const CallScope scope_{service_, service_.live.get()};
  WireProfile strict_;
};

}  // namespace
}  // namespace zerohop

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static zerohop::Fixture fixture;
  fixture.run(std::string(data, data + size));
  return 0;
}
