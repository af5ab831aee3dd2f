#include "app/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <system_error>

#include "app/command_help.h"
#include "app/command_line_keys.h"
#include "app/command_line_parts.h"
#include "app/paths.h"
#include "app/suggest.h"

namespace zerohop {

std::string command_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  const std::string outer = parent == nullptr ? std::string() : command_name(*parent);
  return outer.empty() ? app.get_name() : outer + " " + app.get_name();
}

namespace {

// A flag of the configuration as one subcommand binds it. CLI11 keeps references: never moved.
struct BoundFlag {
  const ConfigKey* key = nullptr;
  std::string text;
  const CLI::Option* option = nullptr;
};

// What CLI11 fills in, as text: it takes the words apart, and we judge them.
struct Words {
  std::string config_file;
  std::deque<BoundFlag> flags;
  std::string chat_prompt, chat_system, chat_max_tokens, chat_temperature, chat_seed;
  std::string pull_name;
  std::vector<std::string> pull_from;
  std::string explain_url;
  std::vector<std::string> explain_files;
  std::string tokenize_text;
  std::string check_schema, check_regex, check_grammar, check_cases;
  std::string check_order, check_formats, check_draft;
  std::vector<std::string> check_texts;
  const CLI::Option* tokenize_text_given = nullptr;
  bool pull_list = false, json = false, count = false;
  UsageOptions usage;
  ServerPlace server;
  std::string explain_request;
  bool top_once = false;
};

void bind_config(CLI::App& app, Words& words, bool (*wanted)(const ConfigKey&)) {
  app.add_option("--config", words.config_file)->take_last();
  for (const ConfigKey& key : config_table()) {
    if (key.flag.empty() || !wanted(key)) continue;
    BoundFlag& bound = words.flags.emplace_back(BoundFlag{&key, {}, nullptr});
    const std::string name(key.flag);
    bound.option = key.flag_value.empty() ? app.add_flag(name, bound.text)
                                          : app.add_option(name, bound.text)->take_last();
  }
}

bool any_key(const ConfigKey&) { return true; }
bool engine_key(const ConfigKey& key) {
  return key.section() == "model" || key.section() == "engine" || key.section() == "log";
}
bool model_key(const ConfigKey& key) { return key.path == "model.name"; }
bool store_key(const ConfigKey& key) { return key.path == "auth.store"; }
bool usage_key(const ConfigKey& key) { return key.path == "limits.usage_folder"; }

struct Parser {
  Words words;
  bool help = false;
  bool version = false;
  CLI::App root;
  CLI::App* serve = command("serve");
  CLI::App* chat = command("chat");
  CLI::App* pull = command("pull");
  CLI::App* check = command("check-config");
  CLI::App* tokenize = command("tokenize");
  CLI::App* explain = command("explain-miss");
  CLI::App* constrain = command("constrain");
  CLI::App* constrain_check = constrain->add_subcommand("check");
  CLI::App* usage = command("usage");
  CLI::App* explain_request = command("explain");
  CLI::App* top = command("top");
  CLI::App* doctor = command("doctor");
  CLI::App* keys = command("keys");
  KeysCommandLine keys_line{*keys};

  Parser() {
    prepare(root);
    root.add_flag("-V,--version", version);
    root.require_subcommand(0, 1);
    for (CLI::App* app : {serve, chat, pull, check, tokenize, explain, constrain, constrain_check,
                          usage, keys, explain_request, top, doctor}) {
      prepare(*app);
    }
    bind_config(*keys, words, store_key);
    for (CLI::App* app : keys_line.commands()) {
      prepare(*app);
      bind_config(*app, words, store_key);
    }
    bind_config(*serve, words, any_key);
    bind_config(*check, words, any_key);
    bind_config(*chat, words, engine_key);
    bind_config(*tokenize, words, model_key);
    bind_config(*explain, words, model_key);
    bind_config(*constrain_check, words, model_key);
    bind_config(*usage, words, usage_key);
    bind_usage();
    bind_constrain_check();
    bind_questions();
    explain->add_option("--url", words.explain_url)->take_last();
    explain->add_option("files", words.explain_files)->expected(0, 64);
    chat->add_option("prompt", words.chat_prompt);
    chat->add_option("--system", words.chat_system)->take_last();
    chat->add_option("--max-tokens", words.chat_max_tokens)->take_last();
    chat->add_option("--temperature", words.chat_temperature)->take_last();
    chat->add_option("--seed", words.chat_seed)->take_last();
    pull->add_option("name", words.pull_name);
    pull->add_option("--from", words.pull_from)->expected(1, 64);
    pull->add_flag("--list", words.pull_list);
    words.tokenize_text_given = tokenize->add_option("text", words.tokenize_text);
    tokenize->add_flag("--json", words.json);
    tokenize->add_flag("--count", words.count);
  }

