#include "http/chunk_decoder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/hex.h"

namespace zerohop {
namespace {

// No client in use sends extensions, and trailers are dropped: room for the odd one, not for a
// flood.
constexpr std::size_t kSkippedBytesMax = 16u << 10;
constexpr std::size_t kSizeDigitsMax = 16;

}  // namespace

ParseProgress ChunkDecoder::feed(std::string_view bytes, std::string& body) {
  ZH_CHECK(error_.message.empty());
  std::size_t at = 0;
  while (at < bytes.size() && place_ != Place::kEnd) {
    if (place_ == Place::kData) {
      const std::size_t count =
          static_cast<std::size_t>(std::min<std::uint64_t>(size_, bytes.size() - at));
      body.append(bytes, at, count);
      at += count;
      size_ -= count;
      if (size_ == 0) place_ = Place::kDataReturn;
      continue;
    }
    if (!step(bytes[at], body.size())) return ParseProgress{ParseState::kFailed, 0};
    ++at;
  }
  return ParseProgress{place_ == Place::kEnd ? ParseState::kDone : ParseState::kNeedMore, at};
}

bool ChunkDecoder::step(char c, std::size_t body_bytes) {
  const auto expect = [&](char wanted, Place next) {
    if (c != wanted) {
      return fail(ErrorCode::kInvalidRequest, "a chunk does not end where its size says");
    }
    place_ = next;
    return true;
  };
  switch (place_) {
    case Place::kSize: return size_digit_or_end(c, body_bytes);
    case Place::kSizeBlank:
      if (c == ';') place_ = Place::kExtension;
      if (c == ';' || c == ' ' || c == '\t') return skip_text(c, Place::kSizeFeed);
      return fail(ErrorCode::kInvalidRequest, "a chunk of the body has no valid size");
    case Place::kExtension: return skip_text(c, Place::kSizeFeed);
    case Place::kSizeFeed: {
      const Place next = size_ == 0 ? Place::kTrailerBegin : Place::kData;
      size_digits_ = 0;
      return expect('\n', next);
    }
    case Place::kDataReturn: return expect('\r', Place::kDataFeed);
    case Place::kDataFeed: return expect('\n', Place::kSize);
    case Place::kTrailerBegin:
    case Place::kTrailer:
      return skip_text(c, place_ == Place::kTrailerBegin ? Place::kEndFeed : Place::kTrailerFeed);
    case Place::kTrailerFeed: return expect('\n', Place::kTrailerBegin);
    case Place::kEndFeed: return expect('\n', Place::kEnd);
    case Place::kData:
    case Place::kEnd: break;
  }
  ZH_CHECK(false);
  return false;
}

bool ChunkDecoder::size_digit_or_end(char c, std::size_t body_bytes) {
  const int digit = hex_digit_value(c);
  if (digit >= 0 && size_digits_ < kSizeDigitsMax) {
    size_ = size_ * 16 + static_cast<std::uint64_t>(digit);
    ++size_digits_;
    return true;
  }
  const bool ends = c == '\r' || c == ';' || c == ' ' || c == '\t';
  if (digit >= 0 || !ends || size_digits_ == 0) {
    return fail(ErrorCode::kInvalidRequest, "a chunk of the body has no valid size");
  }
  if (size_ > body_bytes_max_ - std::min(body_bytes, body_bytes_max_)) {
    return fail(ErrorCode::kRequestTooLarge,
                "the body exceeds " + std::to_string(body_bytes_max_) + " bytes");
  }
  place_ = c == '\r' ? Place::kSizeFeed : c == ';' ? Place::kExtension : Place::kSizeBlank;
  return true;
}

// One byte of an extension or trailer, which nobody reads.
bool ChunkDecoder::skip_text(char c, Place after_return) {
  if (c == '\r') {
    place_ = after_return;
    return true;
  }
  const auto byte = static_cast<unsigned char>(c);
  if ((byte < 0x20 && c != '\t') || byte == 0x7f) {
    return fail(ErrorCode::kInvalidRequest, "a chunk extension or trailer has invalid characters");
  }
  if (++skipped_bytes_ > kSkippedBytesMax) {
    return fail(ErrorCode::kInvalidRequest, "chunk extensions and trailers are too long");
  }
  if (place_ == Place::kTrailerBegin) place_ = Place::kTrailer;
  return true;
}

bool ChunkDecoder::fail(ErrorCode code, std::string message) {
  error_ = Error{code, std::move(message), "", {}};
  return false;
}

}  // namespace zerohop
