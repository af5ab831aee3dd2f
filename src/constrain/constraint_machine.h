// A constraint at run time: which byte may follow, and when the text may end.
//
// A machine is a lazily built automaton over bytes. Its states are numbers; a number stands for the
// whole configuration (what has been read, what is open), so two texts that allow the same
// continuations may share one. Going back is keeping the old number, forking is copying it.
//
// The promise that everything rests on: a state other than kDeadState can still be finished. So a
// byte is allowed exactly when step() does not die, and whoever follows the machine never gets
// stuck.
//
// Machines are shared by all requests with the same constraint. States are made on demand, so a
// machine changes while it is asked; it belongs to one thread (in the server, the engine's). It
// counts the memory of its tables; a machine that has grown too large is replaced by a fresh one
// (renew()), and its users find their places again by replaying their bytes.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zerohop {

class ContentAutomaton;

/// A state of one machine. Means nothing to another machine.
using MachineState = std::uint32_t;

inline constexpr MachineState kDeadState = 0;

/// How characters of a content automaton are written in the text.
enum class TextCoding : std::uint8_t {
  kUtf8,           ///< as they are
  kJsonCanonical,  ///< in a JSON string; ASCII that needs no escape has none
  kJsonAny,        ///< in a JSON string, any escapes
};

/// A state inside a run of characters that a content automaton decides about, between two whole
/// characters. What tokens without `leaving` do there depends on these values alone, so masks for
/// it can be shared between machines.
struct ContentRun {
  const ContentAutomaton* automaton = nullptr;
  std::uint32_t state = 0;           ///< of the automaton
  std::uint32_t characters_max = 0;  ///< that may still come; UINT32_MAX: no bound
  TextCoding coding = TextCoding::kUtf8;
  /// The byte that ends the run ('"'), which content never holds in this coding, unless behind a
  /// backslash in JSON. Nothing: content of which any part could be followed by something else;
  /// then no shared mask is possible.
  std::optional<unsigned char> leaving = std::nullopt;
  /// The state of the machine behind `leaving`, where it is the same for every word of the
  /// automaton that the run can still become; kDeadState: it depends on the word, or is not known.
  MachineState behind = kDeadState;
  std::uint32_t count = 0;  ///< characters read so far, as far as that makes a difference
  /// Words that were used must not come again, and `behind` has forgotten which one this was. So it
  /// holds for what follows up to the second further `leaving` byte, which is as far as no word can
  /// have come again.
  bool forgets = false;
  /// Where `forgets`: what is left of the words that must not come now, written without escapes.
  /// One that cannot be written so is left out. Behind these, and behind words that are written
  /// with a backslash, `behind` says nothing.
  std::vector<std::string> taken = {};
};

class ConstraintMachine {
 public:
  virtual ~ConstraintMachine() = default;

  /// Never dead: a constraint that nothing satisfies is refused when it is compiled.
  virtual MachineState start() = 0;

  /// The state behind `byte`, or kDeadState when no legal text goes on like that.
  virtual MachineState step(MachineState state, unsigned char byte) = 0;

  /// The text may end here.
  virtual bool accepting(MachineState state) = 0;

  /// A shortest text that makes it accepting (canonical spelling; of equally short ones always the
  /// same). Inside of content it is the word with the fewest characters, which need not have the
  /// fewest bytes. Empty exactly where accepting.
  virtual std::string shortest_end(MachineState state) = 0;

  /// Size of shortest_end(), cheaper.
  virtual std::size_t shortest_end_bytes(MachineState state) = 0;

  /// The bytes that come next whatever is chosen, at most `bytes_max`: empty where the text may
  /// end or two bytes are possible.
  virtual std::string forced(MachineState state, std::size_t bytes_max) = 0;

  /// Where `state` stands in a run of content, if so.
  virtual std::optional<ContentRun> content(MachineState) { return std::nullopt; }

  /// States whose union `state` is: what may follow it may follow one of them. Asked for where
  /// content() has no answer, and then perhaps it has one for each of them. Empty: it is not split.
  virtual std::vector<MachineState> parts(MachineState) { return {}; }

  /// Bytes that may follow, and perhaps others; to save steps.
  virtual std::bitset<256> first_bytes(MachineState) { return std::bitset<256>().set(); }

  /// The shortest end of every state that is known so far holds no control character and no
  /// character of the planes 4 to 11: bytes that vocabularies lack. False: it may.
  virtual bool plain_ends() { return false; }

  /// Elementary steps that were taken for what was asked for the first time; for whoever bounds a
  /// search (walk_budget.h). A machine of few states may say 0.
  virtual std::uint64_t work() const { return 0; }

  /// Bytes of all tables.
  virtual std::size_t memory_bytes() const = 0;

  /// A machine for the same constraint without states.
  virtual std::unique_ptr<ConstraintMachine> renew() const = 0;
};

/// Where `bytes` lead from `state`.
MachineState step_all(ConstraintMachine& machine, MachineState state, std::string_view bytes);

/// Whether the whole of `text` is a legal text.
bool accepts(ConstraintMachine& machine, std::string_view text);

/// Whether any byte may follow. Steps by each until one does.
bool goes_on(ConstraintMachine& machine, MachineState state);

}  // namespace zerohop
