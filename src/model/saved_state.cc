#include "model/saved_state.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "base/random.h"

namespace zerohop {
namespace {

struct Header {
  std::uint32_t magic = 0x3253687a;  // "zhS2"
  StateForm form = StateForm::kPlain;
  std::uint64_t fingerprint = 0;
  PositionRange positions;
  std::uint64_t payload_bytes = 0;
  std::uint64_t checksum = 0;  // over the header with this as 0, then the payload
};
static_assert(sizeof(Header) == 40 && std::has_unique_object_representations_v<Header>);

std::uint64_t seal_of(Header header, std::span<const std::byte> payload) {
  header.checksum = 0;
  return checksum(payload, checksum(std::as_bytes(std::span(&header, 1)), 0));
}

}  // namespace

// Independent chains, so that the multiplications overlap.
std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) {
  constexpr std::size_t kLanes = 4;
  constexpr std::uint64_t kFactor = 0x9fb21c651e98df25u;
  std::array<std::uint64_t, kLanes> lanes{};
  for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = seed + lane;
  const auto absorb = [&lanes](std::size_t lane, std::uint64_t word) {
    lanes[lane] = std::rotl((lanes[lane] ^ word) * kFactor, 29);
  };
  std::size_t at = 0;
  for (; bytes.size() - at >= kLanes * sizeof(std::uint64_t);
       at += kLanes * sizeof(std::uint64_t)) {
    std::array<std::uint64_t, kLanes> words{};
    std::memcpy(words.data(), bytes.data() + at, sizeof words);
    for (std::size_t lane = 0; lane < kLanes; ++lane) absorb(lane, words[lane]);
  }
  for (std::size_t lane = 0; at < bytes.size(); ++lane) {
    std::uint64_t word = 0;
    const std::size_t count = std::min(sizeof word, bytes.size() - at);
    std::memcpy(&word, bytes.data() + at, count);
    absorb(lane % kLanes, word);
    at += count;
  }
  std::uint64_t sum = mix64(bytes.size() ^ seed);
  for (const std::uint64_t lane : lanes) sum = mix64(sum ^ lane);
  return sum;
}

std::vector<std::byte> make_state(std::size_t payload_bytes) {
  return std::vector<std::byte>(sizeof(Header) + payload_bytes);
}

std::span<std::byte> state_payload(std::vector<std::byte>& state) {
  return std::span(state).subspan(sizeof(Header));
}

void seal_state(std::vector<std::byte>& state, const StateSeal& seal) {
  const std::span<std::byte> payload = state_payload(state);
  Header header;
  header.form = seal.form;
  header.fingerprint = seal.fingerprint;
  header.positions = seal.positions;
  header.payload_bytes = payload.size();
  header.checksum = seal_of(header, payload);
  std::memcpy(state.data(), &header, sizeof header);
}

std::optional<OpenedState> open_state(std::span<const std::byte> state, std::uint64_t fingerprint) {
  Header header;
  if (state.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, state.data(), sizeof header);
  const std::span<const std::byte> payload = state.subspan(sizeof header);
  const bool known_form = header.form == StateForm::kPlain || header.form == StateForm::kCompressed;
  if (header.magic != Header{}.magic || !known_form || header.fingerprint != fingerprint ||
      header.payload_bytes != payload.size() || header.positions.begin < 0 ||
      header.positions.end < header.positions.begin ||
      header.checksum != seal_of(header, payload)) {
    return std::nullopt;
  }
  return OpenedState{header.form, header.positions, payload};
}

}  // namespace zerohop
