// `zerohop constrain check`.
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>

#include "app/commands.h"
#include "app/constrain_cases.h"
#include "app/constrain_check.h"
#include "app/constrain_report.h"
#include "app/constraint_service.h"
#include "app/exit_code.h"
#include "app/model_options.h"
#include "app/model_store.h"

namespace zerohop {
namespace {

using Language = ConstraintText::Language;

// A schema has at most 4 MiB, a text at most what a long answer has; more is a mistake.
constexpr std::size_t kFileBytesMax = std::size_t{16} << 20;

Error unreadable(const std::filesystem::path& file, const std::string& why) {
  return invalid_request({}, file.string() + ": " + why);
}

// "-": standard input.
Result<std::string> read_file(const std::filesystem::path& file) {
  std::ifstream opened;
  if (file != "-") opened.open(file, std::ios::binary);
  std::istream& stream = file == "-" ? std::cin : opened;
  std::string text;
  std::string chunk(std::size_t{64} << 10, '\0');
  while (stream.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) ||
         stream.gcount() > 0) {
    text.append(chunk, 0, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > kFileBytesMax) return unreadable(file, "longer than 16 MiB");
  }
  // A folder opens, but cannot be read.
  if (!stream.eof() || stream.bad()) return unreadable(file, "cannot be read");
  return text;
}

// Editors end a file with a line end, which is no part of the text.
std::string without_line_end(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

struct NamedConstraint {
  std::string name;
  ConstraintText constraint;
};

Result<std::optional<NamedConstraint>> read_constraint(const ConstrainCheckOptions& options) {
  const std::pair<const std::optional<std::filesystem::path>&, Language> sources[] = {
      {options.schema, Language::kSchema},
      {options.regex, Language::kRegex},
      {options.grammar, Language::kGrammar}};
  for (const auto& [file, language] : sources) {
    if (!file) continue;
    ZH_ASSIGN_OR_RETURN(std::string text, read_file(*file));
    if (language == Language::kRegex) text = without_line_end(std::move(text));
    return std::optional(NamedConstraint{file->string(), {language, std::move(text)}});
  }
  return std::optional<NamedConstraint>();
}

// Only the tokenizer: milliseconds.
Result<std::unique_ptr<Model>> load_tokenizer(const Config& config) {
  ZH_ASSIGN_OR_RETURN(const auto file, resolve_model(config.model.name, PullPolicy::kIfMissing));
  LlamaModelOptions model_options = llama_model_options(config.model, file);
  model_options.load = LlamaLoad::kTokenizerOnly;
  return load_llama_model(model_options);
}

Result<ConstraintChecker::Vocabulary> vocabulary_of(const Model& model) {
  const Tokenizer& tokenizer = model.tokenizer();
  auto tokens = TokenTrie::of(tokenizer.table());
  if (const auto covered = tokens->covers_bytes(); !covered.ok()) return covered.error();
  Tokenize tokenize = [&tokenizer](std::string_view text) {
    return tokenizer.tokenize(text, SpecialTokens::kInert);
  };
  return ConstraintChecker::Vocabulary{std::move(tokens), std::move(tokenize)};
}

Result<CheckTally> check_texts(ConstraintChecker& checker, const ConstrainCheckOptions& options,
                               const NamedConstraint& given) {
  CheckCase wanted{given.name, given.constraint, {}};
  for (const auto& file : options.texts) {
    ZH_ASSIGN_OR_RETURN(std::string text, read_file(file));
    wanted.texts.push_back({ExpectedText::Wanted::kAccept, without_line_end(std::move(text))});
  }
  const CaseFinding finding = checker.check(wanted);
  CheckTally tally;
  tally.add(finding.verdict);
  if (options.json) {
    std::cout << case_json(wanted, finding);
    return tally;
  }
  std::cout << constraint_text(finding);
  for (std::size_t i = 0; i < finding.texts.size(); ++i) {
    std::cout << finding_text(options.texts[i].string(), wanted.texts[i].text, finding.texts[i]);
  }
  return tally;
}

Result<CheckTally> check_cases(ConstraintChecker& checker, const ConstrainCheckOptions& options,
                               const std::optional<ConstraintText>& otherwise) {
  const std::filesystem::path& file = *options.cases;
  std::ifstream opened;
  if (file != "-") opened.open(file, std::ios::binary);
  std::istream& stream = file == "-" ? std::cin : opened;
  if (!stream || std::filesystem::is_directory(file)) return unreadable(file, "cannot be read");
  CheckTally tally;
  std::string text;
  for (std::size_t number = 1; std::getline(stream, text); ++number) {
    text = without_line_end(std::move(text));
    if (text.find_first_not_of(" \t") == std::string::npos) continue;
    const CaseLine line{text, number};
    auto parsed = parse_case(line, otherwise);
    const CheckCase wanted = parsed.ok() ? std::move(parsed.value()) : CheckCase{};
    const CaseFinding finding = parsed.ok()
                                    ? checker.check(wanted)
                                    : unreadable_case(case_id(line), parsed.error().message);
    tally.add(finding.verdict);
    std::cout << (options.json ? case_json(wanted, finding) : case_text(wanted, finding));
  }
  if (stream.bad()) return unreadable(file, "cannot be read");
  if (tally.all() == 0) return unreadable(file, "holds no case");
  if (!options.json) std::cout << tally_text(tally);
  return tally;
}

Result<CheckTally> check(const Config& config, const ConstrainCheckOptions& options) {
  ConstraintChecker::Options checker_options;
  checker_options.schema = schema_options_of(config.constraints);
  checker_options.schema.assert_formats = !options.ignore_formats;
  if (options.draft) checker_options.schema.draft = *options.draft;
  if (options.any_order) checker_options.key_order = JsonMachineOptions::KeyOrder::kAny;
  ZH_ASSIGN_OR_RETURN(const std::optional<NamedConstraint> given, read_constraint(options));
  std::unique_ptr<Model> model;
  if (options.by_tokens) {
    ZH_ASSIGN_OR_RETURN(model, load_tokenizer(config));
    ZH_ASSIGN_OR_RETURN(checker_options.vocabulary, vocabulary_of(*model));
  }
  const SteadyClock clock;
  ConstraintChecker checker(std::move(checker_options), clock);
  if (!options.cases) return check_texts(checker, options, *given);
  return check_cases(checker, options,
                     given ? std::optional(given->constraint) : std::optional<ConstraintText>());
}

}  // namespace

int run_constrain_check(const Config& config, const ConstrainCheckOptions& options) {
  const Result<CheckTally> tally = check(config, options);
  std::cout << std::flush;
  if (!tally.ok()) return report_failure(tally.error());
  return std::cout && tally->right == tally->all() ? kExitOk : kExitOther;
}

}  // namespace zerohop
