// For tests of the JSON machine: what a text's layout must be, found out from the whole text, and
// checks of a machine's promises at one state.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/hex.h"
#include "base/random.h"
#include "constrain/content_coding.h"
#include "constrain/json_machine.h"
#include "constrain/schema_compiler.h"
#include "constrain/schema_document.h"
#include "constrain/schema_form_oracle.h"

namespace zerohop {

inline std::shared_ptr<const SchemaForm> json_form_of(const std::string& schema,
                                                      const SchemaOptions& options = {}) {
  const CompiledSchema compiled = compile_schema(schema, options);
  const auto* form = std::get_if<std::shared_ptr<const SchemaForm>>(&compiled);
  if (form != nullptr) return *form;
  const auto& refusal = std::get<SchemaRefusal>(compiled);
  ADD_FAILURE() << schema << ": " << refusal.pointer << " " << refusal.keyword << ": "
                << refusal.reason;
  return nullptr;
}

/// White space and escapes of a JSON text, checked from the front with the whole text at hand.
class JsonLayout {
 public:
  JsonLayout(std::string_view text, const JsonMachineOptions& options)
      : text_(text), options_(options) {}

  std::size_t depth() const { return depth_reached_; }  ///< behind good()

  bool good() {
    for (std::size_t i = 0; i < text_.size();) {
      if (text_[i] == '"') {
        if (!string_good(i)) return false;
      } else if (is_white(text_[i])) {
        const std::size_t begin = i;
        while (i < text_.size() && is_white(text_[i])) ++i;
        if (!white_good(begin, i)) return false;
      } else {
        note(i);
        ++i;
      }
    }
    if (depth_reached_ > options_.depth_max) return false;
    return options_.white_space != JsonMachineOptions::WhiteSpace::kSpaced || spaces_good();
  }

 private:
  static bool is_white(char byte) {
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
  }

  void note(std::size_t at) {
    if (text_[at] == '{' || text_[at] == '[') ++depth_;
    if (text_[at] == '}' || text_[at] == ']') --depth_;
    depth_reached_ = std::max(depth_reached_, depth_);
    if (text_[at] == ',' || text_[at] == ':') marks_.push_back(at);
  }

  // Moves `at` behind the string.
  bool string_good(std::size_t& at) const {
    for (++at; at < text_.size() && text_[at] != '"'; ++at) {
      if (text_[at] != '\\') continue;
      ++at;
      if (at < text_.size() && !escape_good(at)) return false;
    }
    ++at;
    return true;
  }

  bool escape_good(std::size_t at) const {
    if (options_.coding == TextCoding::kJsonAny) return true;
    if (text_[at] == '/') return false;
    if (text_[at] != 'u') return true;
    int value = 0;
    for (std::size_t i = at + 1; i < at + 5 && i < text_.size(); ++i) {
      value = value * 16 + hex_digit_value(static_cast<unsigned char>(text_[i]));
    }
    const bool has_short = value == 8 || value == 9 || value == 10 || value == 12 || value == 13;
    return (value < 0x20 && !has_short) || value >= 0x80;
  }

  bool white_good(std::size_t begin, std::size_t end) const {
    if (options_.white_space == JsonMachineOptions::WhiteSpace::kCompact) return false;
    if (begin == 0 || end == text_.size()) return false;
    const char before = text_[begin - 1];
    const char behind = text_[end];
    const std::string_view run = text_.substr(begin, end - begin);
    if (run == " ") return before == ',' || before == ':';
    if (options_.white_space == JsonMachineOptions::WhiteSpace::kSpaced) return false;
    const std::size_t breaks = run.starts_with("\r\n") ? 2 : run.starts_with("\n") ? 1 : 0;
    if (breaks == 0 || run.find_first_not_of(" \t", breaks) != std::string_view::npos) return false;
    if (run.size() - breaks > std::size_t{options_.indent_max} * depth_) return false;
    return before == '{' || before == '[' || before == ',' || behind == '}' || behind == ']';
  }

  bool spaces_good() const {
    return std::all_of(marks_.begin(), marks_.end(), [&](std::size_t at) {
      return at + 1 < text_.size() && text_[at + 1] == ' ';
    });
  }

  std::string_view text_;
  const JsonMachineOptions& options_;
  std::size_t depth_ = 0;
  std::size_t depth_reached_ = 0;
  std::vector<std::size_t> marks_;  // commas and colons
};

/// A schema, its machine, and what is right.
struct JsonMachineCase {
  std::string schema;
  std::shared_ptr<const SchemaForm> form;
  JsonMachineOptions options;
  std::unique_ptr<ConstraintMachine> machine;

  explicit JsonMachineCase(std::string schema_text, const JsonMachineOptions& machine_options = {},
                           const SchemaOptions& schema_options = {})
      : schema(std::move(schema_text)),
        form(json_form_of(schema, schema_options)),
        options(machine_options) {
    if (form == nullptr) return;
    machine = make_json_machine(form, options);
    // A form that needs more depth has it.
    const std::string shortest = machine->shortest_end(machine->start());
    JsonLayout layout(shortest, options);
    layout.good();
    options.depth_max = std::max(options.depth_max, static_cast<std::uint32_t>(layout.depth()));
  }

  bool right(std::string_view text) const {
    const auto value = parse_json_node(text);
    const auto order = options.key_order == JsonMachineOptions::KeyOrder::kAny
                           ? SchemaFormOracle::Order::kAny
                           : SchemaFormOracle::Order::kDeclared;
    return value.ok() && JsonLayout(text, options).good() &&
           SchemaFormOracle(*form, order).accepts(*value);
  }

