#include "core/trace_context.h"

#include <algorithm>
#include <vector>

#include "base/hex.h"

namespace zerohop {
namespace {

// 00-<32>-<16>-<2>
constexpr std::size_t kTraceAt = 3;
constexpr std::size_t kSpanAt = 36;
constexpr std::size_t kFlagsAt = 53;
constexpr std::size_t kWhole = 55;
constexpr unsigned char kSampled = 1;

// Upper case is malformed here.
int digit(char c) {
  const bool lower = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  return lower ? hex_digit_value(static_cast<unsigned char>(c)) : -1;
}

bool read_hex(std::string_view text, std::span<unsigned char> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = digit(text[2 * i]);
    const int low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    out[i] = static_cast<unsigned char>(high << 4 | low);
  }
  return true;
}

// ---- tracestate ----

constexpr std::size_t kKeyBytesMax = 256;
constexpr std::size_t kTenantBytesMax = 241;  // in front of the @
constexpr std::size_t kSystemBytesMax = 14;   // behind it
constexpr std::size_t kValueBytesMax = 256;
constexpr std::size_t kLongMember = 128;  // goes first where all is too long

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_number(char c) { return c >= '0' && c <= '9'; }

bool is_key_byte(char c) {
  return is_letter(c) || is_number(c) || c == '_' || c == '-' || c == '*' || c == '/';
}

bool is_name(std::string_view text, std::size_t bytes_max) {
  return !text.empty() && text.size() <= bytes_max && std::ranges::all_of(text, is_key_byte);
}

// `vendor`, or `tenant@vendor` whose tenant may begin with a number.
bool is_key(std::string_view key) {
  const std::size_t at = key.find('@');
  if (at == key.npos) return is_name(key, kKeyBytesMax) && is_letter(key[0]);
  const std::string_view tenant = key.substr(0, at);
  const std::string_view system = key.substr(at + 1);
  return is_name(tenant, kTenantBytesMax) && (is_letter(tenant[0]) || is_number(tenant[0])) &&
         is_name(system, kSystemBytesMax) && is_letter(system[0]);
}

bool is_value(std::string_view value) {
  const auto allowed = [](char c) { return c >= 0x20 && c <= 0x7e && c != ',' && c != '='; };
  return !value.empty() && value.size() <= kValueBytesMax && value.back() != ' ' &&
         std::ranges::all_of(value, allowed);
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

using Members = std::vector<std::string_view>;

std::string_view key_of(std::string_view member) { return member.substr(0, member.find('=')); }

// False: none of the state may be used. Of two members with one key the newer one stands in front.
bool add_member(std::string_view member, Members& members) {
  if (member.empty()) return true;
  const std::size_t equals = member.find('=');
  if (equals == member.npos || !is_key(member.substr(0, equals)) ||
      !is_value(member.substr(equals + 1))) {
    return false;
  }
  const auto same = [&member](std::string_view other) { return key_of(other) == key_of(member); };
  if (std::ranges::any_of(members, same)) return true;
  if (members.size() == kTraceStateMembersMax) return false;
  members.push_back(member);
  return true;
}

bool add_field(std::string_view field, Members& members) {
  while (true) {
    const std::size_t comma = std::min(field.find(','), field.size());
    if (!add_member(trimmed(field.substr(0, comma)), members)) return false;
    if (comma == field.size()) return true;
    field.remove_prefix(comma + 1);
  }
}

std::size_t joined_bytes(const Members& members) {
  std::size_t bytes = members.empty() ? 0 : members.size() - 1;
  for (const std::string_view member : members) bytes += member.size();
  return bytes;
}

void shorten(Members& members) {
  while (joined_bytes(members) > kTraceStateBytesMax) {
    const auto is_long = [](std::string_view member) { return member.size() > kLongMember; };
    const auto found = std::find_if(members.rbegin(), members.rend(), is_long);
    if (found != members.rend()) {
      members.erase(std::next(found).base());
    } else {
      members.pop_back();
    }
  }
}

}  // namespace

std::string trace_id_text(const TraceId& id) {
  return id.valid() ? hex_of(id.bytes) : std::string();
}

std::string span_id_text(const SpanId& id) { return id.valid() ? hex_of(id.bytes) : std::string(); }

std::optional<TraceParent> parse_traceparent(std::string_view value) {
  if (value.size() < kWhole) return std::nullopt;
  std::array<unsigned char, 1> version{};
  std::array<unsigned char, 1> flags{};
  TraceParent parent;
  const bool read = read_hex(value, version) && value[kTraceAt - 1] == '-' &&
                    read_hex(value.substr(kTraceAt), parent.trace.bytes) &&
                    value[kSpanAt - 1] == '-' &&
                    read_hex(value.substr(kSpanAt), parent.span.bytes) &&
                    value[kFlagsAt - 1] == '-' && read_hex(value.substr(kFlagsAt), flags);
  if (!read || version[0] == 0xff || !parent.trace.valid() || !parent.span.valid()) {
    return std::nullopt;
  }
  if (value.size() > kWhole && (version[0] == 0 || value[kWhole] != '-')) return std::nullopt;
  parent.sampled = (flags[0] & kSampled) != 0;
  return parent;
}

std::string traceparent_text(const TraceParent& parent) {
  return "00-" + hex_of(parent.trace.bytes) + "-" + hex_of(parent.span.bytes) +
         (parent.sampled ? "-01" : "-00");
}

std::string joined_tracestate(std::span<const std::string_view> fields) {
  Members members;
  for (const std::string_view field : fields) {
    if (!add_field(field, members)) return {};
  }
  shorten(members);
  std::string joined;
  for (const std::string_view member : members) {
    if (!joined.empty()) joined.push_back(',');
    joined.append(member);
  }
  return joined;
}

}  // namespace zerohop
