// How far one alternative of a value has come, and whether it can still be finished.
//
// A progress is what an alternative has to remember of what was read of it: of an array how many
// items there are, of an object which properties may and which must still come. Progresses are
// interned; those that allow the same continuations are made equal where that is cheap (numbers
// that no longer matter are capped). One that cannot be finished is never handed out.
//
//   kRoot ──value──> kDone
//   kArray ──item──> kArray
//   kObject ──'"'──> kKeyDeclared, kKeyOther ──'"'──> kKeyed ──value──> kObject
//
// One owner; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "constrain/hash_index.h"
#include "constrain/json_forms.h"
#include "constrain/json_machine.h"
#include "constrain/known_texts.h"
#include "constrain/path_search.h"

namespace zerohop {

using ProgressId = std::uint32_t;

/// No progress: what was asked for cannot be finished.
inline constexpr ProgressId kNoProgress = 0;
/// Progresses that are always there.
inline constexpr ProgressId kRootProgress = 1;
inline constexpr ProgressId kDoneProgress = 2;
inline constexpr ProgressId kLiteralProgress = 3;

struct Progress {
  enum class Kind : std::uint32_t {
    kNone,
    kRoot,         ///< the document has not begun
    kDone,         ///< it has ended
    kLiteral,      ///< null, true or false
    kNumber,       ///< a: state of the language
    kString,       ///< a: state of the automaton, b: characters read
    kArray,        ///< a: items, b: counters, c: items that must not come again
    kObject,       ///< a: open and due properties, b: counters, c: other names used, d: properties
    kKeyDeclared,  ///< a: object, b to c: ranks of names that begin as read, d: characters read
    kKeyOther,     ///< a: object, b: class, c: state of its automaton, d: characters read
    kKeyed,        ///< a: object, b: slot, c: the name, of another than the declared ones
  };
  Kind kind = Kind::kNone;
  AlternativeId form = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  std::uint32_t d = 0;

  friend bool operator==(const Progress&, const Progress&) = default;
};

/// A property of an object form: below the number of declared ones one of these, else a class.
using Slot = std::uint32_t;

class JsonProgress {
 public:
  JsonProgress(JsonForms& forms, KnownTexts& texts, JsonMachineOptions::KeyOrder order);
  ~JsonProgress();
  JsonProgress(const JsonProgress&) = delete;
  JsonProgress& operator=(const JsonProgress&) = delete;

  ProgressId intern(const Progress& progress);
  const Progress& operator[](ProgressId id) const { return all_[id]; }

  /// An array or object of which nothing has been read but the bracket; kNoProgress: none can be
  /// finished.
  ProgressId begin_array(AlternativeId form);
  ProgressId begin_object(AlternativeId form);

  /// The values that may come next inside of a root, an array or a keyed object.
  const std::vector<ValueChoice>& choices(ProgressId outer);

  /// `outer` behind such a value, of a choice with these `hits`. `value`: the item, where
  /// tracks_values(outer).
  ProgressId behind_value(ProgressId outer, std::uint32_t hits, TextId value);

  /// An array whose items differ.
  bool tracks_values(ProgressId outer) const;

  /// One more item is possible.
  bool can_have_item(ProgressId array);

  /// The array or object may be closed.
  bool can_close(ProgressId container);

  /// Bits of ranks: declared properties that may come next.
  const std::vector<std::uint64_t>& next_declared(ProgressId object);
  bool can_have_declared(ProgressId object);  ///< any of them
  /// A name of the class may come next.
  bool can_have_other(ProgressId object, std::uint32_t name_class);
  bool can_have_key(ProgressId object);

  ProgressId keyed(ProgressId object, Slot slot, TextId name);

  const ObjectFacts& object_facts(ProgressId object) { return forms_.object(all_[object].form); }
  const ArrayFacts& array_facts(ProgressId array) { return forms_.array(all_[array].form); }

  // For shortest ends.

