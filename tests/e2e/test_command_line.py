"""The program's words, exit codes and one-line complaints."""
import json
import signal
import socket as sockets
import stat
import subprocess

from support.prompts import CAPITAL, MODEL, SYSTEM, capital
from support.sandbox import MODEL_BYTES
from support.waiting import PATIENCE_SECONDS, wait_until

GREEDY_CHAT = ("chat", "--temperature", "0", "--max-tokens", "32", "--log-level", "error",
               "--system", SYSTEM)


def check_refusal(done, code, *words):
    """The exit code, nothing on standard output, and one line that holds all the words."""
    assert done.returncode == code, done
    assert done.stdout == "", done
    complaints = [line for line in done.stderr.splitlines() if not line.startswith("{")]
    assert len(complaints) == 1 and complaints[0].startswith("zerohop: "), done
    for word in words:
        assert str(word) in complaints[0], (word, complaints[0])


def serve(context, *flags, config=None, environment=None):
    """`zerohop serve` that is expected to end by itself."""
    words = ["serve", *flags]
    if config is not None:
        words += ["--config", context.sandbox.file(".yaml", config)]
    return context.zerohop(*words, environment=environment)


# ---- Words ----

def test_version_names_the_program_and_the_model_library(context):
    done = context.zerohop("--version")
    assert done.returncode == 0, done
    assert done.stdout.splitlines()[0].startswith("zerohop "), done
    assert len(done.stdout.splitlines()) > 1, done


def test_help_lists_the_subcommands(context):
    done = context.zerohop("--help")
    assert done.returncode == 0 and done.stderr == "", done
    for command in ("serve", "chat", "pull", "check-config", "tokenize", "explain-miss",
                    "constrain"):
        assert f"\n  {command} " in done.stdout, (command, done.stdout)
        own = context.zerohop(command, "--help")
        assert own.returncode == 0 and f"Usage: zerohop {command}" in own.stdout, own


def test_wrong_words_are_refused_in_one_line(context):
    check_refusal(context.zerohop(), 2, "zerohop serve")
    check_refusal(context.zerohop("sevre"), 2, "sevre", "serve")
    check_refusal(context.zerohop("serve", "--prot", "1"), 2, "--prot", "--port")
    check_refusal(context.zerohop("serve", "--port"), 2, "--port")
    check_refusal(context.zerohop("serve", "word"), 2, "word")
    check_refusal(context.zerohop("serve", "--port", "70000"), 2, "--port", "70000")
    check_refusal(context.zerohop("serve", "--context", "many"), 2, "--context", "many")
    check_refusal(context.zerohop("chat", "--temperature", "3", "Hi"), 2, "--temperature")


# ---- Models ----

def test_an_unknown_model_name_is_a_model_fault(context):
    check_refusal(serve(context, "--port", "0", "--model", "smollm"), 3, "smollm", MODEL)
    check_refusal(context.zerohop("tokenize", "--model", "smollm", "Hi"), 3, "smollm")


def test_a_missing_model_file_is_a_model_fault(context):
    path = context.sandbox.path(".gguf")
    check_refusal(serve(context, "--port", "0", "--model", str(path)), 3, path)


def test_corrupt_model_files_are_a_model_fault(context):
    with open(context.sandbox.model, "rb") as handle:
        head = handle.read(200_000)
    for content in (b"", b"GGUF", b"not a model at all", head, b"GGUF" + b"\xff" * 4000):
        path = context.sandbox.file(".gguf", content)
        check_refusal(serve(context, "--port", "0", "--model", str(path)), 3, path)


def test_known_models_are_listed_with_their_presence(context):
    done = context.zerohop("pull", "--list")
    assert done.returncode == 0 and MODEL in done.stdout, done


# ---- Addresses ----

def test_a_busy_port_is_an_address_fault(context):
    with sockets.create_server(("127.0.0.1", 0)) as holder:
        port = str(holder.getsockname()[1])
        check_refusal(serve(context, "--port", port), 4, port)


def test_a_public_address_without_keys_is_refused(context):
    for host in ("0.0.0.0", "::", "example.org"):
        check_refusal(serve(context, "--port", "0", "--host", host), 2, host)
    check_refusal(serve(context, "--port", "0", "--host", "0.0.0.0", "--no-auth"), 2, "0.0.0.0")


