#include "api/anthropic_blocks.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/anthropic_conversation.h"
#include "api/error_body.h"
#include "api/json_reader.h"
#include "api/request_dump.h"

namespace zerohop {
namespace {

// What becomes of one message with this content, or the complaint.
std::string read(std::string_view role, std::string_view block,
                 Strictness strictness = Strictness::kLenient) {
  const std::string body = R"({"messages":[{"role":")" + std::string(role) + R"(","content":[)" +
                           std::string(block) + "]}]}";
  const auto document = parse_json(body);
  if (!document.ok()) return document.error().message;
  const JsonPlace root(document->root());
  const ParseOptions options{.strictness = strictness};
  const auto parsed = parse_anthropic_conversation(root, options);
  if (!parsed.ok()) return error_text(parsed.error());
  RequestDump dump;
  dump.conversation(parsed->conversation);
  return dump.text();
}
std::string user(std::string_view block) { return read("user", block); }
std::string assistant(std::string_view block) { return read("assistant", block); }
std::string strictly(std::string_view role, std::string_view block) {
  return read(role, block, Strictness::kStrict);
}

std::string result(std::string_view fields) {
  return user(R"({"type":"tool_result","tool_use_id":"t1")" + std::string(fields) + "}");
}

// ---- Documents, images, search results ----

TEST(AnthropicBlocks, RefusesImagesAndSaysWhy) {
  EXPECT_EQ(user(R"({"type":"image","source":{"type":"url","url":"x"}})"),
            "messages[0].content[0].type: image content is not supported: this model has no vision "
            "and reads text only");
}

TEST(AnthropicBlocks, ReadsDocumentsOfEverySource) {
  EXPECT_EQ(user(R"({"type":"document","title":"T","context":"C","citations":{"enabled":true},
      "source":{"type":"text","media_type":"text/plain","data":"words"}})"),
            "message: user\n  document: \"T\"\n    context: \"C\"\n    text: \"words\"\n");
  EXPECT_EQ(user(R"({"type":"document","source":{"type":"content","content":"words"}})"),
            "message: user\n  document: \"\"\n    text: \"words\"\n");
  EXPECT_EQ(user(R"({"type":"document","source":{"type":"content","content":[
      {"type":"text","text":"a"},{"type":"image","source":{"type":"base64",
      "media_type":"image/png","data":"AAAA"}},{"type":"text","text":"b"}]}})"),
            "message: user\n  document: \"\"\n    text: "
            "\"a\\n[image: image/png, 3 bytes; this model cannot see images]\\nb\"\n");
  EXPECT_EQ(user(R"({"type":"document","source":{"type":"base64","media_type":"application/pdf",
      "data":"JVBERg=="}})"),
            "message: user\n  document: \"\"\n    pdf: 4 bytes\n");
  EXPECT_EQ(user(R"({"type":"document","source":{"type":"base64","media_type":"text/plain",
      "data":"Zm9v"}})"),
            "message: user\n  document: \"\"\n    text: \"foo\"\n");
}

TEST(AnthropicBlocks, NamesWhatIsWrongWithADocument) {
  const std::string at = "messages[0].content[0].";
  const auto document = [](std::string_view source) {
    return user(R"({"type":"document","source":)" + std::string(source) + "}");
  };
  EXPECT_EQ(user(R"({"type":"document"})"), at + "source: is required");
  EXPECT_EQ(document(R"({"type":"url","url":"https://x"})"),
            at + "source.type: documents of source type url are not supported by this server; send "
                 "base64, text or content");
  EXPECT_EQ(document(R"({"type":"file","file_id":"f"})"),
            at + "source.type: documents of source type file are not supported by this server; "
                 "send base64, text or content");
  EXPECT_EQ(document(R"({"type":"base64","media_type":"application/pdf","data":"JVBERg"})"),
            at + "source.data: must be base64 with padding and without line breaks");
  EXPECT_EQ(document(R"({"type":"base64","media_type":"application/pdf","data":""})"),
            at + "source.data: must not be empty");
  EXPECT_EQ(document(R"({"type":"base64","media_type":"image/png","data":"AAAA"})"),
            at + "source.media_type: must be \"application/pdf\", got \"image/png\"");
  EXPECT_EQ(document(R"({"type":"base64","media_type":"text/plain","data":"//8="})"),
            at + "source: must hold valid UTF-8");
  EXPECT_EQ(document(R"({"type":"text","data":5})"), at + "source.data: must be a string, got 5");
  EXPECT_EQ(document(R"({"type":"tape"})"),
            at + "source.type: must be \"base64\", \"text\", \"content\", \"url\" or \"file\", got "
                 "\"tape\"");
  EXPECT_EQ(assistant(R"({"type":"document","source":{"type":"text","data":"x"}})"),
            at + "type: document content is allowed in user messages only");
  EXPECT_EQ(strictly("user", R"({"type":"document","source":{"type":"text",
      "media_type":"text/html","data":"x"}})"),
            at + "source.media_type: must be \"text/plain\", got \"text/html\"");
}

