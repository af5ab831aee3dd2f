// For tests: bodies in, requests or complaints out.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/error_body.h"
#include "api/json_place.h"
#include "api/openai_chat_request.h"

namespace zerohop::openai_test {

inline constexpr ParseOptions kStrict{.strictness = Strictness::kStrict};

/// `fields` are the members of a body beside one user message.
inline Result<OpenAiChatRequest> parse_chat(std::string_view fields,
                                            const ParseOptions& options = {}) {
  std::string body = R"({"messages":[{"role":"user","content":"Hi"}])";
  if (!fields.empty()) body.append(",").append(fields);
  return parse_chat_completions_request(body.append("}"), options);
}

inline OpenAiChatRequest parsed_chat(std::string_view fields) {
  auto result = parse_chat(fields);
  EXPECT_TRUE(result.ok()) << fields << ": " << (result.ok() ? "" : error_text(result.error()));
  return result.ok() ? *std::move(result) : OpenAiChatRequest{};
}

template <class T>
std::string complaint_of(const Result<T>& result) {
  return result.ok() ? "" : error_text(result.error());
}

inline std::string chat_complaint(std::string_view fields, const ParseOptions& options = {}) {
  return complaint_of(parse_chat(fields, options));
}

}  // namespace zerohop::openai_test