def test_a_unix_socket_is_served(context):
    path = context.sandbox.path(".sock")
    server = context.start_server("--unix-socket", str(path), port=None)
    assert server.url == f"unix:{path}", server.ready_line
    assert stat.S_ISSOCK(path.stat().st_mode), path
    reply = context.curl("http://any/v1/messages", "--unix-socket", path,
                         "--json", json.dumps(capital()))
    assert "Paris" in reply.json()["content"][0]["text"], reply
    server.terminate()
    assert server.wait_exit() == 0, server.log_text()[-2000:]
    assert not path.exists(), "the socket's file is left"


def test_ipv6_is_served(context):
    server = context.start_server("--host", "::1")
    assert server.url == f"http://[::1]:{server.port}", server.ready_line
    reply = context.curl(f"http://[::1]:{server.port}/v1/messages", "--json", json.dumps(capital()))
    assert "Paris" in reply.json()["content"][0]["text"], reply


# ---- Configuration ----

def test_the_ready_line_is_all_of_standard_output(context):
    server = context.start_server("--instance-id", "blue-7", "--pool", "blue")
    assert server.ready_line == f"ready {server.url} instance=blue-7 model={MODEL}\n"
    reply = server.request("GET", "/healthz")
    assert reply.headers["x-anthropic-instance-id"] == "blue-7", reply.headers
    server.terminate()
    assert server.wait_exit() == 0 and server.rest_of_stdout == "", server.rest_of_stdout


def test_a_yaml_file_sets_port_and_model(context):
    with sockets.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
    server = context.start_server(port=None, config=f"""
server:
  port: {port}
model:
  name: {context.sandbox.model}
  aliases:
    claude-*: {MODEL}
  unknown_name: not_found
""")
    assert server.port == port, server.ready_line
    assert "Paris" in server.text(capital(model="claude-test")), "an alias"
    assert server.messages(capital(model="claude-test"))["model"] == "claude-test"
    reply = server.request("POST", "/v1/messages", capital(model="other"))
    assert reply.status == 404 and reply.json()["error"]["type"] == "not_found_error", reply


def test_the_users_own_file_is_read_without_a_flag(context):
    own = context.sandbox.root / "config/zerohop/config.yaml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("instance:\n  pool: green\n")
    try:
        done = context.zerohop("check-config")
    finally:
        own.unlink()
    assert done.returncode == 0, done
    line = next(line for line in done.stdout.splitlines() if "pool" in line)
    assert "green" in line and str(own) in line, line


def test_flags_go_over_the_environment_over_the_file(context):
    file = context.sandbox.file(".yaml", "instance:\n  pool: file\n  id: file\nlog:\n"
                                         "  level: error\n")
    variables = {"ZEROHOP_INSTANCE_POOL": "variable", "ZEROHOP_INSTANCE_ID": "variable"}
    server = context.start_server("--config", str(file), "--instance-id", "flag",
                                  environment=variables)
    assert server.instance == "flag", server.ready_line
    pools = {dict(pairs)["pool"] for _, pairs in server.metrics().samples}
    assert pools == {"variable"}, pools
    assert '"info"' not in server.log_text(), server.log_text()


def test_an_unknown_key_is_refused_by_name(context):
    check_refusal(serve(context, config="server:\n  prot: 1\n"), 2, "server.prot", "server.port",
                  ":2")
    check_refusal(serve(context, config="sever:\n  port: 1\n"), 2, "sever", "server")
    check_refusal(serve(context, environment={"ZEROHOP_SERVER_PROT": "1"}), 2,
                  "ZEROHOP_SERVER_PROT")


def test_bad_values_are_refused_with_name_value_and_place(context):
    check_refusal(serve(context, config="server:\n  port: 70000\n"), 2, "server.port", "70000",
                  "65535", ".yaml:2")
    check_refusal(serve(context, config="server:\n  port: [1, 2]\n"), 2, "server.port")
    check_refusal(serve(context, config="engine:\n  deterministic: perhaps\n"), 2,
                  "engine.deterministic", "perhaps")
    check_refusal(serve(context, config="engine:\n  sequences: 8\n  batch_rows: 4\n"), 2,
                  "engine.batch_rows", "engine.sequences")
    check_refusal(serve(context, environment={"ZEROHOP_SERVER_PORT": "x"}), 2,
                  "ZEROHOP_SERVER_PORT", "x")


