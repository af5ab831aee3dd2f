#include "cache/miss_explainer.h"

#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "cache/sorted_prompts.h"

namespace zerohop {
namespace {

// A part of the prompt in front of the conversation.
struct FrontPart {
  MissCause cause = MissCause::kSystemChanged;  // of a difference inside it
  std::size_t begin = 0;
  std::size_t end = 0;
};

// In the order of the prompt; templates put tools before or behind the system prompt.
class Front {
 public:
  Front(const PromptSections& sections, std::size_t prompt_tokens) {
    add(MissCause::kSystemChanged, sections.system_end, prompt_tokens);
    add(MissCause::kToolsChanged, sections.tools_end, prompt_tokens);
    if (count_ == 2 && parts_[1].end < parts_[0].end) std::swap(parts_[0], parts_[1]);
    if (count_ == 2) parts_[1].begin = parts_[0].end;
  }

  std::span<const FrontPart> parts() const { return {parts_.data(), count_}; }
  std::size_t end() const { return count_ == 0 ? 0 : parts_[count_ - 1].end; }

 private:
  void add(MissCause cause, std::size_t end, std::size_t prompt_tokens) {
    if (end == 0) return;
    parts_[count_++] = {cause, 0, std::min(end, prompt_tokens)};
  }

  std::array<FrontPart, 2> parts_{};
  std::size_t count_ = 0;
};

// Changes of shorter parts are not told from another part altogether.
constexpr std::size_t kPartTokensMin = 16;
// What two parts that differ near their beginnings have in common at their ends, to be found again.
constexpr std::size_t kEndTokens = 12;
// The end of an earlier prompt, by which the new one is known to go on with it. The marks of the
// turns take some six of them.
constexpr std::size_t kTailTokens = 24;

bool alike(TokenSpan a, TokenSpan b) {
  const std::size_t longer = std::max(a.size(), b.size());
  const std::size_t shorter = std::min(a.size(), b.size());
  if (longer < kPartTokensMin) return false;
  const std::size_t front = common_prefix(a, b);
  const std::size_t back = std::min(common_suffix(a, b), shorter - front);
  return 2 * (front + back) >= longer;
}

// Whether the last tokens of `earlier` come in `later` behind `from` as well.
bool goes_on(TokenSpan earlier, TokenSpan later, std::size_t from) {
  if (earlier.size() < from + kTailTokens) return false;
  const TokenSpan tail = earlier.last(kTailTokens);
  const TokenSpan rest = later.subspan(from);
  return std::search(rest.begin(), rest.end(), tail.begin(), tail.end()) != rest.end();
}

}  // namespace

class MissExplainer::Impl {
 public:
  explicit Impl(const MissExplainerOptions& options) : options_(options) {
    ZH_CHECK(options.prompts_max > 0 && options.tokens_max > 0);
  }

  CacheMiss explain(const SeenPrompt& prompt, std::size_t found, CacheCap cap) {
    const SortedPrompts::Match nearest = nearest_visible(prompt);
    CacheMiss miss = name_cause(prompt, found, cap, nearest);
    remember(prompt, nearest);
    return miss;
  }

  std::size_t prompts() const { return prompts_.size(); }
  std::size_t tokens() const { return tokens_; }

 private:
  struct Prompt : RememberedTokens {
    PromptSections sections;
    ScopeId scope;
    std::uint64_t affinity = 0;
    std::array<std::uint64_t, 2> ends{};  // keys of its parts in by_end_; 0: none
    std::uint64_t key = 0;                // in by_affinity_; 0: none
  };
  struct Predecessor {
    const Prompt* prompt = nullptr;
    std::size_t common = 0;
  };

  static const Prompt* as_prompt(const RememberedTokens* tokens) {
    return static_cast<const Prompt*>(tokens);
  }

  // Keys of hash tables are salted with the scope: nobody meets the prompts of others there.
  static std::uint64_t affinity_key(const SeenPrompt& prompt) {
    return prompt.affinity == 0 ? 0 : mix64(prompt.affinity ^ mix64(prompt.scope.value + 1)) | 1;
  }
  static std::uint64_t end_key(const SeenPrompt& prompt, const FrontPart& part) {
    if (part.end - part.begin < kPartTokensMin) return 0;
    std::uint64_t key = mix64(prompt.scope.value + 1) + static_cast<std::uint64_t>(part.cause);
    for (const Token token : prompt.tokens.subspan(part.end - kEndTokens, kEndTokens)) {
      key = mix64(key ^ static_cast<std::uint32_t>(token));
    }
    return key | 1;
  }

