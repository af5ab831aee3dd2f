#include "app/warm_prefixes.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "app/warm_state_folder.h"
#include "base/log.h"
#include "cache/sorted_prompts.h"

namespace zerohop {
namespace {

std::string identity_of(const Tier& tier, const std::string& weights) {
  const ModelInfo& info = tier.model().info();
  return weights + "|" + info.description + "|" + std::to_string(info.file_bytes) + "|" +
         std::to_string(tier.state_fingerprint());
}

// Writing a state may take longer than a step.
std::function<void(std::vector<std::byte>)> writer(std::shared_ptr<const WarmStateFolder> folder,
                                                   std::vector<Token> tokens, WorkerPool& writers) {
  return [folder = std::move(folder), tokens = std::move(tokens),
          &writers](std::vector<std::byte> state) {
    writers.post([folder, tokens, state = std::move(state)] {
      const Result<void> saved = folder->save(tokens, state);
      if (!saved.ok()) log_warning("warm prefix not saved", {{"reason", saved.error().message}});
    });
  };
}

WarmPrefix make_prefix(const std::vector<Token>& tokens,
                       const std::shared_ptr<const WarmStateFolder>& folder, WorkerPool& writers) {
  WarmPrefix prefix;
  prefix.tokens = tokens;
  if (folder == nullptr) return prefix;
  Result<std::vector<std::byte>> state = folder->load(tokens);
  if (state.ok()) {
    prefix.state = std::move(state).value();
  } else {
    log_warning("warm prefix is computed again", {{"reason", state.error().message}});
  }
  prefix.on_computed = writer(folder, tokens, writers);
  return prefix;
}

}  // namespace

Conversation conversation_under(std::string system) {
  Conversation conversation;
  conversation.system.push_back({std::move(system)});
  conversation.messages.push_back({Role::kUser, {TextBlock{"."}}});
  return conversation;
}

Result<std::vector<Token>> warm_prefix_tokens(const PromptStage& prompts,
                                              Conversation conversation) {
  // What two conversations share that differ from the first byte of the user's text on. The second
  // one begins with a line break, which vocabularies like to join to what stands in front of it.
  conversation.messages = {{Role::kUser, {TextBlock{"A"}}}};
  ZH_ASSIGN_OR_RETURN(PreparedPrompt first, prompts.prepare(conversation));
  conversation.messages = {{Role::kUser, {TextBlock{"\n\n1"}}}};
  ZH_ASSIGN_OR_RETURN(const PreparedPrompt second, prompts.prepare(conversation));
  first.tokens.resize(common_prefix(first.tokens, second.tokens));
  return std::move(first.tokens);
}

Result<void> warm_up(Tier& tier, std::span<const Conversation> conversations,
                     const WarmSetup& setup, WorkerPool& writers) {
  std::shared_ptr<const WarmStateFolder> folder;
  if (!setup.folder.empty()) {
    folder = std::make_shared<WarmStateFolder>(setup.folder, identity_of(tier, setup.weights));
  }
  std::set<std::vector<Token>> seen;
  for (const Conversation& conversation : conversations) {
    ZH_ASSIGN_OR_RETURN(const std::vector<Token> tokens,
                        warm_prefix_tokens(tier.prompts(), conversation));
    if (tokens.empty() || !seen.insert(tokens).second) continue;
    const Result<void> submitted = tier.loop().submit_warm(make_prefix(tokens, folder, writers));
    if (submitted.ok()) continue;
    if (submitted.error().code == ErrorCode::kConfiguration) {
      log_warning("no warm prefixes", {{"reason", submitted.error().message}});
      return {};
    }
    return Error{ErrorCode::kConfiguration,
                 "cache.warm_prefixes and prompt.profiles: " + submitted.error().message,
                 "",
                 {}};
  }
  if (!seen.empty()) log_info("warm prefixes", {{"count", std::to_string(seen.size())}});
  return {};
}

}  // namespace zerohop