TEST(AnthropicBlocks, SearchResultsAreTextWithTitleAndSource) {
  EXPECT_EQ(user(R"({"type":"search_result","source":"https://x","title":"T","content":[
      {"type":"text","text":"a","citations":[]},{"type":"text","text":"b"}]})"),
            "message: user\n  text: \"Search result: T\\nSource: https://x\\na\\nb\"\n");
  EXPECT_EQ(user(R"({"type":"search_result","source":"s","title":"T"})"),
            "messages[0].content[0].content: is required");
}

// ---- Calls ----

TEST(AnthropicBlocks, CallsKeepTheOrderOfTheirKeys) {
  EXPECT_EQ(assistant(R"({"type":"tool_use","id":"t1","name":"f",
      "input":{ "z" : 1, "a" : [ "x" ] },"caller":{"type":"direct"},"toolset_name":null})"),
            "message: assistant\n  call: t1 f {\"z\":1,\"a\":[\"x\"]}\n");
  for (const char* type : {"server_tool_use", "mcp_tool_use"}) {
    EXPECT_EQ(assistant(R"({"type":")" + std::string(type) +
                        R"(","id":"t1","name":"f","input":{},"server_name":"s"})"),
              "message: assistant\n  call: t1 f {}\n");
  }
}

TEST(AnthropicBlocks, CallsMayLackTheirInputUnlessStrict) {
  for (const char* input : {"", R"(,"input":null)", R"(,"input":"")"}) {
    EXPECT_EQ(assistant(R"({"type":"tool_use","id":"t1","name":"f")" + std::string(input) + "}"),
              "message: assistant\n  call: t1 f {}\n");
  }
  EXPECT_EQ(assistant(R"({"type":"tool_use","id":"t","name":"f","input":"{\"a\": 1}"})"),
            "message: assistant\n  call: t f {\"a\":1}\n");
  EXPECT_EQ(strictly("assistant", R"({"type":"tool_use","id":"t1","name":"f"})"),
            "messages[0].content[0].input: is required");
}

TEST(AnthropicBlocks, NamesWhatIsWrongWithACall) {
  const std::string at = "messages[0].content[0].";
  EXPECT_EQ(assistant(R"({"type":"tool_use","name":"f"})"), at + "id: is required");
  EXPECT_EQ(assistant(R"({"type":"tool_use","id":"","name":"f"})"), at + "id: must not be empty");
  EXPECT_EQ(assistant(R"({"type":"tool_use","id":"t"})"), at + "name: is required");
  EXPECT_EQ(assistant(R"({"type":"tool_use","id":"t","name":"f","input":[]})"),
            at + "input: must be an object, got an array");
  EXPECT_EQ(assistant(R"({"type":"tool_use","id":"t","name":"f","input":"[1]"})"),
            at + "input: must be an object, got \"[1]\"");
  EXPECT_EQ(user(R"({"type":"tool_use","id":"t","name":"f"})"),
            at + "type: tool_use content is allowed in assistant messages only");
}

// ---- Results ----

