// Writes the turns of a conversation as messages for a template; a part of conversation_shape.cc.
// One object for one conversation; one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "prompt/conversation_shape.h"

namespace zerohop {

class TurnWriter {
 public:
  /// All outlive the writer.
  TurnWriter(const Conversation& conversation, const TemplateTraits& traits,
             ShapedConversation& shaped)
      : conversation_(conversation), traits_(traits), shaped_(shaped) {}

  /// Messages [first, end), all of users.
  void write_user_run(std::size_t first, std::size_t end);
  /// Messages [first, end), all of assistants.
  void write_assistant_run(std::size_t first, std::size_t end);
  /// A system entry that is not the system prompt.
  void write_system_entry(std::size_t index);

  /// The turn being written, a new one when the role changes.
  TemplateMessage& turn_of(std::string_view role);

  /// Appends to the last turn that is no assistant's: what no later request will share.
  void write_behind(std::string_view text);

  /// The last thing written is a call: nothing can be continued there.
  bool ends_with_call() const { return ends_with_call_; }

 private:
  struct Call {
    std::string_view id;
    std::string_view name;
  };
  struct Result {
    std::size_t message = 0;
    std::size_t block = 0;
    std::size_t call = 0;  // an index into calls_; their number when it answers none of them
    const ToolResultBlock* result = nullptr;
  };

  void note_mark(std::size_t message, std::size_t block);
  void add_call(TemplateMessage& turn, const ToolUseBlock& use);
  std::vector<Result> results_of(std::size_t first, std::size_t end) const;
  bool write_results(const std::vector<Result>& results);
  void write_native_result(const Result& result, std::vector<TemplateToolCall>& waiting);
  void write_user_block(const ContentBlock& block);
  TemplateMessage& user_turn();

  const Conversation& conversation_;
  const TemplateTraits& traits_;
  ShapedConversation& shaped_;
  std::vector<Call> calls_;                                       // of the last assistant turn
  std::unordered_map<std::string_view, std::string_view> names_;  // of tools, by ids of calls
  bool ends_with_call_ = false;
};

/// The id of a call as the template takes it: itself, or nine letters and digits that depend on
/// nothing else.
std::string template_call_id(std::string_view id, ToolIds ids);

}  // namespace zerohop
