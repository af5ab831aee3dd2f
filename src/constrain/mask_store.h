// Masks and what they are made of, kept by key, with a limit in bytes; the least recently used go
// first. Entries are shared, so one that is dropped lives on with whoever still holds it.
//
// One owner; not thread-safe.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "constrain/byte_trie.h"
#include "constrain/token_mask.h"

namespace zerohop {

struct MaskKey {
  enum class Kind : std::uint8_t {
    kWhole,    ///< all of a machine's state; owner: the machine's id
    kContent,  ///< tokens inside a run of content; owner: the automaton's identity
    kSuffix,   ///< which rests of tokens may follow a leaving byte; owner: the machine's id
    kLoop,     ///< tokens of a set of bytes; owner: a hash of the set
  };

  std::uint64_t owner = 0;
  std::uint32_t state = 0;
  std::uint32_t characters = 0;  ///< kContent; kSuffix: the leaving byte
  std::uint16_t coding = 0;      ///< kContent: text coding; kSuffix: whether it can be escaped
  Kind kind = Kind::kWhole;

  friend bool operator==(const MaskKey&, const MaskKey&) = default;
};

/// What kind of entry uses which member is said above it.
struct KeptMask {
  /// kWhole, kContent; kLoop: tokens that have only bytes of the set.
  TokenMask mask;

  /// kContent, of the automaton that allows everything: characters that each token begins; most
  /// first.
  struct Need {
    std::uint32_t characters = 0;
    Token token = 0;
  };
  std::vector<Need> needs;

  std::vector<std::uint8_t> allowed;  ///< kSuffix: by number of the suffix

  std::bitset<256> bytes;  ///< kLoop: the set
  ByteTrie others;         ///< kLoop: tokens that have another byte

  std::size_t memory_bytes() const;
};

class MaskStore {
 public:
  explicit MaskStore(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  /// Nothing: not kept.
  std::shared_ptr<const KeptMask> find(const MaskKey& key);

  /// Keeps `mask`, dropping others as needed. One that is larger than everything allowed is not
  /// kept, just handed back.
  std::shared_ptr<const KeptMask> keep(const MaskKey& key, KeptMask mask);

  /// Drops what belongs to a machine.
  void forget_machine(std::uint64_t machine_id);

  std::size_t memory_bytes() const { return bytes_; }

 private:
  struct KeyHash {
    std::size_t operator()(const MaskKey& key) const;
  };
  struct Entry {
    MaskKey key;
    std::shared_ptr<const KeptMask> mask;
    std::size_t bytes = 0;
  };
  using Order = std::list<Entry>;

  void drop(Order::iterator entry);

  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  Order order_;  // most recently used first
  std::unordered_map<MaskKey, Order::iterator, KeyHash> entries_;
};

}  // namespace zerohop