TEST(AnthropicBlocks, ReadsResultsInEveryShape) {
  const std::string head = "message: user\n  result: t1\n";
  EXPECT_EQ(result(R"(,"content":"ok")"), head + "    text: \"ok\"\n");
  EXPECT_EQ(result(""), head);
  EXPECT_EQ(result(R"(,"content":null,"is_error":null)"), head);
  EXPECT_EQ(result(R"(,"content":[])"), head);
  EXPECT_EQ(result(R"(,"content":"","is_error":false)"), head);
  EXPECT_EQ(result(R"(,"content":"bad","is_error":true)"),
            "message: user\n  result: t1 error\n    text: \"bad\"\n");
}

TEST(AnthropicBlocks, ReadsEveryKindOfPartOfAResult) {
  EXPECT_EQ(
      result(R"(,"content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},
      {"type":"text","text":""},
      {"type":"document","title":"T","source":{"type":"text","data":"words"}},
      {"type":"document","source":{"type":"url","url":"https://x"}},
      {"type":"search_result","source":"s","title":"T","content":[{"type":"text","text":"b"}]},
      {"type":"tool_reference","tool_name":"hidden"},
      {"type":"browser_state","tabs":[{"tab_id":"1","title":"News","url":"https://n","active":true},
      {"tab_id":"2","title":"","url":""}],
      "state_changes":[{"type":"tab_opened","tab_id":"2"}]}])"),
      "message: user\n  result: t1\n    text: \"a\"\n    document: \"T\"\n      text: \"words\"\n"
      "    text: \"[document: https://x; not available on this server]\"\n"
      "    text: \"Search result: T\\nSource: s\\nb\"\n    reference: hidden\n"
      "    text: \"Open tabs:\\n- 1 (active): News https://n\\n- 2:  \\ntab_opened 2\"\n"
      "cache_mark: message 0 block 0\n");
}

TEST(AnthropicBlocks, NamesWhatIsWrongWithAResult) {
  const std::string at = "messages[0].content[0].";
  EXPECT_EQ(user(R"({"type":"tool_result"})"), at + "tool_use_id: is required");
  EXPECT_EQ(result(R"(,"content":5)"),
            at + "content: must be a string or an array of content blocks, got 5");
  EXPECT_EQ(result(R"(,"is_error":"no")"), at + "is_error: must be true or false, got \"no\"");
  EXPECT_EQ(result(R"(,"content":[{"type":"hologram"}])"),
            at + "content[0].type: must be a content type that a tool result may hold, got "
                 "\"hologram\"");
  EXPECT_EQ(result(R"(,"content":[{"type":"document","source":{"type":"base64",
      "media_type":"application/pdf","data":"!"}}])"),
            at + "content[0].source.data: must be base64 with padding and without line breaks");
}

// ---- Blocks of other servers ----

