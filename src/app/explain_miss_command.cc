// `zerohop explain-miss`.
#include <fstream>
#include <iostream>
#include <iterator>

#include "app/ask_server.h"
#include "app/commands.h"
#include "app/exit_code.h"
#include "app/explain_miss.h"
#include "app/model_options.h"
#include "app/model_store.h"
#include "prompt/prompt_habits.h"

namespace zerohop {
namespace {

// As the server would render it, its habits applied.
Result<Conversation> read_request(const std::filesystem::path& file, const PromptHabits& habits) {
  std::ifstream stream(file, std::ios::binary);
  const std::string body{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) return invalid_request("", file.string() + ": cannot be read");
  Result<Conversation> conversation = conversation_of(body);
  if (conversation.ok()) {
    apply_prompt_habits(habits, *conversation);
    return conversation;
  }
  Error error = conversation.error();
  error.message = file.string() + ": " + error.message;
  return error;
}

Result<std::string> compare_files(const Config& config, const ExplainMissOptions& options) {
  const PromptHabits& habits = config.prompt.habits;
  ZH_ASSIGN_OR_RETURN(const Conversation first, read_request(options.files[0], habits));
  ZH_ASSIGN_OR_RETURN(const Conversation second, read_request(options.files[1], habits));
  ZH_ASSIGN_OR_RETURN(const auto file, resolve_model(config.model.name, PullPolicy::kIfMissing));
  LlamaModelOptions model_options = llama_model_options(config.model, file);
  model_options.load = LlamaLoad::kTokenizerOnly;
  ZH_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, load_llama_model(model_options));
  const PromptStage prompts(*model, default_system_of(config.model));
  const std::string first_name = options.files[0].filename().string();
  const std::string second_name = options.files[1].filename().string();
  return compare_prompts({first_name, second_name, first, second}, prompts, model->tokenizer());
}

Result<std::string> explain(const Config& config, const ExplainMissOptions& options) {
  if (!options.files.empty()) return compare_files(config, options);
  ZH_ASSIGN_OR_RETURN(const std::string body, ask_server(options.server, "/v1/cache/misses"));
  return misses_text(body);
}

}  // namespace

int run_explain_miss(const Config& config, const ExplainMissOptions& options) {
  const Result<std::string> text = explain(config, options);
  if (!text.ok()) return report_failure(text.error());
  std::cout << *text << std::flush;
  return std::cout ? kExitOk : kExitOther;
}

}  // namespace zerohop
