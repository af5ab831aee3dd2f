// Fields of other APIs inside an Anthropic request, in one table: clients send them out of habit,
// and for many there is no other way to say the same. Internal to api/; pure functions; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "api/json_place.h"
#include "core/error.h"

namespace zerohop {

/// The member `field` of `body`, else its first alias that is present. Nothing: neither is there.
std::optional<JsonPlace> find_field(const JsonPlace& body, std::string_view field);

/// For strict mode: an error naming the first foreign field that is present.
Result<void> refuse_foreign_fields(const JsonPlace& body);

}  // namespace zerohop
