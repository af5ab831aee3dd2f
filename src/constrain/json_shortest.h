// The shortest way to the end of a document.
//
// Of each node of the form the shortest document is known. A container in progress needs some more
// items or properties, its plan; the bytes of that, and those of everything around it, are found
// once per progress and once per stack entry and kept, so an answer costs a look at the top level.
//
// Deep inside of a document few more containers may be opened (its room), and the shortest document
// of a node may need more. For each small room there is a table of what is shortest within it.
//
// One owner; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "constrain/json_forms.h"
#include "constrain/json_progress.h"
#include "constrain/json_stacks.h"
#include "constrain/known_texts.h"
#include "constrain/number_values.h"

namespace zerohop {

/// What a JSON machine knows.
struct JsonWorld {
  JsonForms& forms;
  KnownTexts& texts;
  JsonProgress& progress;
  JsonStacks& stacks;
  OtherNumbers& numbers;
};

class JsonShortest {
 public:
  /// Too long to be written.
  static constexpr std::uint32_t kEndless = UINT32_MAX - 1;

  struct Options {
    std::string comma = ",";      ///< with the blank that must follow
    std::string colon = ":";      ///< likewise
    std::uint32_t depth_max = 0;  ///< containers that may be open inside of one another
  };
  JsonShortest(const JsonWorld& world, Options options);

  /// The limit on open containers: depth_max, or more where the form needs more.
  std::uint32_t depth_max();

  /// The container `id` where `room` more may be open inside of it.
  AlternativeId fitting(AlternativeId id, std::uint32_t room);

  /// A value that can be put at a place, and the bytes from its start to the end of the document.
  struct Value {
    std::uint32_t bytes = kEndless;
    SchemaNodeId node = 0;
    std::uint32_t room = 0;  ///< at that place
    std::string text;        ///< instead of the node's shortest, where items must differ
    TextId item = kNoText;
  };
  /// The best of what entry `index` of `stack` (a root, an array, a keyed object) can hold.
  Value best_value(StackId stack, std::uint32_t index);
  std::string value_text(const Value& value);

  /// From behind a value that entry `index` of `stack` holds to the end of the document. `value`:
  /// the item, where the array tracks them.
  std::uint32_t behind_value(StackId stack, std::uint32_t index, std::uint32_t hits, TextId value);

  /// From behind entry `index` of `stack`, once it is closed, to the end of the document.
  std::uint32_t outside(StackId stack, std::uint32_t index);

  /// From inside of a container, behind its last item, until it is closed; `kNone`: it is empty.
  enum class Items : std::uint8_t { kNone, kSome };
  std::uint32_t finish_bytes(ProgressId container, Items items);
  std::string finish_text(ProgressId container, Items items);

  /// The best property that can be next, with its bytes and those until the object is closed.
  struct Property {
    std::uint32_t bytes = kEndless;
    std::string text;  ///< name and colon; perhaps the value as well
  };
  Property best_property(ProgressId object);

  /// From behind the colon of a keyed object until it is closed.
  std::uint32_t keyed_bytes(ProgressId keyed);

  /// Every node has an end that the searches found, and the document's has at most `bytes_max`.
  /// False too where shortest documents hold more than kHeightMax containers inside of one another,
  /// or tables for small rooms would be large.
  bool all_end_within(std::size_t bytes_max);
  static constexpr std::uint32_t kHeightMax = 64;

  const std::string& colon() const { return options_.colon; }

  std::size_t memory_bytes() const;

 private:
  // The shortest documents of all nodes within some room.
  struct Nodes {
    std::vector<std::uint32_t> bytes;
    std::vector<AlternativeId> best;
  };
  // One more item or property of a container.
  struct Step {
    Slot slot = 0;
    std::uint32_t choice = 0;
    std::u32string name;  // of another than the declared ones
    std::string item;     // instead of the node's shortest
  };
  using Plan = std::vector<Step>;

  // json_shortest_nodes.cc
  void measure_nodes();
  bool measure_node(SchemaNodeId node);
  std::vector<std::vector<SchemaNodeId>> users_of_nodes() const;
  void measure_heights();
  void measure_room();
  std::uint32_t measure_scalar(AlternativeId id);
  std::uint32_t measure_container(AlternativeId id);
  bool is_container(AlternativeId id) const;
  std::uint32_t height_needed(AlternativeId id);
  const Nodes& nodes_within(SchemaNodeId node, std::uint32_t room);
  std::uint32_t node_bytes(SchemaNodeId node, std::uint32_t room) {
    return nodes_within(node, room).bytes[node];
  }
  ProgressId begun(AlternativeId id);
  void append_node(SchemaNodeId node, std::uint32_t room, std::string& text);
  Value new_item(SchemaNodeId node, TextSetId taken);

  // json_shortest_plans.cc
  Plan plan(ProgressId container);
  Plan array_plan(ProgressId array);
  Plan unique_plan(ProgressId array);
  Plan object_plan(ProgressId object);
  Plan counted_plan(ProgressId container);
  void add_optional(ProgressId object, std::size_t wanted, Plan& plan);
  void name_others(ProgressId object, Plan& plan);
  bool is_plain_array(ProgressId container);
  std::uint32_t plain_array_bytes(ProgressId array, Items items);
  std::uint32_t plan_bytes(ProgressId container, Items items);
  std::uint32_t plan_bytes(ProgressId container, const Plan& plan, Items items);
  std::string step_text(ProgressId container, const Step& step);
  std::uint32_t best_choice(const std::vector<ValueChoice>& choices, std::uint32_t room);
  const std::vector<ValueChoice>& choices(ProgressId container, Slot slot);
  std::uint32_t name_bytes(ProgressId object, const Step& step);

  std::uint32_t room_of(ProgressId outer);

  JsonWorld world_;
  const Options options_;
  std::uint32_t depth_max_ = 0;  // 0: not known yet
  bool measured_ = false;
  bool settled_ = true;                      // what was measured last changed nothing
  Nodes free_;                               // with any room
  std::vector<std::uint32_t> heights_;       // of their documents: containers inside of one another
  std::vector<std::uint32_t> needs_;         // height_needed() of alternatives
  std::deque<Nodes> rooms_;                  // with room 0, 1, …
  std::vector<std::uint32_t> scalar_bytes_;  // of alternatives; 0: not known yet
  std::unordered_map<ProgressId, std::uint32_t> finish_;  // with a comma in front of every item
  std::vector<std::uint32_t> outside_;                    // by entry number
};

/// `text` as a JSON string.
std::string json_quoted(std::u32string_view text);

}  // namespace zerohop