 private:
  void bind_usage() {
    usage->add_option("--by", words.usage.by)->take_last();
    usage->add_option("--key", words.usage.key)->take_last();
    usage->add_option("--tenant", words.usage.tenant)->take_last();
    usage->add_option("--from", words.usage.from)->take_last();
    usage->add_option("--until", words.usage.until)->take_last();
    usage->add_flag("--json", words.usage.json);
  }

  void bind_constrain_check() {
    CLI::App& app = *constrain_check;
    app.add_option("--schema", words.check_schema)->take_last();
    app.add_option("--regex", words.check_regex)->take_last();
    app.add_option("--grammar", words.check_grammar)->take_last();
    app.add_option("--text", words.check_texts)->expected(1, 10'000);
    app.add_option("--cases", words.check_cases)->take_last();
    app.add_option("--order", words.check_order)->take_last();
    app.add_option("--formats", words.check_formats)->take_last();
    app.add_option("--draft", words.check_draft)->take_last();
    app.add_flag("--json", words.json);
  }

  // The commands that ask a running server.
  void bind_questions() {
    for (CLI::App* app : {explain_request, top, doctor}) {
      app->add_option("--url", words.server.url)->take_last();
      app->add_option("--token-file", words.server.token_file)->take_last();
    }
    explain->add_option("--token-file", words.server.token_file)->take_last();
    explain_request->add_option("id", words.explain_request);
    explain_request->add_flag("--json", words.json);
    top->add_flag("--once", words.top_once);
    doctor->add_flag("--json", words.json);
    bind_config(*doctor, words, any_key);
  }

  CLI::App* command(const char* name) { return root.add_subcommand(name); }

  // Our own help and our own words for what is unknown.
  void prepare(CLI::App& app) {
    app.set_help_flag();
    app.add_flag("-h,--help", help);
    app.allow_extras();
    app.fallthrough(false);
  }
};

// The flags that `app` knows, for "did you mean".
std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

Error unknown_word(const CLI::App& app, const std::string& word, bool is_root) {
  const bool flag = word.starts_with("-") && word != "-";
  std::vector<std::string> known = flags_of(app);
  if (!flag) known.assign(kCommandNames.begin(), kCommandNames.end());
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::string bare = word.substr(0, flag ? word.find('=') : word.npos);
  if (!flag && !is_root) {
    return usage_error(command_name(app) + ": unexpected argument '" + word + "'");
  }
  const std::string where = is_root ? "" : command_name(app) + ": ";
  return usage_error(where + (flag ? "unknown flag '" : "unknown command '") + bare + "'" +
                     did_you_mean(bare, views));
}

template <class Number>
Result<std::optional<Number>> optional_number(const std::string& flag, const std::string& text) {
  if (text.empty()) return std::optional<Number>();
  ZH_ASSIGN_OR_RETURN(const Number number, flag_number<Number>(flag, text));
  return std::optional<Number>(number);
}

Result<ChatOptions> chat_options(const Words& words) {
  ChatOptions options;
  options.prompt = words.chat_prompt;
  options.system = words.chat_system;
  ZH_ASSIGN_OR_RETURN(options.max_tokens,
                      optional_number<std::uint32_t>("--max-tokens", words.chat_max_tokens));
  ZH_ASSIGN_OR_RETURN(options.temperature,
                      optional_number<double>("--temperature", words.chat_temperature));
  ZH_ASSIGN_OR_RETURN(options.seed, optional_number<std::uint64_t>("--seed", words.chat_seed));
  if (options.temperature && !(*options.temperature >= 0 && *options.temperature <= 2)) {
    return usage_error("--temperature: " + words.chat_temperature + " is out of range (0 to 2)");
  }
  if (options.max_tokens && *options.max_tokens == 0) {
    return usage_error("--max-tokens: 0 is out of range (1 or more)");
  }
  return options;
}

Result<ExplainMissOptions> explain_miss_options(const Words& words) {
  ExplainMissOptions options;
  options.server = words.server;
  if (!words.explain_url.empty()) options.server.url = words.explain_url;
  options.files.assign(words.explain_files.begin(), words.explain_files.end());
  if (!options.files.empty() && options.files.size() != 2) {
    return usage_error("explain-miss: needs two files, or none");
  }
  if (!options.files.empty() && !words.explain_url.empty()) {
    return usage_error("explain-miss: needs two files or --url, not both");
  }
  return options;
}

std::optional<std::filesystem::path> optional_file(const std::string& name) {
  return name.empty() ? std::nullopt : std::optional<std::filesystem::path>(name);
}

// `word` is nothing, the default, or the other one.
Result<bool> is_other(const std::string& flag, const std::string& word,
                      const std::pair<std::string, std::string>& choices) {
  if (word.empty() || word == choices.first) return false;
  if (word == choices.second) return true;
  return usage_error(flag + ": '" + word + "' is neither " + choices.first + " nor " +
                     choices.second);
}

Result<std::optional<SchemaDraft>> draft_of(const std::string& name) {
  constexpr std::pair<std::string_view, SchemaDraft> kDrafts[] = {{"4", SchemaDraft::k4},
                                                                  {"6", SchemaDraft::k6},
                                                                  {"7", SchemaDraft::k7},
                                                                  {"2019-09", SchemaDraft::k2019},
                                                                  {"2020-12", SchemaDraft::k2020}};
  if (name.empty()) return std::optional<SchemaDraft>();
  for (const auto& [known, draft] : kDrafts) {
    if (name == known) return std::optional(draft);
  }
  return usage_error("--draft: '" + name + "' is none of 4, 6, 7, 2019-09, 2020-12");
}

Result<ConstrainCheckOptions> constrain_check_options(const Parser& parser) {
  const Words& words = parser.words;
  ConstrainCheckOptions options;
  options.schema = optional_file(words.check_schema);
  options.regex = optional_file(words.check_regex);
  options.grammar = optional_file(words.check_grammar);
  options.texts.assign(words.check_texts.begin(), words.check_texts.end());
  options.cases = optional_file(words.check_cases);
  ZH_ASSIGN_OR_RETURN(options.any_order,
                      is_other("--order", words.check_order, {"declared", "any"}));
  ZH_ASSIGN_OR_RETURN(options.ignore_formats,
                      is_other("--formats", words.check_formats, {"assert", "ignore"}));
  ZH_ASSIGN_OR_RETURN(options.draft, draft_of(words.check_draft));
  options.json = words.json;
  if (!*parser.constrain_check) return options;
  options.by_tokens = parser.constrain_check->count("--model") > 0;
  const int given = (options.schema ? 1 : 0) + (options.regex ? 1 : 0) + (options.grammar ? 1 : 0);
  const std::string name = "constrain check: ";
  if (given > 1) return usage_error(name + "only one of --schema, --regex and --grammar");
  if (given == 0 && !options.cases) {
    return usage_error(name + "needs --schema FILE or --cases FILE");
  }
  if (options.cases && !options.texts.empty()) {
    return usage_error(name + "--text and --cases are two ways to give texts; use one");
  }
  return options;
}

Command command_of(const Parser& parser) {
  if (*parser.serve) return Command::kServe;
  if (*parser.chat) return Command::kChat;
  if (*parser.pull) return Command::kPull;
  if (*parser.check) return Command::kCheckConfig;
  if (*parser.explain) return Command::kExplainMiss;
  if (*parser.constrain) return Command::kConstrainCheck;
  if (*parser.keys) return Command::kKeys;
  if (*parser.usage) return Command::kUsage;
  if (*parser.explain_request) return Command::kExplain;
  if (*parser.top) return Command::kTop;
  if (*parser.doctor) return Command::kDoctor;
  return *parser.tokenize ? Command::kTokenize : Command::kHelp;
}

// From the program to the innermost command that was typed: root, keys, tenants, set.
std::vector<const CLI::App*> chosen_commands(const CLI::App& root) {
  std::vector<const CLI::App*> chosen{&root};
  while (true) {
    const auto inner = chosen.back()->get_subcommands();
    if (inner.empty()) return chosen;
    chosen.push_back(inner.front());
  }
}

Result<CommandLine> interpret(Parser& parser) {
  CommandLine line;
  const std::vector<const CLI::App*> chosen = chosen_commands(parser.root);
  const CLI::App& app = *chosen.back();
  if (parser.help) {
    line.help_text = command_help(command_of(parser));
    return line;
  }
  // Words in front of the subcommand stay with the root.
  if (const auto extra = parser.root.remaining(false); !extra.empty()) {
    return unknown_word(parser.root, extra.front(), true);
  }
  for (const CLI::App* each : chosen) {
    const auto extra = each->remaining(false);
    if (!extra.empty()) return unknown_word(*each, extra.front(), false);
  }
  if (parser.version) {
    line.command = Command::kVersion;
    return line;
  }
  line.command = command_of(parser);
  if (line.command == Command::kHelp) {
    return usage_error(
        "no command given; `zerohop serve` starts the server, `zerohop --help` lists "
        "the commands");
  }
  if (&app == parser.constrain) {
    return usage_error("constrain: needs a command: `zerohop constrain check`");
  }
  const Words& words = parser.words;
  if (!words.config_file.empty()) line.config_file = words.config_file;
  for (const BoundFlag& flag : words.flags) {
    if (flag.option->count() > 0) line.flags.push_back({flag.key, flag.text});
  }
  ZH_ASSIGN_OR_RETURN(line.chat, chat_options(words));
  line.pull.name = words.pull_name;
  line.pull.from.assign(words.pull_from.begin(), words.pull_from.end());
  line.pull.list = words.pull_list;
  if (words.tokenize_text_given->count() > 0) line.tokenize.text = words.tokenize_text;
  ZH_ASSIGN_OR_RETURN(line.explain_miss, explain_miss_options(words));
  ZH_ASSIGN_OR_RETURN(line.constrain_check, constrain_check_options(parser));
  if (line.command == Command::kKeys) {
    ZH_ASSIGN_OR_RETURN(line.keys, parser.keys_line.options());
  }
  line.usage = words.usage;
  line.explain = {words.server, words.explain_request, words.json};
  line.top = {words.server, words.top_once};
  line.doctor = {words.server, words.json};
  line.tokenize.json = words.json;
  line.tokenize.count = words.count;
  return line;
}

// "--port: 1 required TEXT missing" and its like, in our words.
Error parse_fault(const CLI::ParseError& fault) {
  const std::string text = fault.what();
  const std::size_t colon = text.find(": ");
  if (text.starts_with("--") && colon != text.npos) {
    return usage_error(text.substr(0, colon) + " needs a value");
  }
  return usage_error(text);
}

}  // namespace

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  try {
    Parser parser;
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 wants it
    parser.root.parse(std::move(reversed));
    return interpret(parser);
  } catch (const CLI::ParseError& fault) {
    return parse_fault(fault);
  }
}

Result<std::optional<std::filesystem::path>> users_config_file(const Environment& environment) {
  ZH_ASSIGN_OR_RETURN(const UserFolders folders, user_folders(environment));
  std::optional<std::filesystem::path> file = folders.config_file();
  std::error_code fault;
  if (!std::filesystem::exists(*file, fault)) file.reset();
  return file;
}

Result<LoadedConfig> load_config_for(const CommandLine& line, const Environment& environment,
                                     std::uint64_t seed) {
  ConfigSources sources{line.config_file, environment, line.flags, seed};
  if (!sources.file) {
    ZH_ASSIGN_OR_RETURN(sources.file, users_config_file(environment));
  }
  return load_config(sources);
}

}  // namespace zerohop
