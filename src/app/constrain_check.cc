#include "app/constrain_check.h"

#include <algorithm>
#include <utility>

#include "constrain/answer_schema.h"
#include "constrain/grammar_machine.h"
#include "constrain/grammar_syntax.h"

namespace zerohop {
namespace {

using KeyOrder = JsonMachineOptions::KeyOrder;

constexpr std::size_t kMaskBytesMax = std::size_t{64} << 20;
// More than any text needs, so that the end of an answer never forbids anything.
constexpr std::size_t kTokensMax = std::size_t{1} << 40;

std::string bytes_from(ConstraintMachine& machine, MachineState state) {
  std::string bytes;
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (machine.step(state, static_cast<unsigned char>(byte)) != kDeadState) {
      bytes.push_back(static_cast<char>(byte));
    }
  }
  return bytes;
}

JsonMachineOptions judging_options(KeyOrder order) {
  JsonMachineOptions options;
  options.coding = TextCoding::kJsonAny;
  options.key_order = order;
  return options;
}

SchemaRefusal refusal_of(const Error& error) {
  return {SchemaRefusal::Kind::kInvalid, {}, {}, error.message};
}

Result<std::unique_ptr<ConstraintMachine>> make_grammar(const std::string& text) {
  ZH_ASSIGN_OR_RETURN(GrammarText read, parse_grammar(text));
  return make_grammar_machine(std::move(read.grammar));
}

bool wants_some_text(const CheckCase& wanted) {
  return std::any_of(wanted.texts.begin(), wanted.texts.end(), [](const ExpectedText& each) {
    return each.wanted == ExpectedText::Wanted::kAccept;
  });
}

CheckVerdict verdict_of(const CheckCase& wanted, const std::vector<TextFinding>& found) {
  CheckVerdict verdict = CheckVerdict::kRight;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (wanted.texts[i].wanted == ExpectedText::Wanted::kReject) {
      if (!found[i].rejected()) return CheckVerdict::kOver;
    } else if (!found[i].accepted_always()) {
      verdict = CheckVerdict::kUnder;
    }
  }
  return verdict;
}

}  // namespace

std::string_view verdict_name(CheckVerdict verdict) {
  switch (verdict) {
    case CheckVerdict::kRight: return "right";
    case CheckVerdict::kOver: return "over";
    case CheckVerdict::kUnder: return "under";
    case CheckVerdict::kRefused: return "refused";
    case CheckVerdict::kError: break;
  }
  return "error";
}

bool TextFinding::rejected() const {
  return !accepted && !(canonical && canonical->accepted) && !(greedy && greedy->accepted);
}

bool TextFinding::accepted_always() const {
  return accepted && (!canonical || canonical->accepted) && (!greedy || greedy->accepted);
}

CaseFinding unreadable_case(std::string id, std::string fault) {
  CaseFinding finding;
  finding.id = std::move(id);
  finding.verdict = CheckVerdict::kError;
  finding.fault = std::move(fault);
  return finding;
}

ConstraintChecker::ConstraintChecker(Options options, const Clock& clock)
    : options_(std::move(options)), clock_(&clock) {
  if (options_.vocabulary) {
    masks_ = std::make_unique<MaskCache>(options_.vocabulary->tokens, kMaskBytesMax);
  }
}

std::variant<ConstraintChecker::Made, SchemaRefusal> ConstraintChecker::make_schema(
    const std::string& text) const {
  Made made;
  const TimePoint begin = clock_->now();
  CompiledSchema compiled = compile_answer_schema(text, options_.schema);
  const TimePoint compiled_at = clock_->now();
  made.cost.compile = compiled_at - begin;
  if (auto* refusal = std::get_if<SchemaRefusal>(&compiled)) return std::move(*refusal);
  const auto& form = std::get<std::shared_ptr<const SchemaForm>>(compiled);
  made.cost.nodes = form->nodes.size();
  made.cost.form_bytes = form->memory_bytes;
  machine_of(form, options_.key_order)->start();
  made.cost.first_state = clock_->now() - compiled_at;
  made.form = judging_form(text, form);
  made.machine = machine_of(made.form, options_.key_order);
  made.machine->start();
  return made;
}

// With numbers in any spelling, where that can be followed too.
std::shared_ptr<const SchemaForm> ConstraintChecker::judging_form(
    const std::string& text, std::shared_ptr<const SchemaForm> answers) const {
  const CompiledSchema compiled = compile_schema(text, options_.schema);
  const auto* form = std::get_if<std::shared_ptr<const SchemaForm>>(&compiled);
  if (form == nullptr || !json_machine_follows(*form, judging_options(options_.key_order))) {
    return answers;
  }
  return *form;
}

std::unique_ptr<ConstraintMachine> ConstraintChecker::machine_of(
    const std::shared_ptr<const SchemaForm>& form, KeyOrder order) const {
  return make_json_machine(form, judging_options(order));
}

