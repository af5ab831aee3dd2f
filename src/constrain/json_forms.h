// A schema form as the JSON machine asks it: alternatives by number, and what follows from the
// rules of an array or object once and for all.
//
// Deep inside of a document, where only few more containers may be opened, some choices need too
// many. There an alternative is replaced by a narrowed copy without them: a form of its own, of
// which all else follows as of any other.
//
// Facts are made when they are first asked for. One owner; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "constrain/schema_form.h"

namespace zerohop {

/// All alternatives of all nodes, numbered.
using AlternativeId = std::uint32_t;

struct ArrayFacts {
  const ArrayForm* form = nullptr;
  std::uint32_t items_limit = 0;  ///< no array is longer
  std::uint32_t index_cap = 0;    ///< indices from here on are the same

  const std::vector<ValueChoice>& place(std::uint32_t index) const {
    return index < form->prefix.size() ? form->prefix[index] : form->rest;
  }
};

struct ObjectFacts {
  const ObjectForm* form = nullptr;
  std::size_t words = 0;                  ///< 32-bit words that hold a bit per property
  std::vector<std::u32string> names;      ///< declared ones, sorted; a rank is an index here
  std::vector<std::uint32_t> by_rank;     ///< rank → property
  std::vector<std::uint32_t> name_bytes;  ///< of property i, written canonically with quotes
  bool has_needs = false;
  std::vector<std::vector<std::uint32_t>> needed_by;  ///< of property i; empty without needs
  std::uint32_t counted_min = 0;           ///< properties that the bounds below can ask for at most
  std::vector<std::uint32_t> class_words;  ///< words of class i; UINT32_MAX: more than matters
};

class JsonForms {
 public:
  explicit JsonForms(std::shared_ptr<const SchemaForm> form);

  const SchemaForm& form() const { return *form_; }
  const std::shared_ptr<const SchemaForm>& shared() const { return form_; }

  AlternativeId first(SchemaNodeId node) const { return first_[node]; }
  AlternativeId end(SchemaNodeId node) const { return first_[node + 1]; }
  const SchemaAlternative& alternative(AlternativeId id) const { return *alternatives_[id]; }
  std::size_t nodes() const { return form_->nodes.size(); }

  /// Containers that may be open inside of one another within a container: `kAnyRoom` unless the
  /// alternative is a narrowed one.
  static constexpr std::uint32_t kAnyRoom = UINT32_MAX;
  std::uint32_t room(AlternativeId id) const {
    return id < first_.back() ? kAnyRoom : rooms_[id - first_.back()];
  }

  /// The container `id` (of the form itself) with those choices only whose node `fits`, for places
  /// with that little `room`; always the same for the same room. Perhaps nothing satisfies it.
  AlternativeId narrowed(AlternativeId id, std::uint32_t room,
                         const std::function<bool(SchemaNodeId)>& fits);

  const ArrayFacts& array(AlternativeId id);
  const ObjectFacts& object(AlternativeId id);

  /// Characters of words of `automaton` that make no difference beyond this number; UINT32_MAX:
  /// all do. (Lengths are counted outside of the automaton.)
  std::uint32_t count_cap(const ContentAutomaton& automaton);

  std::size_t memory_bytes() const;

 private:
  struct Facts {
    std::unique_ptr<ArrayFacts> array;
    std::unique_ptr<ObjectFacts> object;
  };
  struct CountCap {
    const ContentAutomaton* automaton = nullptr;
    std::uint32_t cap = 0;
  };

  std::shared_ptr<const SchemaForm> form_;
  std::vector<AlternativeId> first_;                    // of each node, and the end
  std::vector<const SchemaAlternative*> alternatives_;  // of the form, then narrowed ones
  std::deque<SchemaAlternative> narrowed_;
  std::vector<std::uint32_t> rooms_;  // of narrowed ones
  std::map<std::pair<AlternativeId, std::uint32_t>, AlternativeId> narrowed_ids_;
  std::vector<Facts> facts_;
  std::vector<CountCap> caps_;  // sorted by automaton
  std::size_t facts_bytes_ = 0;
  std::size_t narrowed_bytes_ = 0;
};

}  // namespace zerohop