TEST(AnthropicBlocks, ResultsOfOtherServersBecomeTextBetweenTheTurns) {
  EXPECT_EQ(assistant(R"({"type":"text","text":"Let me look."},
      {"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"x"}},
      {"type":"web_search_tool_result","tool_use_id":"s1","content":[
      {"type":"web_search_result","title":"A","url":"https://a","page_age":"1 day",
       "encrypted_content":"zz"},
      {"type":"web_search_result","title":"B","url":"https://b","encrypted_content":"zz"}]},
      {"type":"text","text":"Found."})"),
            "message: assistant\n  text: \"Let me look.\"\n"
            "  call: s1 web_search {\"query\":\"x\"}\n"
            "message: user\n  result: s1\n"
            "    text: \"A\\nhttps://a (1 day)\\n\\nB\\nhttps://b\"\n"
            "message: assistant\n  text: \"Found.\"\n");
}

TEST(AnthropicBlocks, ReadsTheResultsOfEveryServerTool) {
  const auto content = [](std::string_view type, std::string_view inner) {
    return assistant(R"({"type":")" + std::string(type) + R"(","tool_use_id":"s","content":)" +
                     std::string(inner) + "}");
  };
  const std::string head = "message: user\n  result: s\n";
  const std::string failed = "message: user\n  result: s error\n";
  EXPECT_EQ(content("web_search_tool_result",
                    R"({"type":"web_search_tool_result_error","error_code":"unavailable"})"),
            failed + "    text: \"error: unavailable\"\n");
  EXPECT_EQ(content("web_fetch_tool_result",
                    R"({"type":"web_fetch_result","url":"https://x","content":{"type":"document",
                        "source":{"type":"text","media_type":"text/plain","data":"page"}}})"),
            head + "    text: \"https://x\"\n    document: \"\"\n      text: \"page\"\n");
  EXPECT_EQ(content("code_execution_tool_result",
                    R"({"type":"code_execution_result","stdout":"1","stderr":"w","return_code":2,
                        "content":[]})"),
            head + "    text: \"1\\nstderr: w\\nexit code: 2\"\n");
  EXPECT_EQ(content("code_execution_tool_result",
                    R"({"type":"encrypted_code_execution_result","encrypted_stdout":"zz"})"),
            head + "    text: \"[the result is encrypted and cannot be read here]\"\n");
  EXPECT_EQ(content("bash_code_execution_tool_result",
                    R"({"type":"bash_code_execution_result","stdout":"ok","return_code":0})"),
            head + "    text: \"ok\\nexit code: 0\"\n");
  EXPECT_EQ(content("text_editor_code_execution_tool_result",
                    R"({"type":"text_editor_code_execution_str_replace_result",
                        "lines":["-a","+b"]})"),
            head + "    text: \"-a\\n+b\"\n");
  EXPECT_EQ(content("text_editor_code_execution_tool_result",
                    R"({"type":"text_editor_code_execution_create_result",
                        "is_file_update":true})"),
            head + "    text: \"The file was updated.\"\n");
  EXPECT_EQ(content("tool_search_tool_result",
                    R"({"type":"tool_search_tool_search_result","tool_references":[
                        {"type":"tool_reference","tool_name":"f"}]})"),
            head + "    reference: f\n");
  EXPECT_EQ(content("mcp_tool_result", R"([{"type":"text","text":"from afar"}])"),
            head + "    text: \"from afar\"\n");
  EXPECT_EQ(content("advisor_tool_result", R"({"type":"advisor_result","text":"do it"})"),
            head + "    text: \"do it\"\n");
  EXPECT_EQ(content("advisor_tool_result", R"({"type":"advisor_redacted_result"})"),
            head + "    text: \"[the result is encrypted and cannot be read here]\"\n");
  EXPECT_EQ(content("mcp_tool_result", "5"), head);
}

TEST(AnthropicBlocks, OtherBlocksOfTheProtocolNeverFail) {
  EXPECT_EQ(user(R"({"type":"container_upload","file_id":"f1"})"),
            "message: user\n  text: \"[uploaded file f1; not available on this server]\"\n");
  EXPECT_EQ(assistant(R"({"type":"compaction","content":"Before: hello."})"),
            "message: assistant\n  text: \"Before: hello.\"\n");
  EXPECT_EQ(assistant(R"({"type":"compaction","content":null})"), "message: assistant\n");
  EXPECT_EQ(assistant(R"({"type":"fallback","from":{"model":"a"},"to":{"model":"b"}})"),
            "message: assistant\n");
  EXPECT_EQ(assistant(R"({"type":"mcp_tool_listing","mcp_server_name":"s","tools":[]})"),
            "message: assistant\n");
  EXPECT_EQ(assistant(R"({"type":"redacted_thinking","data":"zz"})"), "message: assistant\n");
}

TEST(AnthropicBlocks, NamesBlocksInTheWrongPlace) {
  const std::string at = "messages[0].content[0].type: ";
  EXPECT_EQ(user(R"({"type":"tool_reference","tool_name":"f"})"),
            at + "tool_reference content is allowed in tool results only");
  EXPECT_EQ(user(R"({"type":"tool_addition","tool":{}})"),
            at + "tool_addition content is allowed in system messages only");
  EXPECT_EQ(user(R"({"type":"hologram"})"), at + "must be a known content type, got \"hologram\"");
  EXPECT_EQ(strictly("assistant", R"({"type":"tool_result","tool_use_id":"t"})"),
            at + "tool_result content is allowed in user messages only");
  EXPECT_EQ(strictly("assistant", R"({"type":"thinking","thinking":"x"})"),
            "messages[0].content[0].signature: is required");
}

}  // namespace
}  // namespace zerohop
