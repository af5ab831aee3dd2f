#include "constrain/constraint_session.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace zerohop {
namespace {

// Forced text beyond this is left for the next draft.
constexpr std::size_t kForcedBytesMax = 512;
// Tokens at the end of a draft that a longer one could swallow together: more never happened with
// the vocabularies that were looked at.
constexpr std::size_t kHealedTokensMax = 4;
// Text that is cut into tokens within a millisecond.
constexpr std::size_t kQuicklyWrittenMax = 4'096;

}  // namespace

std::optional<std::vector<Token>> write_in_tokens(std::string_view text, const TokenTrie& tokens,
                                                  const Tokenize& tokenize) {
  if (text.empty()) return std::vector<Token>{};
  if (tokenize) {
    std::vector<Token> written = tokenize(text);
    std::string_view left = text;
    const bool same = std::all_of(written.begin(), written.end(), [&](Token token) {
      const std::string_view bytes = tokens.bytes(token);
      if (bytes.empty() || !left.starts_with(bytes)) return false;
      left.remove_prefix(bytes.size());
      return true;
    });
    if (same && left.empty()) return written;
  }
  return tokens.greedy(text);
}

ConstraintSession::ConstraintSession(Parts parts)
    : live_(std::move(parts.machine)),
      masks_(parts.masks),
      tokenize_(std::move(parts.tokenize)),
      statistics_(parts.statistics ? parts.statistics : &own_statistics_),
      remaining_(parts.tokens_max) {
  ZH_CHECK(live_ && masks_);
  generation_ = live_->generation();
  place_.state = live_->machine().start();
}

std::optional<std::vector<Token>> ConstraintSession::write(std::string_view text) const {
  return write_in_tokens(text, tokens(), tokenize_);
}

std::optional<std::size_t> ConstraintSession::tokens_needed() {
  if (!live_->tokens_needed) {
    ConstraintMachine& machine = live_->machine();
    const auto written = write(machine.shortest_end(machine.start()));
    live_->tokens_needed = written ? std::optional(written->size()) : std::nullopt;
  }
  return *live_->tokens_needed;
}

std::size_t ConstraintSession::tokens_needed_least() {
  ConstraintMachine& machine = live_->machine();
  const std::size_t bytes = machine.shortest_end_bytes(machine.start());
  if (bytes <= kQuicklyWrittenMax) return 0;
  const std::size_t longest = std::max<std::size_t>(1, tokens().longest_token());
  return (bytes + longest - 1) / longest;
}

void ConstraintSession::find_again() {
  if (generation_ != live_->generation()) read_again();
}

// The machine was replaced, and all states with it.
void ConstraintSession::read_again() {
  generation_ = live_->generation();
  next_ = Next{};
  ConstraintMachine& machine = live_->machine();
  const std::size_t before = machine.memory_bytes();
  place_.state = step_all(machine, machine.start(), text_);
  ZH_CHECK(place_.state != kDeadState);
  const std::size_t now = machine.memory_bytes();
  if (now > before) live_->note_read_again(now - before);
}

void ConstraintSession::find_next(Token token) {
  if (next_.token == token && next_.state != kDeadState) return;
  next_ = Next{.token = token, .state = masks_->step(live_->machine(), place_.state, token)};
}

// Whether the shortest end of `state` can be written in so many tokens. Where it had to be written
// to know, it is put into `plan`.
bool ConstraintSession::end_fits(MachineState state, std::size_t tokens_left, Plan& plan) const {
  ConstraintMachine& machine = live_->machine();
  const std::size_t bytes = machine.shortest_end_bytes(state);
  if (bytes <= tokens_left && is_writable(state)) return true;
  if (bytes > tokens_left * tokens().longest_token()) return false;
  auto written = write(machine.shortest_end(state));
  if (!written || written->size() > tokens_left) return false;
  plan = std::move(written);
  return true;
}

// Whether each byte of the shortest end is a token by itself. Nearly always so; where a vocabulary
// lacks some control characters the end has to be looked at.
bool ConstraintSession::is_writable(MachineState state) const {
  ConstraintMachine& machine = live_->machine();
  return tokens().covers_controls() || machine.plain_ends() ||
         tokens().has_bytes_of(machine.shortest_end(state));
}

bool ConstraintSession::next_fits() {
  if (remaining_ == 0) return false;
  if (end_fits(next_.state, remaining_ - 1, next_.plan)) return true;
  return plan().size() <= remaining_ && inherit_plan();
}

// Where the next token is the first one of this place's plan, the others are the next place's.
bool ConstraintSession::inherit_plan() {
  const Plan& plan = place_.plan;
  if (!plan || plan->empty() || plan->front() != next_.token) return false;
  next_.plan.emplace(plan->begin() + 1, plan->end());
  return true;
}

const std::vector<Token>& ConstraintSession::plan() {
  if (!place_.plan) {
    place_.plan = write(live_->machine().shortest_end(place_.state)).value_or(std::vector<Token>{});
  }
  return *place_.plan;
}

bool ConstraintSession::allows(Token token) {
  find_again();
  if (tokens().is_end(token)) return live_->machine().accepting(place_.state);
  find_next(token);
  if (next_.state == kDeadState) return false;
  if (next_fits()) return true;
  note_denied();
  return false;
}