  const std::vector<std::uint32_t>& numbers(std::uint32_t id) const { return *lists_[id]; }
  bool is_open(ProgressId object, std::uint32_t property) const;
  bool is_due(ProgressId object, std::uint32_t property) const;
  /// Whether counting is involved in what may still come.
  bool is_counted(ProgressId container);

  std::size_t size() const { return all_.size(); }
  std::size_t memory_bytes() const;

  class ArrayGraph;
  class ObjectGraph;
  PathSearch& search(AlternativeId form);
  /// What all searches together may cost from now on; where nothing is left, some gave up.
  void bound_searches(std::uint64_t cost) { search_budget_.left = cost; }
  std::uint64_t search_budget_left() const { return search_budget_.left; }
  void forget_cheapest_ways();

 private:
  friend class ArrayGraph;
  friend class ObjectGraph;
  using Bits = std::vector<std::uint32_t>;  // open ones, then due ones, 32 each
  enum class Verdict : std::uint8_t { kUnknown, kYes, kNo };

  std::uint32_t intern_list(const std::vector<std::uint32_t>& list);
  ProgressId if_finishable(const Progress& progress);
  bool finishable(const Progress& progress);
  bool array_finishable(const Progress& progress);
  bool object_finishable(const Progress& progress);

  ProgressId item_added(const Progress& array, std::uint32_t hits, TextId value);
  ProgressId property_added(const Progress& object, const Progress& keyed, std::uint32_t hits);
  /// kNoCounters: some maximum is passed.
  std::uint32_t counted(const std::vector<FormCounter>& counters, std::uint32_t values,
                        std::uint32_t hits);
  bool counters_met(const std::vector<FormCounter>& counters, std::uint32_t values) const;

  std::optional<Bits> take(const ObjectFacts& facts, Bits bits, std::uint32_t property) const;
  bool close_property(const ObjectFacts& facts, Bits& bits, std::uint32_t property) const;
  bool close_below(const ObjectFacts& facts, Bits& bits, std::uint32_t property) const;
  void make_due(const ObjectFacts& facts, Bits& bits, std::uint32_t property) const;
  std::uint32_t names_left(const Progress& object, std::uint32_t name_class);
  TextId some_name(const Progress& object, std::uint32_t name_class);
  std::vector<std::uint64_t> find_next_declared(ProgressId object);
  bool can_take(ProgressId object, std::uint32_t property);
  /// How many properties there can be with one more of the declared ones.
  struct Room {
    std::uint64_t there = 0;
    std::uint64_t due = 0;
    std::uint64_t others = 0;                // names of classes; enough of them, or all
    std::vector<std::uint32_t> open_behind;  // of each property: that may come behind it

    std::uint64_t least_with(bool is_due) const { return there + due + (is_due ? 0 : 1); }
    std::uint64_t most_with(std::uint32_t property) const {
      return there + 1 + open_behind[property] + others;
    }
  };
  Room room_for(ProgressId object);

  static constexpr std::uint32_t kNoCounters = UINT32_MAX;

  JsonForms& forms_;
  KnownTexts& texts_;
  const JsonMachineOptions::KeyOrder order_;
  std::vector<ValueChoice> root_choices_;
  std::vector<Progress> all_;
  std::vector<Verdict> verdicts_;  // of progresses: can it be finished
  HashIndex index_;
  std::vector<std::unique_ptr<std::vector<std::uint32_t>>> lists_;
  HashIndex list_index_;
  std::unordered_map<ProgressId, std::vector<std::uint64_t>> next_declared_;
  std::unordered_map<std::uint64_t, bool> next_other_;
  PathSearch::Budget search_budget_;
  std::unordered_map<AlternativeId, std::unique_ptr<PathSearch>> searches_;
  std::unordered_map<AlternativeId, ProgressId> begun_;
  std::size_t list_bytes_ = 0;
};

}  // namespace zerohop
