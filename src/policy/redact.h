// Texts that may be logged: what the recognisers of pii.h find is replaced by its kind.
//
//   "jo@example.org called +49 30 901820"  →  "[email] called [phone]"
//
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"

namespace zerohop {

/// `text` without what find_pii() finds, and in the result it finds nothing.
std::string redact_pii(std::string text);

/// The same for one field of a log line: at most `bytes_max` bytes of it, cut between characters,
/// "…" behind where something was cut off. What could be half of something is not kept: the text is
/// redacted before it is cut, and where it is very long, the part that is looked at is longer than
/// what is kept.
std::string redact_field(std::string_view text, std::size_t bytes_max);

/// A message that quotes what a client wrote (`must be a number, got "…"`), without what stands
/// between the first and the last of its quotation marks: a prompt in a wrong field would be
/// repeated there. A mark that is not closed quotes the rest; an apostrophe in a word opens none.
std::string without_quoted(std::string_view message);

/// What base/log.h asks for client and model text.
class PiiRedactor final : public Redactor {
 public:
  std::string redact(std::string_view text) const override { return redact_pii(std::string(text)); }
  std::string scrub(std::string value) const override { return redact_pii(std::move(value)); }
};

}  // namespace zerohop
