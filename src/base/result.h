// BasicResult<T, E>: a value or the reason why there is none.
//
// Expected failure is a value here, never an exception (docs/STYLE.md, rule 9). `core/error.h`
// names the usual error type and the short form Result<T>. std::expected is C++23; this is the part
// of it that the project uses.
//
//   Result<int> parse(std::string_view text);
//
//   ZH_ASSIGN_OR_RETURN(const int port, parse(text));   // hands an error on to the caller
//   ZH_RETURN_IF_ERROR(check(port));
//
// Reading value() of a failure, or error() of a success, is a bug and crashes.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"

namespace zerohop {

template <class T, class E>
class [[nodiscard]] BasicResult {
 public:
  using Value = T;

  BasicResult(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  BasicResult(E error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    ZH_CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    ZH_CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    ZH_CHECK(ok());
    return std::move(*std::get_if<0>(&state_));
  }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  E& error() & {
    ZH_CHECK(!ok());
    return *std::get_if<1>(&state_);
  }
  const E& error() const& {
    ZH_CHECK(!ok());
    return *std::get_if<1>(&state_);
  }
  E&& error() && {
    ZH_CHECK(!ok());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<T, E> state_;
};

/// The form without a value: success or an error.
template <class E>
class [[nodiscard]] BasicResult<void, E> {
 public:
  using Value = void;

  BasicResult() = default;
  BasicResult(E error) : state_(std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  E& error() & {
    ZH_CHECK(!ok());
    return *std::get_if<1>(&state_);
  }
  const E& error() const& {
    ZH_CHECK(!ok());
    return *std::get_if<1>(&state_);
  }
  E&& error() && {
    ZH_CHECK(!ok());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<std::monostate, E> state_;
};

}  // namespace zerohop

#define ZH_CONCAT_INNER(a, b) a##b
#define ZH_CONCAT(a, b) ZH_CONCAT_INNER(a, b)

#define ZH_RETURN_IF_ERROR(expression)                    \
  do {                                                    \
    if (auto zh_status = (expression); !zh_status.ok()) { \
      return std::move(zh_status).error();                \
    }                                                     \
  } while (false)

#define ZH_ASSIGN_OR_RETURN_INNER(temporary, declaration, expression) \
  auto temporary = (expression);                                      \
  if (!temporary.ok()) return std::move(temporary).error();           \
  declaration = std::move(temporary).value()

#define ZH_ASSIGN_OR_RETURN(declaration, expression) \
  ZH_ASSIGN_OR_RETURN_INNER(ZH_CONCAT(zh_result_, __LINE__), declaration, expression)
