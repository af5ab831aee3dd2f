#include "document_judge.h"

#include <utility>

#include "model/llama_test_model.h"

namespace zerohop {
namespace {

using KeyOrder = JsonMachineOptions::KeyOrder;

constexpr std::size_t kMaskBytesMax = std::size_t{64} << 20;
constexpr std::size_t kTokensMax = std::size_t{1} << 40;

std::unique_ptr<JudgeVocabulary> load_vocabulary() {
  LlamaModelOptions options;
  options.path = default_model_path();
  options.load = LlamaLoad::kTokenizerOnly;
  auto loaded = load_llama_model(options);
  if (!loaded.ok()) {
    ADD_FAILURE() << "these tests need the default model: " << loaded.error().message;
    return nullptr;
  }
  static std::unique_ptr<Model> model;
  model = std::move(loaded.value());
  auto vocabulary = std::make_unique<JudgeVocabulary>();
  vocabulary->tokens = TokenTrie::of(model->tokenizer().table());
  vocabulary->tokenize = [](std::string_view text) {
    return model->tokenizer().tokenize(text, SpecialTokens::kInert);
  };
  vocabulary->masks = std::make_unique<MaskCache>(vocabulary->tokens, kMaskBytesMax);
  return vocabulary;
}

std::shared_ptr<LiveMachine> machine_of(const std::shared_ptr<const SchemaForm>& form,
                                        TextCoding coding, KeyOrder order) {
  static std::uint64_t machines = 0;
  JsonMachineOptions options;
  options.coding = coding;
  options.key_order = order;
  return std::make_shared<LiveMachine>(make_json_machine(form, options), ++machines);
}

}  // namespace

JudgeVocabulary* default_vocabulary() {
  static const std::unique_ptr<JudgeVocabulary> loaded = load_vocabulary();
  return loaded.get();
}

struct DocumentJudge::Machines {
  std::shared_ptr<LiveMachine> any;        // escapes and order of keys
  std::shared_ptr<LiveMachine> canonical;  // keys in any order
  std::shared_ptr<LiveMachine> declared;   // as answers are written
};

DocumentJudge::DocumentJudge(std::shared_ptr<const SchemaForm> form, const Options& options)
    : form_(std::move(form)),
      options_(options),
      oracle_(*form_),
      oracle_declared_(*form_, SchemaFormOracle::Order::kDeclared) {
  machines_ = std::make_unique<Machines>(
      Machines{machine_of(form_, TextCoding::kJsonAny, KeyOrder::kAny),
               machine_of(form_, TextCoding::kJsonCanonical, KeyOrder::kAny),
               machine_of(form_, TextCoding::kJsonCanonical, KeyOrder::kDeclared)});
}

DocumentJudge::~DocumentJudge() {
  if (options_.vocabulary == nullptr) return;
  options_.vocabulary->masks->forget(machines_->any->cache_id());
}

void DocumentJudge::ask(const Asked& asked, Verdict& verdict) {
  const bool any = accepts(machines_->any->machine(), asked.text);
  const bool canonical = accepts(machines_->canonical->machine(), asked.text);
  const bool declared = accepts(machines_->declared->machine(), asked.text);
  verdict.ever = verdict.ever || any || canonical || declared;
  if (asked.binding && !any) verdict.always = false;
  const auto disagree = [&](std::string_view who, bool found) {
    verdict.disagreements.push_back(std::string(who) + (found ? " accepts " : " rejects ") +
                                    std::string(asked.style) + " " + std::string(asked.text));
  };
  if (any != asked.wanted) disagree("any", any);
  if (asked.all_escaped ? canonical && !any : canonical != any) {
    disagree("canonical, unlike any,", canonical);
  }
  if (asked.all_escaped ? declared && !asked.declared : declared != asked.declared) {
    disagree("declared", declared);
  }
}

void DocumentJudge::ask_tokens(const Asked& asked, Verdict& verdict) {
  JudgeVocabulary& vocabulary = *options_.vocabulary;
  const std::pair<std::string_view, std::optional<std::vector<Token>>> spellings[] = {
      {"the model's tokens", write_in_tokens(asked.text, *vocabulary.tokens, vocabulary.tokenize)},
      {"the longest tokens", vocabulary.tokens->greedy(asked.text)}};
  for (const auto& [name, tokens] : spellings) {
    if (!tokens) continue;
    ConstraintSession session({.machine = machines_->any,
                               .masks = vocabulary.masks.get(),
                               .tokenize = vocabulary.tokenize,
                               .tokens_max = kTokensMax});
    bool possible = true;
    for (std::size_t i = 0; possible && i < tokens->size(); ++i) {
      const Token token = (*tokens)[i];
      possible = session.allows(token);
      const bool by_mask = places_++ % options_.masks_every == 0;
      if (by_mask && session.mask().allows(token) != possible) {
        verdict.disagreements.push_back("mask and check differ at token " + std::to_string(i) +
                                        " of " + std::string(asked.text));
      }
      if (possible) session.accept(token);
    }
    const bool accepted = possible && session.may_end();
    verdict.ever = verdict.ever || accepted;
    if (asked.binding && !accepted) verdict.always = false;
    if (accepted != asked.wanted) {
      verdict.disagreements.push_back(std::string(name) + (accepted ? " accept " : " reject ") +
                                      std::string(asked.text));
    }
  }
}

DocumentJudge::Verdict DocumentJudge::judge(const JsonNode& value) {
  Verdict verdict;
  for (const auto& [style, text] : styled_texts(value)) {
    const auto read = parse_json_node(text);
    const bool respelt =
        style == DocumentStyle::kTrailingZero || style == DocumentStyle::kScientific;
    if (!read.ok()) {
      verdict.disagreements.push_back("no JSON: " + text);
      continue;
    }
    Asked asked{.text = text, .style = style_name(style), .wanted = oracle_.accepts(*read)};
    asked.declared = oracle_declared_.accepts(*read);
    asked.all_escaped = style == DocumentStyle::kAllEscaped;
    // Not every rule allows scientific spellings.
    asked.binding =
        style != DocumentStyle::kScientific && (!respelt || options_.spelling_of_numbers_is_free);
    if (respelt && !options_.spelling_of_numbers_is_free) {
      Verdict apart;
      ask(asked, apart);
      verdict.disagreements.insert(verdict.disagreements.end(), apart.disagreements.begin(),
                                   apart.disagreements.end());
      continue;
    }
    ask(asked, verdict);
    const bool by_tokens = style == DocumentStyle::kCompact || style == DocumentStyle::kSpaced;
    if (options_.vocabulary != nullptr && by_tokens) ask_tokens(asked, verdict);
  }
  return verdict;
}

DocumentJudge::Verdict DocumentJudge::judge_text(std::string_view text) {
  Verdict verdict;
  const auto read = parse_json_node(text);
  const bool wanted = read.ok() && oracle_.accepts(*read);
  const bool accepted = accepts(machines_->any->machine(), text);
  verdict.ever = verdict.always = accepted;
  if (accepted != wanted) verdict.disagreements.push_back("any differs: " + std::string(text));
  const Asked asked{.text = text, .style = "as it stands", .wanted = wanted, .binding = true};
  if (options_.vocabulary != nullptr) ask_tokens(asked, verdict);
  return verdict;
}

}  // namespace zerohop
