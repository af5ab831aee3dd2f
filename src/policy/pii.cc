#include "policy/pii.h"

#include <algorithm>
#include <optional>

#include "policy/pii_parts.h"

namespace zerohop {
namespace {

bool is_word_byte(char c) { return is_ascii_word(c) || c == '_' || c == '-'; }

// One pass from left to right. What was found is stepped over, so spans never overlap.
class PiiScan {
 public:
  explicit PiiScan(std::string_view text) : text_(text) {}

  std::vector<PiiSpan> run() {
    while (at_ < text_.size()) {
      const std::optional<PiiSpan> found = look();
      if (!found) {
        ++at_;
        continue;
      }
      // An address is found at its `@`, behind what it begins with.
      while (!spans_.empty() && spans_.back().begin >= found->begin) spans_.pop_back();
      spans_.push_back(*found);
      at_ = found->end;
    }
    return std::move(spans_);
  }

 private:
  static std::optional<PiiSpan> span(PiiKind kind, std::size_t begin,
                                     std::optional<std::size_t> end) {
    if (!end) return std::nullopt;
    return PiiSpan{kind, begin, *end};
  }

  std::optional<PiiSpan> look() {
    const char c = text_[at_];
    if (c == '@' || (c == '%' && text_.substr(at_, 3) == "%40")) {
      const std::size_t least = spans_.empty() ? 0 : spans_.back().end;
      if (const auto email = email_around(text_, at_, least)) return email;
    }
    if (c == '-' && text_.substr(at_, 10) == "-----BEGIN") {
      if (const auto key = span(PiiKind::kSecret, at_, private_key_from(text_, at_))) return key;
    }
    if (c == ':' && text_.substr(at_, 3) == "://") {
      if (const auto secret = url_secret_from(text_, at_)) return secret;
    }
    if (is_word_byte(c) && at_ >= word_end_) {
      if (const auto secret = look_at_word()) return secret;
    }
    return look_at_number(c);
  }

  // Once for each word, or a long one would be gone over from each of its bytes.
  std::optional<PiiSpan> look_at_word() {
    word_end_ = at_;
    while (word_end_ < text_.size() && is_word_byte(text_[word_end_])) ++word_end_;
    return secret_from(text_, at_, word_end_);
  }

  std::optional<PiiSpan> look_at_number(char c) const {
    const bool begins = !is_ascii_word(byte_before(text_, at_));
    if (begins && is_ascii_letter(c)) return span(PiiKind::kIban, at_, iban_from(text_, at_));
    if (begins && is_ascii_digit(c)) {
      if (const auto card = span(PiiKind::kCard, at_, card_from(text_, at_))) return card;
    }
    if (begins && (is_ascii_digit(c) || c == '+' || c == '(')) {
      return span(PiiKind::kPhone, at_, phone_from(text_, at_));
    }
    return std::nullopt;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  std::size_t word_end_ = 0;
  std::vector<PiiSpan> spans_;
};

}  // namespace

std::string_view pii_kind_name(PiiKind kind) {
  switch (kind) {
    case PiiKind::kEmail: return "email";
    case PiiKind::kPhone: return "phone";
    case PiiKind::kCard: return "card";
    case PiiKind::kIban: return "iban";
    case PiiKind::kSecret: break;
  }
  return "secret";
}

std::vector<PiiSpan> find_pii(std::string_view text) { return PiiScan(text).run(); }

}  // namespace zerohop