std::variant<ConstraintChecker::Made, SchemaRefusal> ConstraintChecker::make(
    const ConstraintText& constraint) const {
  if (constraint.language == ConstraintText::Language::kSchema) {
    return make_schema(constraint.text);
  }
  Made made;
  const TimePoint begin = clock_->now();
  auto machine = constraint.language == ConstraintText::Language::kRegex
                     ? make_regex_machine(constraint.text)
                     : make_grammar(constraint.text);
  if (!machine.ok()) return refusal_of(machine.error());
  const TimePoint compiled_at = clock_->now();
  made.cost.compile = compiled_at - begin;
  made.machine = std::move(machine.value());
  made.machine->start();
  made.cost.first_state = clock_->now() - compiled_at;
  return made;
}

void ConstraintChecker::measure_first_mask(LiveMachine& live, ConstraintCost& cost) {
  if (!masks_) return;
  const TimePoint begin = clock_->now();
  ConstraintMachine& machine = live.machine();
  cost.first_tokens = masks_->mask(machine, live.cache_id(), machine.start()).count();
  cost.first_mask = clock_->now() - begin;
}

TokenWalk ConstraintChecker::walk(const std::shared_ptr<LiveMachine>& live,
                                  const std::vector<Token>& tokens) {
  ConstraintSession session({.machine = live,
                             .masks = masks_.get(),
                             .tokenize = options_.vocabulary->tokenize,
                             .tokens_max = kTokensMax});
  TokenWalk found{.possible = true, .tokens = tokens.size()};
  for (const Token token : tokens) {
    if (!session.allows(token) || !session.mask().allows(token)) return found;
    session.accept(token);
    ++found.read;
  }
  found.accepted = session.may_end();
  return found;
}

bool ConstraintChecker::accepted_in_any_order(Subject& subject, std::string_view text) const {
  if (!subject.form || options_.key_order == KeyOrder::kAny) return false;
  if (!subject.any_order) subject.any_order = machine_of(subject.form, KeyOrder::kAny);
  return accepts(*subject.any_order, text);
}

TextFinding ConstraintChecker::judge(Subject& subject, std::string_view text) {
  TextFinding found;
  ConstraintMachine& machine = subject.live->machine();
  MachineState state = machine.start();
  for (const char byte : text) {
    const MachineState next = machine.step(state, static_cast<unsigned char>(byte));
    if (next == kDeadState) break;
    state = next;
    ++found.read;
  }
  found.accepted = found.read == text.size() && machine.accepting(state);
  if (!found.accepted) {
    found.possible = bytes_from(machine, state);
    found.order_alone = accepted_in_any_order(subject, text);
  }
  if (!masks_) return found;
  const auto& [tokens, tokenize] = *options_.vocabulary;
  const auto spelt = [&](std::optional<std::vector<Token>> spelling) {
    return spelling ? walk(subject.live, *spelling) : TokenWalk{};
  };
  found.canonical = spelt(write_in_tokens(text, *tokens, tokenize));
  found.greedy = spelt(tokens->greedy(text));
  return found;
}

void ConstraintChecker::drop_subject() {
  if (subject_ && subject_->live && masks_) masks_->forget(subject_->live->cache_id());
  subject_.reset();
}

// A file may have thousands of cases for one constraint, each with states of its own.
ConstraintChecker::Subject& ConstraintChecker::subject_of(const ConstraintText& constraint) {
  const bool same = subject_ && subject_->constraint == constraint;
  if (same &&
      (!subject_->live || subject_->live->machine().memory_bytes() <= LiveMachine::kBytesMax)) {
    return *subject_;
  }
  drop_subject();
  subject_.emplace();
  subject_->constraint = constraint;
  compile(*subject_);
  return *subject_;
}

void ConstraintChecker::compile(Subject& subject) {
  ++compiled_;
  auto made = make(subject.constraint);
  if (auto* refusal = std::get_if<SchemaRefusal>(&made)) {
    subject.refusal = std::move(*refusal);
    return;
  }
  auto& [machine, form, cost] = std::get<Made>(made);
  cost.first_bytes = machine->memory_bytes();
  subject.live = std::make_shared<LiveMachine>(std::move(machine), compiled_);
  subject.form = std::move(form);
  ConstraintMachine& live = subject.live->machine();
  measure_first_mask(*subject.live, cost);
  cost.begins = bytes_from(live, live.start());
  cost.shortest = live.shortest_end(live.start());
  subject.cost = std::move(cost);
}

CaseFinding ConstraintChecker::check(const CheckCase& wanted) {
  CaseFinding finding;
  finding.id = wanted.id;
  Subject& subject = subject_of(wanted.constraint);
  if (subject.refusal) {
    const bool rejects_all = subject.refusal->kind == SchemaRefusal::Kind::kUnsatisfiable &&
                             !wanted.texts.empty() && !wants_some_text(wanted);
    finding.verdict = rejects_all ? CheckVerdict::kRight : CheckVerdict::kRefused;
    finding.refusal = subject.refusal;
    return finding;
  }
  finding.cost = subject.cost;
  for (const ExpectedText& each : wanted.texts) {
    finding.texts.push_back(judge(subject, each.text));
  }
  finding.verdict = verdict_of(wanted, finding.texts);
  return finding;
}

}  // namespace zerohop