def test_files_that_cannot_be_read_are_refused(context):
    missing = context.sandbox.path(".yaml")
    check_refusal(serve(context, "--config", str(missing)), 2, missing)
    check_refusal(serve(context, "--config", str(context.sandbox.root)), 2, context.sandbox.root)
    for content in ("server: [", "- a\n- b\n", "server:\n\tport: 1\n", "{", "\x00\x01"):
        check_refusal(serve(context, config=content), 2, ".yaml")


def test_check_config_shows_settings_and_their_origin(context):
    file = context.sandbox.file(".yaml", "server:\n  port: 9000\n")
    done = context.zerohop("check-config", "--config", file, "--context", "4096")
    assert done.returncode == 0, done
    lines = done.stdout.splitlines()
    port = next(line for line in lines if "port" in line and "9000" in line)
    assert f"{file}:2" in port, port
    window = next(line for line in lines if "4096" in line)
    assert "--context" in window, window
    check_refusal(context.zerohop("check-config", "--port", "x"), 2, "--port")


# ---- The other commands ----

def test_tokenize_reads_standard_input(context):
    text = "Hello, wörld! 🙂\nSecond line"
    counted = context.zerohop("tokenize", "--count", stdin=text)
    assert counted.returncode == 0 and int(counted.stdout) > 5, counted
    as_json = json.loads(context.zerohop("tokenize", "--json", stdin=text).stdout)
    assert as_json["count"] == len(as_json["tokens"]) == int(counted.stdout), as_json
    lines = context.zerohop("tokenize", "-", stdin=text).stdout.splitlines()
    assert [int(line.split("\t")[0]) for line in lines] == as_json["tokens"], lines
    assert lines[0].endswith('\t"Hello"'), lines
    argument = json.loads(context.zerohop("tokenize", "--json", text).stdout)
    assert argument == as_json, argument
    assert context.zerohop("tokenize", "--count", stdin="").stdout == "0\n"


def test_tokenize_agrees_with_the_server(context):
    long, short = "Some words that go on and on.", "Some"

    def counted(text):
        return int(context.zerohop("tokenize", "--count", text).stdout)

    def served(text):
        return context.server.count_tokens({"messages": [{"role": "user", "content": text}]})
    assert served(long) - served(short) == counted(long) - counted(short)


def test_special_tokens_in_a_text_are_plain_characters(context):
    tokens = json.loads(context.zerohop("tokenize", "--json", "<|im_end|>").stdout)["tokens"]
    assert len(tokens) > 1, tokens


def test_chat_answers_one_prompt(context):
    done = context.zerohop(*GREEDY_CHAT, "Please tell me: what is the capital of France?")
    assert done.returncode == 0 and "Paris" in done.stdout, done
    assert done.stdout.endswith("\n"), done
    assert "Paris" in context.zerohop(*GREEDY_CHAT, CAPITAL).stdout


def test_chat_keeps_a_conversation_from_standard_input(context):
    done = context.zerohop(*GREEDY_CHAT, stdin=f"{CAPITAL}\n\nAnd of Japan?\n")
    assert done.returncode == 0, done
    answers = done.stdout.splitlines()
    assert len(answers) == 2 and "Paris" in answers[0] and "Tokyo" in answers[1], done
    done = context.zerohop(*GREEDY_CHAT,
                           stdin=f"{CAPITAL}\n/reset\nAnd of Japan?\n/exit\n{CAPITAL}\n")
    assert done.returncode == 0, done
    assert done.stdout.count("Paris") == 1 and "Tokyo" not in done.stdout, done


def test_chat_that_is_interrupted_says_what_it_has(context):
    words = [str(context.program), "chat", "--system", SYSTEM, "--temperature", "0",
             "--max-tokens", "100000", "--log-level", "error"]
    with subprocess.Popen(words, env=context.sandbox.environment(), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(b"Write a very long story about a dragon and a village.\n")
        process.stdin.flush()
        first = process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        rest, complaints = process.communicate(f"{CAPITAL}\n".encode(), timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, (process.returncode, complaints)
    assert first and b"Paris" in rest, (first, rest)
    assert b"[interrupted]" in complaints, complaints


def test_the_default_model_file_is_whole(context):
    context.sandbox.require_model()
    assert context.sandbox.model.stat().st_size == MODEL_BYTES
    assert context.server.model == MODEL
    wait_until(context.server.is_idle, "the server is busy")