  SortedPrompts::Match nearest_visible(const SeenPrompt& prompt) const {
    SortedPrompts::Match best = nearest_in(prompt.scope, prompt.tokens);
    if (prompt.scope == kPublicScope) return best;
    const SortedPrompts::Match open = nearest_in(kPublicScope, prompt.tokens);
    return open.prompt != nullptr && open.tokens > best.tokens ? open : best;
  }
  SortedPrompts::Match nearest_in(ScopeId scope, TokenSpan tokens) const {
    const auto found = by_scope_.find(scope);
    return found == by_scope_.end() ? SortedPrompts::Match{} : found->second.best(tokens);
  }

  CacheMiss name_cause(const SeenPrompt& prompt, std::size_t found, CacheCap cap,
                       const SortedPrompts::Match& nearest) const {
    // One token is always computed: its logits are needed.
    const std::size_t seen = std::min(nearest.tokens, prompt.tokens.size() - 1);
    if (cap != CacheCap::kNone && seen >= found + kMissTokensMin) {
      return miss(MissCause::kEvicted, found, seen - found, cap);
    }
    // What was found behind a difference came from another prompt with the same difference.
    const CacheMiss change = find_change(prompt, nearest);
    if (change.cause != MissCause::kNone && found < change.position + kMissTokensMin) return change;
    const std::size_t shared = std::max(seen, found);
    const std::size_t elsewhere =
        std::min(all_.best(prompt.tokens).tokens, prompt.tokens.size() - 1);
    if (elsewhere >= shared + kOtherScopeTokensMin) {
      return miss(MissCause::kOtherTenant, shared, elsewhere - shared, CacheCap::kNone);
    }
    const Front front(prompt.sections, prompt.tokens.size());
    const bool known = found >= kMissTokensMin && found >= front.end();
    return known ? CacheMiss{} : miss(MissCause::kCold, found, 0, CacheCap::kNone);
  }

  static CacheMiss miss(MissCause cause, std::size_t position, std::size_t tokens, CacheCap cap) {
    return {cause, cap, static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(tokens)};
  }

  // The change that parts the prompt from its likeliest predecessor; kNone when there is none.
  CacheMiss find_change(const SeenPrompt& prompt, const SortedPrompts::Match& nearest) const {
    const Prompt* near = as_prompt(nearest.prompt);
    const bool same_key = near != nullptr && prompt.affinity != 0 &&
                          near->affinity == prompt.affinity && near->scope == prompt.scope;
    if (!same_key) {
      if (const Prompt* last = look_up(by_affinity_, affinity_key(prompt))) {
        const CacheMiss change = compare(prompt, *last, common_prefix(prompt.tokens, last->tokens));
        if (change.cause != MissCause::kNone) return change;
      }
    }
    if (near != nullptr) {
      const CacheMiss change = compare(prompt, *near, nearest.tokens);
      if (change.cause != MissCause::kNone) return change;
    }
    const Front front(prompt.sections, prompt.tokens.size());
    for (const FrontPart& part : front.parts()) {
      if (nearest.tokens >= part.end) continue;
      const Prompt* similar = look_up(by_end_, end_key(prompt, part));
      if (similar == nullptr || similar == near) continue;
      return compare(prompt, *similar, common_prefix(prompt.tokens, similar->tokens));
    }
    return {};
  }

