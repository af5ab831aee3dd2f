#include "model/llama_chat_template.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "model/llama_test_model.h"

namespace zerohop {
namespace {

using Messages = std::vector<TemplateMessage>;
using LlamaChatTemplate = WithDefaultModel;

std::unique_ptr<Model> model_with_template(const std::string& source) {
  LlamaModelOptions options;
  options.path = default_model_path();
  options.load = LlamaLoad::kTokenizerOnly;
  options.chat_template_override = source;
  Result<std::unique_ptr<Model>> model = load_llama_model(options);
  if (model.ok()) return std::move(model).value();
  ADD_FAILURE() << model.error().message;
  return nullptr;
}

TEST_F(LlamaChatTemplate, ATwoTurnConversationEndsWhereTheAnswerBegins) {
  const Messages messages{
      {"system", "Be brief."}, {"user", "Hi"}, {"assistant", "Hello!"}, {"user", "Who are you?  "}};
  const Result<std::string> prompt = model->chat_template().render({.messages = messages});
  ASSERT_TRUE(prompt.ok()) << prompt.error().message;
  EXPECT_EQ(*prompt,
            "<|im_start|>system\nBe brief.<|im_end|>\n"
            "<|im_start|>user\nHi<|im_end|>\n"
            "<|im_start|>assistant\nHello!<|im_end|>\n"
            "<|im_start|>user\nWho are you?  <|im_end|>\n"
            "<|im_start|>assistant\n");
  EXPECT_TRUE(model->chat_template().from_model());
}

TEST_F(LlamaChatTemplate, KeepsTheModelsDefaultSystemText) {
  const Result<std::string> prompt =
      model->chat_template().render({.messages = Messages{{"user", "Hi"}}});
  ASSERT_TRUE(prompt.ok());
  EXPECT_EQ(*prompt,
            "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging "
            "Face<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
}

TEST_F(LlamaChatTemplate, AnAssistantTurnLeftOpenEndsWithItsText) {
  for (const std::string text : {"The capital ", "Two\nlines", ""}) {
    const Messages messages{{"system", "S"}, {"user", "Q"}, {"assistant", text}};
    const Result<std::string> prompt =
        model->chat_template().render({.messages = messages, .continue_last = true});
    ASSERT_TRUE(prompt.ok()) << prompt.error().message;
    EXPECT_EQ(*prompt,
              "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nQ<|im_end|>\n"
              "<|im_start|>assistant\n" +
                  text);
  }
}

TEST_F(LlamaChatTemplate, AConversationGrowsWithoutChangingWhatWasRendered) {
  Messages messages{{"user", "One"}};
  const Result<std::string> first = model->chat_template().render({.messages = messages});
  messages.push_back({"assistant", "Two"});
  messages.push_back({"user", "Three"});
  const Result<std::string> second = model->chat_template().render({.messages = messages});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_TRUE(second->starts_with(*first + "Two")) << *second;
}

// A template that knows tools and thoughts, and prints what it is given.
constexpr const char* kToolTemplate =
    "{% for tool in tools %}{{ '[' + tool.function.name + ':' }}"
    "{{ tool.function.parameters | tojson }}{{ ']' }}{% endfor %}"
    "{% for m in messages %}<{{ m.role }}>"
    "{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}"
    "{{ m.content }}"
    "{% for call in m.tool_calls %}{{ '(' + call.function.name + call.id + ' ' }}"
    "{{ call.function.arguments | tojson }}{{ ')' }}{% endfor %}"
    "{% if m.role == 'tool' %}{{ '=' + m.tool_call_id + m.name }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<assistant>"
    "{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}"
    "{% endif %}";

TEST(LlamaChatTemplateTools, ToolsCallsResultsAndThoughtsReachTheTemplate) {
  const std::unique_ptr<Model> model = model_with_template(kToolTemplate);
  ASSERT_NE(model, nullptr);
  Messages messages{{"user", "One"}, {"assistant", "Hm", "deep"}, {"tool", "Seen"}};
  messages[1].tool_calls.push_back({"c1", "look", R"({"at":"it"})"});
  messages[2].tool_call_id = "c1";
  messages[2].tool_name = "look";
  const std::vector<TemplateTool> tools{{"look", "Looks", R"({"type":"object"})"}};
  const Result<std::string> prompt =
      model->chat_template().render({.messages = messages, .tools = tools});
  ASSERT_TRUE(prompt.ok()) << prompt.error().message;
  EXPECT_EQ(*prompt,
            "[look:{\"type\": \"object\"}]<user>One<assistant><think>deep</think>Hm(lookc1 "
            "{\"at\": \"it\"})"
            "<tool>Seen=c1look<assistant>");
}

TEST(LlamaChatTemplateTools, TheSwitchForThinkingReachesTheTemplate) {
  const std::unique_ptr<Model> model = model_with_template(kToolTemplate);
  ASSERT_NE(model, nullptr);
  const Messages messages{{"user", "One"}};
  EXPECT_EQ(*model->chat_template().render({.messages = messages, .thinking = false}),
            "<user>One<assistant><think></think>");
  EXPECT_EQ(*model->chat_template().render({.messages = messages, .thinking = true}),
            "<user>One<assistant>");
  EXPECT_EQ(*model->chat_template().render({.messages = messages}), "<user>One<assistant>");
}

TEST(LlamaChatTemplateTools, ArgumentsThatAreNoJsonAreAnErrorAndNoCrash) {
  const std::unique_ptr<Model> model = model_with_template(kToolTemplate);
  ASSERT_NE(model, nullptr);
  Messages messages{{"user", "One"}, {"assistant", ""}};
  messages[1].tool_calls.push_back({"c1", "look", "{not json"});
  EXPECT_FALSE(model->chat_template().render({.messages = messages}).ok());
  const std::vector<TemplateTool> tools{{"look", "Looks", "{not json"}};
  const Messages question{{"user", "One"}};
  EXPECT_FALSE(model->chat_template().render({.messages = question, .tools = tools}).ok());
}

TEST(LlamaChatTemplateErrors, ASystemPromptThatTheTemplateIgnoresIsRefused) {
  const std::unique_ptr<Model> model = model_with_template(
      "{% for m in messages %}{% if m['role'] != 'system' %}<{{ m['role'] }}>{{ m['content'] }}"
      "{% endif %}{% endfor %}");
  ASSERT_NE(model, nullptr);
  const Result<std::string> prompt =
      model->chat_template().render({.messages = Messages{{"system", "S"}, {"user", "a"}}});
  ASSERT_FALSE(prompt.ok());
  EXPECT_EQ(prompt.error().code, ErrorCode::kInvalidRequest);
}

TEST_F(LlamaChatTemplate, ThinkingTagsAreKnownOnlyWhereThereAreSome) {
  EXPECT_FALSE(model->chat_template().thinking_tags().has_value());
}

TEST(LlamaChatTemplateErrors, ARefusalOfTheTemplateIsTheClientsErrorWithOnlyItsMessage) {
  const std::unique_ptr<Model> model = model_with_template(
      "{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
      "{{ raise_exception('Conversation roles must alternate') }}{% endif %}"
      "<{{ m['role'] }}>{{ m['content'] }}</s>{% endfor %}"
      "{% if add_generation_prompt %}<assistant>{% endif %}");
  ASSERT_NE(model, nullptr);
  const Result<std::string> good =
      model->chat_template().render({.messages = Messages{{"user", "a"}}});
  ASSERT_TRUE(good.ok()) << good.error().message;
  EXPECT_EQ(*good, "<user>a</s><assistant>");
  const Result<std::string> bad =
      model->chat_template().render({.messages = Messages{{"user", "a"}, {"user", "b"}}});
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(bad.error().field, "messages");
  EXPECT_EQ(
      bad.error().message,
      "the model's chat template refuses this conversation: Conversation roles must alternate");
}

TEST(LlamaChatTemplateErrors, AFaultInsideTheTemplateIsNotTheClientsError) {
  const std::unique_ptr<Model> model = model_with_template("{{ nothing.at.all() }}");
  ASSERT_NE(model, nullptr);
  const Result<std::string> prompt =
      model->chat_template().render({.messages = Messages{{"user", "a"}}});
  ASSERT_FALSE(prompt.ok());
  EXPECT_EQ(prompt.error().code, ErrorCode::kInternal);
  EXPECT_EQ(prompt.error().message.find('\n'), std::string::npos) << prompt.error().message;
}

TEST(LlamaChatTemplateDate, TheDayThatATemplatePrintsIsFixedAtLoading) {
  LlamaModelOptions options;
  options.path = default_model_path();
  options.load = LlamaLoad::kTokenizerOnly;
  options.chat_template_override = "{{ date_string }} / {{ datetime }}";
  const Result<std::unique_ptr<Model>> model = load_llama_model(options);
  ASSERT_TRUE(model.ok()) << model.error().message;
  const Result<std::string> prompt =
      (*model)->chat_template().render({.messages = Messages{{"user", "a"}}});
  ASSERT_TRUE(prompt.ok()) << prompt.error().message;
  EXPECT_EQ(*prompt, "01 Jan 2026 / Jan 01 2026");
}

TEST_F(LlamaChatTemplate, AnyBytesInAMessageGiveAPromptOrAnError) {
  Random random(11);
  for (int round = 0; round < 50; ++round) {
    std::string bytes(random.below(60), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.below(256));
    const Result<std::string> prompt =
        model->chat_template().render({.messages = Messages{{"user", bytes}}});
    if (!prompt.ok()) continue;
    EXPECT_NE(prompt->find("<|im_start|>user\n"), std::string::npos);
  }
  const Result<std::string> braces =
      model->chat_template().render({.messages = Messages{{"user", "{{ 1 + 1 }} {% raw %}"}}});
  ASSERT_TRUE(braces.ok());
  EXPECT_NE(braces->find("{{ 1 + 1 }} {% raw %}"), std::string::npos) << "user text is never code";
}

TEST(PlainChatTemplate, NamesTheSpeakersAndEndsWhereTheAnswerBegins) {
  const PlainChatTemplate plain;
  EXPECT_FALSE(plain.from_model());
  EXPECT_EQ(*plain.render({.messages = Messages{{"system", "Be brief."},
                                                {"user", "Hello"},
                                                {"assistant", "Hi"},
                                                {"user", "Who are you?"}}}),
            "Be brief.\n\nUser: Hello\nAssistant: Hi\nUser: Who are you?\nAssistant:");
  EXPECT_EQ(*plain.render({.messages = Messages{{"user", "Hello"}, {"assistant", "I am"}},
                           .continue_last = true}),
            "User: Hello\nAssistant: I am");
  EXPECT_EQ(*plain.render({.messages = Messages{{"user", "Hello"}, {"assistant", ""}},
                           .continue_last = true}),
            "User: Hello\nAssistant:");
}

}  // namespace
}  // namespace zerohop