// A legal token that does not fit. An end that is short enough and still does not can never be
// written, however many tokens there are.
void ConstraintSession::note_denied() {
  if (live_->machine().shortest_end_bytes(next_.state) + 1 > remaining_) closed_early_ = true;
}

const TokenMask& ConstraintSession::mask() {
  find_again();
  return masks_->mask(live_->machine(), live_->cache_id(), place_.state);
}

std::vector<Token> ConstraintSession::closing_tokens() {
  find_again();
  ConstraintMachine& machine = live_->machine();
  if (machine.accepting(place_.state)) {
    return {tokens().end_tokens().begin(), tokens().end_tokens().end()};
  }
  std::vector<Token> found;
  const std::string end = machine.shortest_end(place_.state);
  tokens().trie().follow(end, [&](std::uint32_t node) {
    for (const std::uint32_t token : tokens().trie().values(node)) {
      if (allows(static_cast<Token>(token))) found.push_back(static_cast<Token>(token));
    }
  });
  // A plan that is being followed need not be the shortest end of this place.
  if (!plan().empty() && leads_on(plan().front())) found.push_back(plan().front());
  if (found.empty()) found = tokens_too_late(end);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool ConstraintSession::leads_on(Token token) {
  find_next(token);
  return next_.state != kDeadState;
}

// A machine that leaves texts out (grammar_machine.h) may have left out those that would have ended
// in time: then the text goes on towards its end and is cut.
std::vector<Token> ConstraintSession::tokens_too_late(std::string_view end) {
  closed_early_ = true;
  const auto written = write(end);
  if (written && !written->empty() && leads_on(written->front())) return {written->front()};
  std::vector<Token> legal;
  mask().for_each([&](Token token) { legal.push_back(token); });
  return legal;
}

void ConstraintSession::accept(Token token) {
  if (tokens().is_end(token)) return;
  if (remaining_ > 0) --remaining_;
  find_again();
  find_next(token);
  ZH_CHECK(next_.state != kDeadState);
  if (!next_.plan) inherit_plan();
  text_ += tokens().bytes(token);
  place_ = Place{next_.state, std::move(next_.plan)};
  next_ = Next{};
  if (live_->note_token()) {
    masks_->forget(live_->cache_id());
    live_->trim();
    find_again();
  }
}

ConstraintSession::Mark ConstraintSession::mark() const {
  Mark mark;
  mark.place_ = place_;
  mark.bytes_ = text_.size();
  mark.remaining_ = remaining_;
  mark.generation_ = generation_;
  mark.closed_early_ = closed_early_;
  return mark;
}

void ConstraintSession::rollback(const Mark& mark) {
  ZH_CHECK(mark.bytes_ <= text_.size());
  place_ = mark.place_;
  text_.resize(mark.bytes_);
  remaining_ = mark.remaining_;
  generation_ = mark.generation_;
  closed_early_ = mark.closed_early_;
  next_ = Next{};
  find_again();
}

bool ConstraintSession::may_end() {
  find_again();
  return live_->machine().accepting(place_.state);
}

bool ConstraintSession::must_end() { return may_end() && !goes_on(live_->machine(), place_.state); }

// Whether a token that begins with `tail`, the end of the forced text, could go on behind it.
bool ConstraintSession::could_go_on(std::string_view tail, MachineState behind) {
  const ByteTrie& trie = tokens().trie();
  const std::uint32_t node = trie.follow(tail, [](std::uint32_t) {});
  if (node == ByteTrie::kNoNode) return false;
  for (std::size_t i = node + 1; i < trie.node(node).skip; i = trie.node(i).skip) {
    if (live_->machine().step(behind, trie.node(i).byte) != kDeadState) return true;
  }
  return false;
}

// How many of these tokens may come one behind the other.
std::size_t ConstraintSession::count_allowed(std::span<const Token> draft) {
  const Mark here = mark();
  std::size_t count = 0;
  while (count < draft.size() && allows(draft[count])) accept(draft[count++]);
  rollback(here);
  return count;
}

std::vector<Token> ConstraintSession::forced_tokens(std::size_t tokens_max) {
  if (tokens_max == 0) return {};
  find_again();
  ConstraintMachine& machine = live_->machine();
  const std::string forced = machine.forced(place_.state, kForcedBytesMax);
  if (forced.empty()) return {};
  std::vector<Token> draft = write(forced).value_or(std::vector<Token>{});
  const MachineState behind = step_all(machine, place_.state, forced);
  std::size_t tail = 0;
  std::size_t keep = draft.size();
  for (std::size_t back = 1; back <= std::min(kHealedTokensMax, draft.size()); ++back) {
    tail += tokens().bytes(draft[draft.size() - back]).size();
    if (could_go_on(std::string_view(forced).substr(forced.size() - tail), behind)) {
      keep = draft.size() - back;
    }
  }
  draft.resize(std::min(keep, tokens_max));
  draft.resize(count_allowed(draft));
  return draft;
}

std::size_t ConstraintSession::limit_remaining(std::size_t tokens) {
  if (tokens >= remaining_) return remaining_;
  find_again();
  remaining_ = std::min(remaining_, std::max(tokens, plan().size()));
  return remaining_;
}

}  // namespace zerohop
