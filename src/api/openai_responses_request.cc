#include "api/openai_responses_request.h"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "api/json_place.h"
#include "api/json_value_writer.h"
#include "api/openai_content.h"
#include "api/openai_fields.h"
#include "api/openai_generation.h"
#include "api/openai_output.h"
#include "api/openai_responses_input.h"
#include "api/openai_tools.h"
#include "api/output_rules.h"
#include "api/request_labels.h"
#include "api/service_fields.h"
#include "api/shared_fields.h"

namespace zerohop {
namespace {

struct RefusedField {
  std::string_view field;
  std::string_view what;
};
constexpr std::array<RefusedField, 3> kRefusedFields{
    {{"previous_response_id", "stored responses (send the whole conversation as input) are"},
     {"conversation", "stored conversations (send the whole conversation as input) are"},
     {"prompt", "stored prompts are"}}};

Result<void> refuse_stored_state(const JsonPlace& body) {
  for (const RefusedField& refused : kRefusedFields) {
    if (const auto place = body.find(refused.field))
      return openai_unsupported(*place, refused.what);
  }
  ZH_ASSIGN_OR_RETURN(const auto background, parse_openai_flag(body, "background"));
  if (!background.value_or(false)) return {};
  return invalid_request("background",
                         "responses in the background are not supported by this server");
}

Result<std::vector<Message>> parse_messages(const JsonPlace& body) {
  std::vector<Message> messages;
  if (const auto instructions = body.find("instructions")) {
    ZH_ASSIGN_OR_RETURN(auto parts, parse_openai_content(*instructions, OpenAiContentOf::kMessage));
    if (!parts.empty()) {
      messages.push_back(Message{Role::kSystem, {}});
      add_openai_parts(std::move(parts), messages.back().content);
    }
  }
  ZH_ASSIGN_OR_RETURN(const JsonPlace input, body.require("input"));
  ZH_ASSIGN_OR_RETURN(auto turns, parse_openai_input(input));
  if (messages.empty()) return turns;
  messages.reserve(messages.size() + turns.size());
  for (Message& turn : turns) messages.push_back(std::move(turn));
  return messages;
}

Result<Conversation> parse_conversation(const JsonPlace& body, const ParseOptions& options) {
  Conversation conversation;
  ZH_ASSIGN_OR_RETURN(conversation.messages, parse_messages(body));
  ZH_ASSIGN_OR_RETURN(conversation.thinking, parse_openai_thinking(body, options));
  ZH_ASSIGN_OR_RETURN(conversation.output, parse_responses_output_rules(body));
  ZH_ASSIGN_OR_RETURN(OpenAiTools tools, parse_openai_tools(body, options));
  conversation.tools = std::move(tools.tools);
  conversation.tool_choice = std::move(tools.choice);
  ZH_ASSIGN_OR_RETURN(const auto constrain, parse_openai_flag(body, "constrain_tools"));
  conversation.constrain_tools = constrain.value_or(true);
  return conversation;
}

// Members that a response object repeats, and what they are when the client did not say.
struct EchoedField {
  std::string_view field;
  std::string_view absent;
};
constexpr std::array<EchoedField, 12> kEchoed{{{"instructions", "null"},
                                               {"max_output_tokens", "null"},
                                               {"max_tool_calls", "null"},
                                               {"metadata", "{}"},
                                               {"parallel_tool_calls", "true"},
                                               {"reasoning", R"({"effort":null,"summary":null})"},
                                               {"temperature", "1"},
                                               {"text", R"({"format":{"type":"text"}})"},
                                               {"tool_choice", R"("auto")"},
                                               {"tools", "[]"},
                                               {"top_p", "1"},
                                               {"user", "null"}}};

Result<std::string> make_echo(const JsonPlace& body) {
  if (const auto metadata = body.find("metadata")) ZH_RETURN_IF_ERROR(metadata->expect_object());
  std::string echo;
  for (const EchoedField& echoed : kEchoed) {
    echo.append("\"").append(echoed.field).append("\":");
    if (const auto place = body.find(echoed.field)) {
      append_json_value(place->value(), echo);
    } else {
      echo.append(echoed.absent);
    }
    echo.push_back(',');
  }
  echo.append(R"("background":false,"previous_response_id":null,"store":false)");
  echo.append(R"(,"truncation":"disabled")");
  return echo;
}

}  // namespace

Result<OpenAiResponsesRequest> parse_responses_request(std::string_view body,
                                                       const ParseOptions& options) {
  ZH_ASSIGN_OR_RETURN(const JsonDocument document, parse_json(body));
  const JsonPlace root(document.root());
  ZH_RETURN_IF_ERROR(root.expect_object());
  ZH_RETURN_IF_ERROR(refuse_stored_state(root));
  OpenAiResponsesRequest request;
  ChatRequest& chat = request.chat;
  ZH_ASSIGN_OR_RETURN(chat.model, parse_model_name(root, options));
  ZH_ASSIGN_OR_RETURN(chat.conversation, parse_conversation(root, options));
  ZH_ASSIGN_OR_RETURN(
      chat.generation.max_tokens,
      parse_openai_max_tokens(root, {"max_output_tokens", "max_completion_tokens", "max_tokens"},
                              options));
  ZH_ASSIGN_OR_RETURN(chat.generation.sampling, parse_openai_sampling(root, options));
  ZH_ASSIGN_OR_RETURN(chat.generation.stop_sequences, parse_openai_stop(root, options));
  ZH_RETURN_IF_ERROR(parse_answer_limits(root, chat.generation));
  ZH_RETURN_IF_ERROR(refuse_cuts(root, chat.conversation.output, chat.generation));
  ZH_ASSIGN_OR_RETURN(const ServiceTier tier, parse_openai_service_tier(root, options));
  chat.generation.priority = tier.priority;
  chat.labels = request_labels(root);
  request.service_tier = tier.answer;
  ZH_ASSIGN_OR_RETURN(const auto stream, parse_openai_flag(root, "stream"));
  chat.stream = stream.value_or(false);
  ZH_ASSIGN_OR_RETURN(request.echo, make_echo(root));
  return request;
}

}  // namespace zerohop
