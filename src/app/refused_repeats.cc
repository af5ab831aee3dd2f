#include "app/refused_repeats.h"

#include <algorithm>
#include <string>

#include "app/request_tenant.h"
#include "app/text_hash.h"

namespace zerohop {
namespace {

constexpr std::string_view kIdHeader = "x-anthropic-request-id";
constexpr std::string_view kRetryHeader = "x-stainless-retry-count";
constexpr std::size_t kIdBytesMax = 128;

// With its length in front, so that two fields never read like two others.
void append_field(std::string_view field, std::string& text) {
  text.append(std::to_string(field.size())).append(":").append(field);
}

}  // namespace

std::optional<RepeatIdentity> repeat_identity(const Caller& caller, const RequestHead& head) {
  const auto id = head.headers.find(kIdHeader);
  const bool named = id && !id->empty() && id->size() <= kIdBytesMax;
  const auto retries = head.headers.find(kRetryHeader);
  if (!named && !retries) return std::nullopt;
  // Without its length nothing tells two bodies apart.
  if (!head.content_length) return std::nullopt;
  std::string text;
  append_field(named ? *id : "", text);
  append_field(caller.key != nullptr ? caller.key->id : credential_of(head.headers), text);
  append_field(head.path, text);
  append_field(std::to_string(*head.content_length), text);
  return RepeatIdentity{text_hash(text), !retries || *retries != "0"};
}

void RefusedRepeats::refused(const RepeatIdentity& identity, TimePoint come_back_at) {
  places_[identity.hash % kPlaces] = {identity.hash, come_back_at};
}

Duration RefusedRepeats::too_early(const RepeatIdentity& identity, TimePoint now) const {
  const Place& place = places_[identity.hash % kPlaces];
  if (!identity.repeats || place.hash != identity.hash) return Duration::zero();
  return std::max(place.come_back_at - now, Duration::zero());
}

}  // namespace zerohop
