// ChunkDecoder: a chunked body (RFC 9112, section 7.1) → its bytes, whatever the reads are.
//
// Our own instead of Boost.Beast's, because that of Boost 1.81 aborts in builds with assertions
// when the last chunk arrives byte by byte (its check `n >= 5`; found by request_head_fuzz), and
// because being strict here is what keeps two parsers from disagreeing: sizes are hexadecimal
// digits and nothing else (blanks only in front of an extension's semicolon), every line ends in
// CR LF, extensions and trailers are skipped but bounded.
//
//  kSize ─▶ (kSizeBlank) ─▶ (kExtension) ─▶ kSizeFeed ─▶ kData ─▶ kDataReturn ─▶ kDataFeed ─▶ kSize
//                                                │ size 0
//              ┌─────────────────────────────────┘
//              ▼
//              kTrailerBegin ─▶ kTrailer ─▶ kTrailerFeed ─▶ kTrailerBegin
//                   └── CR ──▶ kEndFeed ── LF ──▶ kEnd
//
// One owner; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"

namespace zerohop {

enum class ParseState : std::uint8_t { kNeedMore, kDone, kFailed };

struct ParseProgress {
  ParseState state;
  std::size_t bytes_consumed;  ///< what the caller removes from the front of its buffer
};

class ChunkDecoder {
 public:
  explicit ChunkDecoder(std::size_t body_bytes_max) : body_bytes_max_(body_bytes_max) {}

  /// Appends data to `body`. Consumes everything up to the end of the body. Errors:
  /// kInvalidRequest, kRequestTooLarge as soon as a size says so.
  ParseProgress feed(std::string_view bytes, std::string& body);
  /// After kFailed.
  const Error& error() const { return error_; }

 private:
  enum class Place : std::uint8_t {
    kSize,
    kSizeBlank,
    kExtension,
    kSizeFeed,
    kData,
    kDataReturn,
    kDataFeed,
    kTrailerBegin,
    kTrailer,
    kTrailerFeed,
    kEndFeed,
    kEnd,
  };

  bool step(char c, std::size_t body_bytes);
  bool size_digit_or_end(char c, std::size_t body_bytes);
  bool skip_text(char c, Place after_return);
  bool fail(ErrorCode code, std::string message);

  const std::size_t body_bytes_max_;
  Place place_ = Place::kSize;
  std::uint64_t size_ = 0;  // of the chunk at hand; in kData what is left of it
  std::size_t size_digits_ = 0;
  std::size_t skipped_bytes_ = 0;  // extensions and trailers of the whole body
  Error error_;
};

}  // namespace zerohop
