// The screen of `zerohop top`: what console_data.h says, as lines for a terminal. Pure; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"

namespace zerohop {

struct ScreenSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

/// Turns looks at a server into screens; rates are those between two looks. One thread.
class TopScreen {
 public:
  /// At most `size.rows` lines, none wider than `size.columns` characters. Nothing in it moves the
  /// cursor or changes colours: texts of clients lose their control characters. Errors:
  /// kInvalidRequest (`body` is not what a server's /console/data says).
  Result<std::string> draw(std::string_view body, const ScreenSize& size);

 private:
  std::optional<boost::json::object> before_;
};

}  // namespace zerohop
