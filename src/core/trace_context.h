// Which trace a request belongs to, by W3C Trace Context (Level 1, w3.org/TR/trace-context-1):
//
//   traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
//                │  trace id, 16 bytes               parent id, 8      flags: 01 sampled
//                version
//   tracestate:  rojo=00f067aa0ba902b7,congo=t61rcWkgMzE
//
// What is malformed is not repaired: its sender would not find its trace again, so a new one is
// begun. Pure functions over plain values; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zerohop {

/// All zero: there is none.
template <std::size_t kBytes>
struct TraceBytes {
  std::array<unsigned char, kBytes> bytes{};

  bool valid() const { return bytes != std::array<unsigned char, kBytes>{}; }
  friend bool operator==(const TraceBytes&, const TraceBytes&) = default;
};

/// Of a whole trace, and of one span of it.
struct TraceId : TraceBytes<16> {};
struct SpanId : TraceBytes<8> {};

/// Two lower-case digits for each byte, as on the wire; empty for none.
std::string trace_id_text(const TraceId& id);
std::string span_id_text(const SpanId& id);

struct TraceParent {
  TraceId trace;
  SpanId span;           ///< of the sender: the parent of whatever the receiver does
  bool sampled = false;  ///< the sender may have recorded it; other flags mean nothing to us

  friend bool operator==(const TraceParent&, const TraceParent&) = default;
};

/// The value of a traceparent field without white space around it (section 3.2). Version 00 is
/// exactly 55 characters; of a later version the first 55 are read, if nothing or a dash follows;
/// version ff, upper-case digits and ids of zeros are nothing.
std::optional<TraceParent> parse_traceparent(std::string_view value);

/// In version 00, with no flag but sampled: reserved ones must not be handed on.
std::string traceparent_text(const TraceParent& parent);

/// Members of a tracestate, and bytes of it that are handed on. The standard asks for 32, and for
/// at least 512.
inline constexpr std::size_t kTraceStateMembersMax = 32;
inline constexpr std::size_t kTraceStateBytesMax = 512;

/// The values of all tracestate fields as one, without empty members and those whose key was there
/// before (section 3.3). Empty where one is malformed or there are too many: then none of it may be
/// used. Where it is longer than kTraceStateBytesMax, whole members are left out: first those of
/// more than 128 characters, then those at the end (section 3.3.1.5).
std::string joined_tracestate(std::span<const std::string_view> fields);

}  // namespace zerohop
