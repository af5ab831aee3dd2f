// For tests of constraints over tokens: small machines made of tables, and small vocabularies.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "constrain/constraint_machine.h"
#include "constrain/token_trie.h"

namespace zerohop {

/// A finite automaton over bytes. States that cannot reach acceptance are cut away.
class TableMachine : public ConstraintMachine {
 public:
  struct Row {
    std::map<unsigned char, std::uint32_t> next;  // numbers of rows
    bool accepting = false;
  };
  explicit TableMachine(std::vector<Row> rows) : rows_(std::move(rows)), ends_(rows_.size()) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      for (auto& row : rows_) shorten(row);
    }
    ZH_CHECK(ends_[0].known);
  }

  MachineState start() override { return 1; }
  MachineState step(MachineState state, unsigned char byte) override {
    const auto& next = rows_[state - 1].next;
    const auto found = next.find(byte);
    return found != next.end() && ends_[found->second].known ? found->second + 1 : kDeadState;
  }
  bool accepting(MachineState state) override { return rows_[state - 1].accepting; }
  std::string shortest_end(MachineState state) override { return ends_[state - 1].text; }
  std::size_t shortest_end_bytes(MachineState state) override {
    return ends_[state - 1].text.size();
  }
  std::string forced(MachineState state, std::size_t bytes_max) override {
    std::string text;
    while (text.size() < bytes_max && !accepting(state)) {
      int ways = 0;
      unsigned char only = 0;
      for (const auto& [byte, next] : rows_[state - 1].next) {
        if (!ends_[next].known) continue;
        ++ways;
        only = byte;
      }
      if (ways != 1) break;
      text.push_back(static_cast<char>(only));
      state = step(state, only);
    }
    return text;
  }
  std::size_t memory_bytes() const override { return rows_.size() * 100; }
  std::unique_ptr<ConstraintMachine> renew() const override {
    return std::make_unique<TableMachine>(rows_);
  }

 private:
  struct End {
    bool known = false;
    std::string text;
  };
  void shorten(const Row& row) {
    End& end = ends_[static_cast<std::size_t>(&row - rows_.data())];
    const auto offer = [&](std::string text) {
      if (end.known &&
          (end.text.size() < text.size() || (end.text.size() == text.size() && end.text <= text))) {
        return;
      }
      end = End{true, std::move(text)};
    };
    if (row.accepting) offer("");
    for (const auto& [byte, next] : row.next) {
      if (ends_[next].known) offer(std::string(1, static_cast<char>(byte)) + ends_[next].text);
    }
  }

  std::vector<Row> rows_;
  std::vector<End> ends_;
};

/// Over the bytes of `alphabet`; some states have many edges, some have one.
inline std::unique_ptr<ConstraintMachine> random_machine(Random& random,
                                                         std::string_view alphabet) {
  const std::size_t states = 1 + random.below(12);
  std::vector<TableMachine::Row> rows(states + 1);
  for (std::size_t i = 0; i < states; ++i) {
    rows[i].accepting = random.chance(0.2);
    const double density = random.uniform();
    for (const char byte : alphabet) {
      if (!random.chance(density)) continue;
      const bool stays = random.chance(0.3);
      rows[i].next[static_cast<unsigned char>(byte)] =
          static_cast<std::uint32_t>(stays ? i : random.below(states + 1));
    }
  }
  rows[states].accepting = true;
  // The last state can be reached, so nothing is empty.
  rows[0].next[static_cast<unsigned char>(alphabet[random.below(alphabet.size())])] =
      static_cast<std::uint32_t>(states);
  return std::make_unique<TableMachine>(std::move(rows));
}

/// All single bytes, then `words`, then two end tokens.
inline std::shared_ptr<const TokenTrie> vocabulary_of(const std::vector<std::string>& words) {
  std::vector<std::string> bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.emplace_back(1, static_cast<char>(byte));
  bytes.insert(bytes.end(), words.begin(), words.end());
  const auto size = static_cast<Token>(bytes.size());
  bytes.resize(bytes.size() + 3);
  return std::make_shared<TokenTrie>(std::move(bytes), std::vector<Token>{size, size + 2},
                                     static_cast<std::size_t>(size) + 5);
}

inline std::shared_ptr<const TokenTrie> random_vocabulary(Random& random,
                                                          std::string_view alphabet) {
  std::vector<std::string> words;
  for (std::uint64_t left = random.below(200); left > 0; --left) {
    std::string word;
    for (std::uint64_t length = 2 + random.below(6); length > 0; --length) {
      word.push_back(alphabet[random.below(alphabet.size())]);
    }
    words.push_back(std::move(word));  // some twice
  }
  return vocabulary_of(words);
}

}  // namespace zerohop