  CacheMiss compare(const SeenPrompt& prompt, const Prompt& earlier, std::size_t common) const {
    // Everything of the earlier prompt is there: the next turn, or the same again.
    if (common == earlier.tokens.size() || common == prompt.tokens.size()) return {};
    const TokenSpan before = earlier.tokens;
    const bool same_key = prompt.affinity != 0 && prompt.affinity == earlier.affinity;
    const Front now(prompt.sections, prompt.tokens.size());
    const Front then(earlier.sections, earlier.tokens.size());
    for (std::size_t i = 0; i < now.parts().size(); ++i) {
      const FrontPart& part = now.parts()[i];
      if (common >= part.end) continue;
      if (i >= then.parts().size() || then.parts()[i].cause != part.cause) return {};
      const FrontPart& old = then.parts()[i];
      const TokenSpan part_now = prompt.tokens.subspan(part.begin, part.end - part.begin);
      const TokenSpan part_then = before.subspan(old.begin, old.end - old.begin);
      if (!same_key && !alike(part_now, part_then)) return {};
      const std::size_t behind =
          common_prefix(prompt.tokens.subspan(part.end), before.subspan(old.end));
      return miss(part.cause, common, part.end - common + behind, CacheCap::kNone);
    }
    if (common < kMissTokensMin || !(same_key || goes_on(before, prompt.tokens, common))) return {};
    const std::size_t missed = std::min(before.size(), prompt.tokens.size()) - common;
    return miss(MissCause::kMessagesChanged, common, missed, CacheCap::kNone);
  }

  // ---- The memory ----

  void remember(const SeenPrompt& prompt, const SortedPrompts::Match& nearest) {
    // What the new prompt begins with needs no memory of its own.
    const Prompt* near = as_prompt(nearest.prompt);
    if (near != nullptr && near->scope == prompt.scope && nearest.tokens == near->tokens.size()) {
      forget(std::ranges::find_if(prompts_, [near](const Prompt& old) { return &old == near; }));
    }
    const std::size_t kept = std::min(prompt.tokens.size(), options_.tokens_max);
    while (!prompts_.empty() &&
           (prompts_.size() >= options_.prompts_max || tokens_ + kept > options_.tokens_max)) {
      forget(prompts_.begin());
    }
    Prompt& added = prompts_.emplace_back();
    added.tokens.assign(prompt.tokens.begin(),
                        prompt.tokens.begin() + static_cast<std::ptrdiff_t>(kept));
    added.sections = prompt.sections;
    added.scope = prompt.scope;
    added.affinity = prompt.affinity;
    tokens_ += kept;
    by_scope_[added.scope].insert(added);
    all_.insert(added);
    added.key = affinity_key(prompt);
    if (added.key != 0) by_affinity_[added.key] = &added;
    std::size_t part_index = 0;
    const Front front(prompt.sections, kept);
    for (const FrontPart& part : front.parts()) {
      const std::uint64_t key = added.ends[part_index++] = end_key(prompt, part);
      if (key != 0) by_end_[key] = &added;
    }
  }

  void forget(std::list<Prompt>::iterator old) {
    ZH_CHECK(old != prompts_.end());
    tokens_ -= old->tokens.size();
    all_.erase(*old);
    const auto scope = by_scope_.find(old->scope);
    scope->second.erase(*old);
    if (scope->second.empty()) by_scope_.erase(scope);
    drop(by_affinity_, old->key, *old);
    for (const std::uint64_t key : old->ends) drop(by_end_, key, *old);
    prompts_.erase(old);
  }

  using Index = std::unordered_map<std::uint64_t, const Prompt*>;

  static const Prompt* look_up(const Index& index, std::uint64_t key) {
    const auto found = key == 0 ? index.end() : index.find(key);
    return found == index.end() ? nullptr : found->second;
  }
  // A later prompt may have taken the key.
  static void drop(Index& index, std::uint64_t key, const Prompt& prompt) {
    const auto found = index.find(key);
    if (found != index.end() && found->second == &prompt) index.erase(found);
  }

  const MissExplainerOptions options_;
  std::list<Prompt> prompts_;  // oldest first
  std::size_t tokens_ = 0;     // of all of them
  SortedPrompts all_;
  std::map<ScopeId, SortedPrompts> by_scope_;
  Index by_affinity_;  // the last prompt of a key
  Index by_end_;       // the last prompt whose system prompt or tools ended so
};

MissExplainer::MissExplainer(const MissExplainerOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}

MissExplainer::~MissExplainer() = default;

CacheMiss MissExplainer::explain(const SeenPrompt& prompt, std::int32_t tokens_found,
                                 CacheCap cap) {
  ZH_CHECK(!prompt.tokens.empty() && tokens_found >= 0);
  return impl_->explain(prompt, static_cast<std::size_t>(tokens_found), cap);
}

std::size_t MissExplainer::prompts() const { return impl_->prompts(); }
std::size_t MissExplainer::tokens() const { return impl_->tokens(); }

}  // namespace zerohop
