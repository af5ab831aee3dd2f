// The subcommands of the program. Each runs on the main thread, prints its result on standard
// output and its one line of failure on standard error, and returns the exit code (exit_code.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/ask_server.h"
#include "app/config_load.h"
#include "app/keys_options.h"
#include "app/usage_report.h"
#include "constrain/schema_compiler.h"

namespace zerohop {

/// `zerohop serve`: loads the model, listens, prints the ready line, returns after an orderly
/// drain. `read_again` reads the configuration anew from where it came (Server::follow_config).
int run_serve(const Config& config, std::function<Result<LoadedConfig>()> read_again);

struct ChatOptions {
  std::string prompt;  ///< one question, answered and done; empty: a conversation
  std::string system;
  std::optional<std::uint32_t> max_tokens;
  std::optional<double> temperature;
  std::optional<std::uint64_t> seed;
};

/// `zerohop chat`: the same engine without a socket, in a terminal.
int run_chat(const Config& config, const ChatOptions& options);

struct PullOptions {
  std::string name;                         ///< empty: the default model
  std::vector<std::filesystem::path> from;  ///< files brought by hand instead of a download
  bool list = false;                        ///< print the known models, get nothing
};

/// `zerohop pull`: brings a known model into the user's models folder; prints its path.
int run_pull(const PullOptions& options);

/// `zerohop check-config`: prints the effective configuration, or what is wrong with it.
int run_check_config(const Result<LoadedConfig>& loaded);

struct TokenizeOptions {
  std::optional<std::string> text;  ///< nothing or "-": standard input
  bool json = false;                ///< {"tokens":[…],"count":n}
  bool count = false;               ///< only the number
};

/// `zerohop tokenize`: the model's tokens of a text, one a line with its bytes.
int run_tokenize(const Config& config, const TokenizeOptions& options);

struct ExplainMissOptions {
  ServerPlace server;
  std::vector<std::filesystem::path> files;  ///< two request bodies, or none: the server is asked
};

/// `zerohop explain-miss`: why prompts were not found in the cache, as a running server recorded
/// it; or where two requests part.
int run_explain_miss(const Config& config, const ExplainMissOptions& options);

struct ExplainOptions {
  ServerPlace server;
  std::string request_id;  ///< empty: the last requests are listed
  bool json = false;       ///< as the server says it
};

/// `zerohop explain`: why a request was slow, refused, cut or not in the cache.
int run_explain(const ExplainOptions& options);

struct TopOptions {
  ServerPlace server;
  bool once = false;  ///< one look, without a terminal
};

/// `zerohop top`: what a server does, live in the terminal, until it is interrupted.
int run_top(const TopOptions& options);

struct DoctorOptions {
  ServerPlace server;
  bool json = false;
};

/// `zerohop doctor`: looks at this machine, the configuration and the server, if one runs, and says
/// what could be better. Exit code 1: something is wrong.
int run_doctor(const Result<LoadedConfig>& loaded, const DoctorOptions& options);

struct ConstrainCheckOptions {
  // At most one of these; at least one, or cases.
  std::optional<std::filesystem::path> schema;
  std::optional<std::filesystem::path> regex;
  std::optional<std::filesystem::path> grammar;
  std::vector<std::filesystem::path> texts;  ///< to be accepted; none beside cases
  std::optional<std::filesystem::path> cases;
  bool any_order = false;            ///< keys in any order; false: as declared
  bool ignore_formats = false;       ///< "format" is an annotation
  std::optional<SchemaDraft> draft;  ///< of schemas without $schema
  bool by_tokens = false;            ///< a model is named, so its vocabulary counts
  bool json = false;                 ///< one line for each case
};

/// `zerohop constrain check`: what is refused of a schema, what it costs, which texts it accepts.
/// Exit code 1: not everything was as expected.
int run_constrain_check(const Config& config, const ConstrainCheckOptions& options);

/// `zerohop usage`: prints sums of the ledger that the configuration names.
int run_usage(const Config& config, const UsageOptions& options);

/// `zerohop keys …`: works on the key store that the configuration names.
int run_keys(const Config& config, const KeysOptions& options);

/// `zerohop --version`: this program's version and the model library's.
int run_version();

}  // namespace zerohop
