// For golden tests: events and errors that the input of a golden file describes as JSON.
#pragma once

#include <gtest/gtest.h>

#include <boost/json/object.hpp>
#include <boost/json/value_to.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/usage.h"

namespace zerohop {

inline std::string text_at(const boost::json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value == nullptr ? std::string() : boost::json::value_to<std::string>(*value);
}

inline std::uint32_t count_at(const boost::json::object& object, std::string_view key,
                              std::uint32_t absent = 0) {
  const auto* value = object.if_contains(key);
  return value == nullptr ? absent : boost::json::value_to<std::uint32_t>(*value);
}

inline ErrorCode code_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::kAddressInUse); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    if (error_traits(code).name == name) return code;
  }
  ADD_FAILURE() << "no error code is named " << name;
  return ErrorCode::kInternal;
}

inline FinishReason reason_named(std::string_view name) {
  for (const FinishReason reason :
       {FinishReason::kEndOfTurn, FinishReason::kMaxTokens, FinishReason::kContextWindow,
        FinishReason::kStopSequence, FinishReason::kToolUse}) {
    if (finish_reason_name(reason) == name) return reason;
  }
  ADD_FAILURE() << "no finish reason is named " << name;
  return FinishReason::kEndOfTurn;
}

inline Error read_error(const boost::json::object& script) {
  return Error{code_named(text_at(script, "code")), text_at(script, "message"),
               text_at(script, "field"),
               std::chrono::milliseconds{count_at(script, "retry_after_ms")}};
}

}  // namespace zerohop
