#include "app/request_notes.h"

#include <algorithm>
#include <unordered_map>

#include "app/text_hash.h"
#include "policy/redact.h"

namespace zerohop {
namespace {

constexpr std::string_view kToolLabel = "tool";
constexpr std::size_t kValueBytesMax = 64;

bool is_allowed(std::string_view label, std::span<const std::string> allowed) {
  return std::ranges::find(allowed, label) != allowed.end();
}

// Only those of the last message: the ones before were counted when they came.
std::vector<ToolResultNote> tool_results_of(const Conversation& conversation) {
  std::vector<ToolResultNote> results;
  if (conversation.messages.empty()) return results;
  std::unordered_map<std::string_view, std::string_view> names;  // by the id of the call
  for (const Message& message : conversation.messages) {
    for (const ContentBlock& block : message.content) {
      if (const auto* use = std::get_if<ToolUseBlock>(&block)) names[use->id] = use->name;
    }
  }
  for (const ContentBlock& block : conversation.messages.back().content) {
    const auto* result = std::get_if<ToolResultBlock>(&block);
    if (result == nullptr) continue;
    const auto name = names.find(result->tool_use_id);
    if (name == names.end()) continue;
    results.push_back({redact_field(name->second, kValueBytesMax), !result->is_error});
  }
  return results;
}

}  // namespace

void note_body(RequestNotes& notes, const ReadBody& read, std::span<const std::string> allowed) {
  notes.fingerprint = text_hash(read.body);
  notes.model = std::string(read.model);
  if (allowed.empty()) return;
  if (read.labels != nullptr) {
    for (const auto& [label, value] : *read.labels) {
      if (!is_allowed(label, allowed)) continue;
      notes.labels.emplace_back(label, redact_field(value, kValueBytesMax));
    }
  }
  if (read.conversation != nullptr && is_allowed(kToolLabel, allowed)) {
    notes.tool_results = tool_results_of(*read.conversation);
  }
}

}  // namespace zerohop
