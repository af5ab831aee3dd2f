// The constraints measured by themselves. ./dev bench constrain runs all steps, and other engines
// beside them; by hand:
//
//   zh_masks_bench vocabulary --model FILE.gguf --out FILE    token bytes of a model
//   zh_masks_bench walks --corpus FILE --out FILE             texts that the schemas allow
//   zh_masks_bench measure --corpus FILE --vocabulary FILE --out FILE [--only NAME]
//
// What the files hold is said in corpus.h and vocabulary_file.h; results are one JSON object a
// line, of which the last one is about the whole run.
#include <unistd.h>

#include <boost/json/serialize.hpp>
#include <boost/json/value_from.hpp>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include "constrain/json_machine.h"
#include "constrain/schema_compiler.h"
#include "corpus.h"
#include "cpu_clock.h"
#include "measure.h"
#include "process_use.h"
#include "program_words.h"
#include "vocabulary_file.h"
#include "walks.h"

namespace zerohop::bench {
namespace {

namespace json = boost::json;

int fail(const std::string& message) {
  std::fprintf(stderr, "zh_masks_bench: %s\n", message.c_str());
  return 2;
}

ProcessUse own_use() { return process_use(getpid()); }

std::int64_t kib(double mib) { return std::llround(mib * 1024); }

int write_model_vocabulary(const ProgramWords& words) {
  const Result<Vocabulary> vocabulary = vocabulary_of_model(words.text("model", ""));
  if (!vocabulary) return fail(vocabulary.error().message);
  const std::string out = words.text("out", "");
  return write_vocabulary(*vocabulary, out) ? 0 : fail("cannot write " + out);
}

// Each case with its shortest text and three random ones.
int write_walks(const ProgramWords& words) {
  const auto cases = read_corpus(words.text("corpus", ""));
  if (!cases) return fail(cases.error().message);
  std::ofstream out(words.text("out", ""));
  for (const CorpusCase& subject : *cases) {
    json::array texts;
    const CompiledSchema compiled = compile_schema(subject.schema);
    if (const auto* form = std::get_if<std::shared_ptr<const SchemaForm>>(&compiled)) {
      const auto machine =
          make_json_machine(*form, {.white_space = JsonMachineOptions::WhiteSpace::kSpaced});
      texts.emplace_back(machine->shortest_end(machine->start()));
      for (const int bytes : {40, 120, 400}) {
        texts.emplace_back(random_walk(*machine, static_cast<std::uint64_t>(bytes),
                                       static_cast<std::size_t>(bytes)));
      }
    }
    out << json::serialize(
               json::object{{"set", subject.set}, {"name", subject.name}, {"texts", texts}})
        << '\n';
  }
  return out ? 0 : fail("cannot write the walks");
}

// For people: whole and half characters alike become one sign.
std::string printable(std::string text) {
  for (char& byte : text) {
    if (static_cast<unsigned char>(byte) >= 0x80) byte = '?';
  }
  return text;
}

json::object object_of(const CorpusCase& subject, const CaseResult& result) {
  return {{"set", subject.set},
          {"name", subject.name},
          {"outcome", result.refusal.empty() ? "ok" : "refused"},
          {"reason", result.refusal},
          {"compile_ns", result.compile_ns},
          {"first_mask_ns", result.first_mask_ns},
          {"masks_ns", json::value_from(result.masks_ns)},
          {"built_ns", json::value_from(result.built_ns)},
          {"checks_ns", json::value_from(result.checks_ns)},
          {"checks_cpu_ns", result.checks_cpu_ns},
          {"right", result.right},
          {"wrongly_accepted", result.wrongly_accepted},
          {"wrongly_rejected", result.wrongly_rejected},
          {"disagreements", result.disagreements},
          {"machine_bytes", result.machine_bytes},
          {"slowest", printable(result.slowest)}};
}

int measure_all(const ProgramWords& words) {
  Result<Vocabulary> vocabulary = read_vocabulary(words.text("vocabulary", ""));
  if (!vocabulary) return fail(vocabulary.error().message);
  const auto cases = read_corpus(words.text("corpus", ""));
  if (!cases) return fail(cases.error().message);
  const std::string only = words.text("only", "");
  const double memory_before = own_use().resident_mib;
  const std::int64_t begin = cpu_now_ns();
  const auto tokens = std::make_shared<const TokenTrie>(std::move(vocabulary->bytes),
                                                        vocabulary->end_tokens, vocabulary->width);
  const std::int64_t trie_ns = cpu_now_ns() - begin;
  ConstraintMeter meter(tokens);
  const std::int64_t prepare_ns = cpu_now_ns() - begin;
  const double memory_prepared = own_use().resident_mib;
  std::ofstream out(words.text("out", ""));
  for (const CorpusCase& subject : *cases) {
    if (!only.empty() && subject.name.find(only) == std::string::npos) continue;
    out << json::serialize(object_of(subject, meter.measure(subject))) << '\n' << std::flush;
  }
  out << json::serialize(
             json::object{{"engine", "zerohop"},
                          {"trie_ns", trie_ns},
                          {"prepare_ns", prepare_ns},
                          {"trie_bytes", tokens->trie().memory_bytes()},
                          {"mask_bytes", meter.mask_bytes()},
                          {"prepared_kib", kib(memory_prepared - memory_before)},
                          {"peak_kib", kib(own_use().resident_peak_mib - memory_before)},
                          {"check_clock_ns", meter.check_clock_ns()},
                          {"total_ns", cpu_now_ns() - begin}})
      << '\n';
  return out ? 0 : fail("cannot write the results");
}

int run(const ProgramWords& words) {
  if (words.wants("vocabulary")) return write_model_vocabulary(words);
  return words.wants("walks") ? write_walks(words) : measure_all(words);
}

}  // namespace
}  // namespace zerohop::bench

int main(int argc, char** argv) {
  return zerohop::bench::run(zerohop::bench::ProgramWords(argc, argv));
}
