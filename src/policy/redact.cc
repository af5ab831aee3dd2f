#include "policy/redact.h"

#include <utility>

#include "base/utf8.h"
#include "policy/pii.h"
#include "policy/pii_parts.h"

namespace zerohop {
namespace {

std::string replace(std::string_view text, const std::vector<PiiSpan>& spans) {
  std::string out;
  out.reserve(text.size());
  std::size_t kept = 0;
  for (const PiiSpan& span : spans) {
    out.append(text.substr(kept, span.begin - kept));
    out.append("[").append(pii_kind_name(span.kind)).append("]");
    kept = span.end;
  }
  out.append(text.substr(kept));
  return out;
}

}  // namespace

// What stood on both sides of something may be something together, so the result is looked at
// again. Each round takes bytes away; a text that still is not done after a few of them was made to
// be like that, and nobody needs to read it.
std::string redact_pii(std::string text) {
  constexpr int kRoundsMax = 8;
  const std::size_t bytes = text.size();
  for (int round = 0; round < kRoundsMax; ++round) {
    const std::vector<PiiSpan> spans = find_pii(text);
    if (spans.empty()) return text;
    text = replace(text, spans);
  }
  return "[" + std::to_string(bytes) + " bytes]";
}

namespace {

bool opens_quote(std::string_view text, std::size_t at) {
  if (text[at] == '"') return true;
  return text[at] == '\'' && (at == 0 || !is_ascii_word(text[at - 1]));
}

// Behind the last such mark, because what is quoted may hold marks itself; the end of the text when
// there is none.
std::size_t quote_end(std::string_view text, std::size_t at) {
  const std::size_t last = text.rfind(text[at]);
  return last > at ? last + 1 : text.size();
}

}  // namespace

std::string without_quoted(std::string_view message) {
  std::string out;
  for (std::size_t at = 0; at < message.size();) {
    if (opens_quote(message, at)) {
      out.append("[quoted]");
      at = quote_end(message, at);
    } else {
      out.push_back(message[at++]);
    }
  }
  return out;
}

std::string redact_field(std::string_view text, std::size_t bytes_max) {
  constexpr std::size_t kLookedAt = 4'096;  // beyond what is kept
  const bool long_text = text.size() > bytes_max + kLookedAt;
  std::string out =
      redact_pii(std::string(text.substr(0, long_text ? bytes_max + kLookedAt : text.size())));
  if (out.size() <= bytes_max && !long_text) return out;
  if (out.size() > bytes_max) out.resize(bytes_max);
  // Not in the middle of a character, nor of a mark like "[phone]".
  while (!out.empty() && !utf8_is_valid(out) && bytes_max - out.size() < 4) out.pop_back();
  // A part of what was harmless as a whole may look like something.
  return redact_pii(std::move(out)) + "…";
}

}  // namespace zerohop