  bool takes(std::string_view text) const { return accepts(*machine, text); }
};

/// The state can be finished, the way it says, and that way stays a way.
inline void check_shortest_end(const JsonMachineCase& each, const std::string& text,
                               MachineState state) {
  ConstraintMachine& machine = *each.machine;
  const std::string end = machine.shortest_end(state);
  const auto where = [&] { return each.schema + "\n  " + text + "\n  and " + end; };
  ASSERT_EQ(end.size(), machine.shortest_end_bytes(state)) << where();
  ASSERT_EQ(end.empty(), machine.accepting(state)) << where();
  ASSERT_TRUE(each.right(text + end)) << where();
  std::size_t left = end.size();
  MachineState at = state;
  for (const char byte : end) {
    at = machine.step(at, static_cast<unsigned char>(byte));
    ASSERT_NE(at, kDeadState) << where();
    --left;
    ASSERT_LE(machine.shortest_end_bytes(at), left) << where() << "\n  " << left;
    // In front of the end nothing shorter is an end.
    ASSERT_EQ(machine.accepting(at), left == 0) << where() << "\n  " << left;
  }
  ASSERT_TRUE(machine.accepting(at)) << where();
}

inline std::vector<unsigned char> living_bytes(ConstraintMachine& machine, MachineState state) {
  std::vector<unsigned char> bytes;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const auto next = static_cast<unsigned char>(byte);
    if (machine.step(state, next) != kDeadState) bytes.push_back(next);
  }
  return bytes;
}

/// What is said to be forced is, and no less is said.
inline void check_forced(const JsonMachineCase& each, const std::string& text, MachineState state) {
  constexpr std::size_t kBytesMax = 24;
  ConstraintMachine& machine = *each.machine;
  const std::string forced = machine.forced(state, kBytesMax);
  ASSERT_LE(forced.size(), kBytesMax);
  MachineState at = state;
  for (const char byte : forced) {
    ASSERT_FALSE(machine.accepting(at)) << each.schema << "\n  " << text << "\n  " << forced;
    const auto living = living_bytes(machine, at);
    ASSERT_EQ(living.size(), 1U) << each.schema << "\n  " << text << "\n  " << forced;
    ASSERT_EQ(static_cast<char>(living[0]), byte) << each.schema << "\n  " << text;
    at = machine.step(at, living[0]);
  }
  if (forced.size() < kBytesMax && !machine.accepting(at)) {
    ASSERT_GT(living_bytes(machine, at).size(), 1U)
        << each.schema << "\n  " << text << "\n  " << forced;
  }
}

/// Inside of a run, tokens without the leaving byte depend on the automaton alone, and what is said
/// about the place behind that byte holds. Tries `words`.
inline void check_content(const JsonMachineCase& each, const std::string& text, MachineState state,
                          const std::vector<std::string>& words) {
  ConstraintMachine& machine = *each.machine;
  const std::optional<ContentRun> run = machine.content(state);
  if (!run) return;
  ASSERT_EQ(run->leaving, '"');
  const ContentAutomaton& automaton = *run->automaton;
  const bool bounded = run->characters_max != ContentAutomaton::kUnbounded;
  ContentDecoder decoder(automaton, run->coding);
  const ContentPlace start{
      .state = run->state,
      .count = bounded ? automaton.characters_max(0) - run->characters_max : 1U << 30};
  const ContentPlace counted{.state = run->state, .count = run->count};
  for (const std::string& word : words) {
    ContentPlace place = start;
    ContentPlace place_counted = counted;
    MachineState at = state;
    for (const char byte : word) {
      const auto next = static_cast<unsigned char>(byte);
      const bool inside = decoder.step(place, next);
      if (run->behind != kDeadState) {
        ASSERT_EQ(decoder.step(place_counted, next), inside)
            << each.schema << "\n  " << text << "\n  " << word;
      }
      at = machine.step(at, next);
      ASSERT_EQ(at != kDeadState, inside) << each.schema << "\n  " << text << "\n  " << word;
      if (!inside) break;
    }
    const bool whole = decoder.at_character_border(place_counted);
    if (at == kDeadState || run->behind == kDeadState || !whole) continue;
    const MachineState behind = machine.step(at, '"');
    if (!run->forgets) {
      ASSERT_EQ(behind, decoder.accepts(place_counted) ? run->behind : kDeadState)
          << each.schema << "\n  " << text << "\n  " << word;
      continue;
    }
    const bool taken = std::count(run->taken.begin(), run->taken.end(), word) != 0;
    if (word.find('\\') != std::string::npos) continue;
    ASSERT_EQ(behind != kDeadState, decoder.accepts(place_counted) && !taken)
        << each.schema << "\n  " << text << "\n  " << word;
    if (behind == kDeadState) continue;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const auto next = static_cast<unsigned char>(byte);
      const MachineState forgotten = machine.step(run->behind, next);
      const MachineState known = machine.step(behind, next);
      ASSERT_EQ(known == kDeadState, forgotten == kDeadState)
          << each.schema << "\n  " << text << "\n  " << word << "\"" << next;
    }
  }
}

/// Texts without an unescaped quote, for check_content().
inline std::vector<std::string> content_words(Random& random, std::string_view letters) {
  std::vector<std::string> words{"",
                                 "a",
                                 "ab",
                                 "\\\"",
                                 "\\n",
                                 "\xc3\xa9",
                                 "\\u00e9",
                                 "\\ud83d\\ude00",
                                 "/",
                                 "aaaaaaaa",
                                 "\xf0\x9f\x98\x80",
                                 "\\u0041",
                                 "a b",
                                 "-0"};
  for (int i = 0; i < 12; ++i) {
    std::string word;
    for (std::uint64_t length = random.below(9); length > 0; --length) {
      word.push_back(letters[random.below(letters.size())]);
    }
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace zerohop
