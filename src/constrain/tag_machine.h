// Free text with constrained sections in it: tool calls, thinking before a document.
//
// A section begins where the text comes to its trigger (`<tool_call>`), exactly at the first place
// where one is complete, and is then a sequence of parts: literal bytes, a machine (the arguments
// as JSON), free text up to a literal end. Behind its last part comes free text again, the next
// section, or the end. So tool_choice auto, any, tool and none with any number of tools are one
// machine, and so is "think until </think>, then write this document" (a prologue, and no
// rules). Rules may share their trigger and the beginnings of their parts: as long as the bytes do
// not tell them apart, all of them are alive.
//
//   prologue ──> text ──trigger──> part ──> part ──> … ──┐ call complete
//    │            ^  │ end                               │
//    │            │  v (calls_min had)                   │
//    │            └──────────── text allowed ────────────┤
//    │                          otherwise: end, or `between` and the next trigger
//    └─> one of `alternatives`, where there are any: nothing else, and behind it the end
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "constrain/constraint_machine.h"
#include "core/error.h"

namespace zerohop {

struct TagPart {
  enum class Kind : std::uint8_t {
    kLiteral,  ///< exactly `text`
    kMachine,  ///< a text of `machine`
    kUntil,    ///< any bytes up to and with the first `text`
  };
  Kind kind = Kind::kLiteral;
  std::string text = {};  ///< not empty for kUntil
  /// Only renew() is called: every tag machine follows machines of its own.
  std::shared_ptr<const ConstraintMachine> machine = nullptr;
  /// Of kUntil: texts that never stand in front of the end. None holds it or is held by it; bytes
  /// at the end of one may begin it.
  std::vector<std::string> never = {};
};

TagPart literal_part(std::string text);
TagPart machine_part(std::shared_ptr<const ConstraintMachine> machine);
TagPart until_part(std::string end, std::vector<std::string> never = {});

struct TagRule {
  enum class Place : std::uint8_t {
    kAnywhere,
    kBeginning,  ///< only as the first byte of a piece of text that is no white space
  };
  std::string trigger;  ///< not empty; is read as text like all else, and belongs to the section
  std::vector<TagPart> parts = {};
  Place place = Place::kAnywhere;  ///< kBeginning: `trigger` is one byte, and no white space
};

struct TagSet {
  static constexpr std::uint32_t kAnyNumber = UINT32_MAX;
  enum class Text : std::uint8_t {
    kAnywhere,     ///< around and between the sections
    kBeforeCalls,  ///< only in front of the first one
    kNone,         ///< sections only
  };

  enum class Presence : std::uint8_t { kRequired, kOptional };

  std::vector<TagPart> prologue = {};  ///< once, in front of everything
  Presence prologue_presence = Presence::kRequired;
  std::vector<TagRule> rules = {};
  std::vector<std::string> never_in_text = {};  ///< texts that no free text holds
  /// Whole answers: the text behind the prologue is one of these sequences of parts. Then there are
  /// no rules.
  std::vector<std::vector<TagPart>> alternatives = {};
  std::uint32_t calls_min = 0;
  /// 0: no trigger may be completed (tool_choice none). 1: disable_parallel_tool_use.
  std::uint32_t calls_max = kAnyNumber;
  Text text = Text::kAnywhere;
  std::string between = {};  ///< what separates two sections that have no text between them
};

/// Errors say what is wrong with the set: a trigger that is empty or contains another one, more
/// calls asked for than allowed or than there are rules for, texts that must not come and leave no
/// way to a call that is asked for, and the like.
Result<std::unique_ptr<ConstraintMachine>> make_tag_machine(TagSet set);

}  // namespace zerohop
