"""What must never be told: keys, prompts and answers in logs, metrics and files; and keys of every
wrong kind, each from a client of its own, because failures of one address are counted."""
import base64
import http.client
import itertools
import json
import os
import random
import resource
import signal
import sqlite3
import statistics
import sys
import time

from support.http import exchange, post_bytes, read_reply
from support.prompts import MODEL, capital, user
from support.server import core_limits
from support.stream import OpenStream
from support.waiting import PATIENCE_SECONDS

SHORT = capital(max_tokens=4)
_clients = itertools.count(2)


def make_key(context, store, *words):
    done = context.zerohop("keys", "create", "--json", "--key-store", store, *words)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def fresh_address():
    """A loopback address that no request of this run has come from."""
    number = next(_clients)
    return f"127.0.{number // 250}.{2 + number % 250}"


def from_elsewhere(server, headers, method="POST", path="/v1/messages", body=SHORT):
    """One request from an address of its own."""
    connection = http.client.HTTPConnection(server.host, server.port, timeout=PATIENCE_SECONDS,
                                            source_address=(fresh_address(), 0))
    try:
        return exchange(connection, method, path, body, headers)
    finally:
        connection.close()


# ---- Keys ----

def test_keys_of_every_wrong_kind_are_refused_alike_and_never_repeated(context):
    store = context.sandbox.path(".keys")
    good = make_key(context, store)["key"]
    revoked = make_key(context, store)
    done = context.zerohop("keys", "revoke", "--key-store", store, revoked["id"])
    assert done.returncode == 0, done
    expired = make_key(context, store, "--expires-days", "1")
    with sqlite3.connect(store) as file:
        file.execute("UPDATE keys SET expires_ms = ? WHERE id = ?",
                     (int(time.time() * 1000) - 1, expired["id"]))
    file.close()
    server = context.start_server("--key-store", str(store))
    other = good[:-1] + ("A" if good[-1] != "A" else "B")
    for key, reason in [
            (other, "invalid x-api-key"), (good[:-1], "invalid"), (good + "A", "invalid"),
            (good.upper(), "invalid"), (good[::-1], "invalid"), ("k" * 513, "no key at all"),
            ("k" * 10_000, "no key at all"), ("key with spaces", "no key at all"),
            (revoked["key"], "revoked"), (expired["key"], "expired")]:
        check_refused(from_elsewhere(server, {"x-api-key": key}), key, reason)
    check_refused(from_elsewhere(server, {}), good, "no API key")
    check_refused(from_elsewhere(server, {"authorization": f"Basic {good}"}), good, "Bearer KEY")
    check_refused(from_elsewhere(server, {"x-api-key": good, "authorization": f"Bearer {other}"}),
                  good, "two different")
    for line, status in [(f"x-api-key: {good}\r\nx-api-key: {good}\r\n".encode(), {401}),
                         (f"x-api-key: {good[:-2]}".encode() + b"\xc3\xa4\r\n", {400, 401}),
                         (b"x-api-key: " + b"k" * 200_000 + b"\r\n", {400, 401, 431})]:
        with server.connect() as socket:
            socket.sendall(post_bytes("/v1/messages", SHORT).replace(b"\r\n", b"\r\n" + line, 1))
            reply = read_reply(socket)
        assert reply.status in status, (line[:60], reply)
        assert good[10:].encode() not in reply.body, reply
    # In the query a key is none, and a good one in its header still works from everywhere.
    reply = from_elsewhere(server, {}, path=f"/v1/messages?api_key={good}")
    check_refused(reply, good, "no API key")
    assert from_elsewhere(server, {"x-api-key": good}).status == 200
    assert from_elsewhere(server, {"authorization": f"bearer {good}"}).status == 200
    log = server.log_text()
    for key in (good, other, revoked["key"], expired["key"]):
        assert key[10:] not in log, "a key is in the log"


def check_refused(reply, key, reason):
    assert reply.status == 401, (reason, reply)
    error = reply.json()["error"]
    assert error["type"] == "authentication_error" and reason in error["message"], (reason, error)
    assert reply.headers["www-authenticate"] == "Bearer", reply.headers
    assert reply.headers["x-should-retry"] == "false", reply.headers
    assert key[10:] not in reply.body.decode() + str(reply.headers), reason


# Of each of the three kinds of wrong key.
TIMED_REQUESTS = 600
ROUNDS_OF_CHANCE = 200


def test_the_time_of_a_refusal_does_not_tell_where_a_key_is_wrong(context):
    """Requests with keys that are wrong in the first and in the last of their random characters
    come in random order; the difference of their medians must be within what chance makes of one
    kind, several times over."""
    store = context.sandbox.path(".keys")
    good = make_key(context, store)["key"]
    server = context.start_server("--key-store", str(store))
    mark = len("sk-zh-")

    def changed(place):
        return good[:place] + ("A" if good[place] != "A" else "B") + good[place + 1:]

    kinds = {"first": changed(mark), "last": changed(len(good) - 1)}
    chance = random.Random(11)
    order = [name for name in kinds for _ in range(TIMED_REQUESTS)]
    chance.shuffle(order)
    times = {name: [] for name in kinds}
    connection = http.client.HTTPConnection(server.host, server.port, timeout=PATIENCE_SECONDS)
    for name in ["first", "last"] * 20 + order:
        begin = time.perf_counter()
        reply = exchange(connection, "GET", "/v1/models", None, {"x-api-key": kinds[name]})
        times[name].append(time.perf_counter() - begin)
        assert reply.status in (401, 429), reply
    connection.close()
    times = {name: values[20:] for name, values in times.items()}
    difference = abs(statistics.median(times["first"]) - statistics.median(times["last"]))
    noise = noise_of_medians(times["first"] + times["last"], chance)
    typical = statistics.median(times["first"])
    print(f"typical {typical * 1e6:.0f} us, difference {difference * 1e6:.1f} us, "
          f"noise {noise * 1e6:.1f} us", file=sys.stderr)
    assert difference <= 8 * noise + 0.05 * typical, (typical, difference, noise)


def noise_of_medians(values, chance):
    """Standard deviation of the difference of the medians of two halves, cut by chance."""
    differences = []
    for _ in range(ROUNDS_OF_CHANCE):
        chance.shuffle(values)
        half = len(values) // 2
        differences.append(statistics.median(values[:half]) - statistics.median(values[half:]))
    return statistics.pstdev(differences)


# ---- Nothing is told ----

# Words that nobody else writes, one for each place in which a client can put text. Names of models
# and of programs (user-agent) are logged, so they have none.
SECRETS = {name: f"{name}-zanzibarquux" for name in (
    "prompt", "system", "assistant", "metadata", "tool", "description", "schema", "stop", "header",
    "idempotency", "field", "broken", "path", "query", "image", "document", "embedding", "legacy",
    "pin")}


def planted_requests():
    """(method, path, body, headers) that carry every secret."""
    word = SECRETS
    tool = {"name": word["tool"], "description": word["description"],
            "input_schema": {"type": "object", "properties": {word["schema"]: {"type": "string"}}}}
    full = capital(max_tokens=24, system=word["system"], stop_sequences=[word["stop"]],
                   metadata={"user_id": word["metadata"]}, tools=[tool])
    full["messages"] = [user(word["prompt"]), {"role": "assistant", "content": word["assistant"]},
                        user("What is the capital of France?")]
    headers = {"x-anthropic-request-id": word["idempotency"] + " {}", "x-custom": word["header"],
               "anthropic-version": word["header"], "x-anthropic-cache-key": word["header"]}
    yield "POST", "/v1/messages", full, headers
    yield "POST", "/v1/messages/count_tokens", {name: full[name] for name in (
        "model", "messages", "system", "tools")}, headers
    yield "POST", "/v1/messages", {**SHORT, word["field"]: word["field"]}, {}
    yield "POST", "/v1/messages", {**SHORT, "temperature": word["field"]}, {}
    yield "POST", "/v1/messages", '{"messages": "' + word["broken"], {}
    yield "POST", "/v1/messages", {**SHORT, "messages": [user([{
        "type": "image", "source": {"type": "url", "url": "http://" + word["image"]}}])]}, {}
    yield "POST", "/v1/messages", {**SHORT, "messages": [user([{
        "type": "document", "source": {"type": "base64", "media_type": "application/pdf",
                                       "data": base64.b64encode(
                                           word["document"].encode()).decode()}}])]}, {}
    yield "GET", "/v1/" + word["path"], None, {}
    yield "GET", "/v1/models/" + word["path"], None, {}
    yield "GET", "/v1/models?before_id=" + word["query"], None, {}
    yield "POST", "/v1/embeddings", {"model": MODEL, "input": word["embedding"]}, {}
    yield "POST", "/v1/completions", {"model": MODEL, "prompt": word["legacy"], "max_tokens": 2}, {}
    yield "POST", "/v1/messages", SHORT, {"x-anthropic-instance-id": word["pin"]}
    yield "POST", "/v1/messages", SHORT, {"anthropic-deadline-ms": word["header"]}


def test_no_key_prompt_or_answer_is_in_logs_metrics_or_files(context):
    store = context.sandbox.path(".keys")
    key = make_key(context, store)["key"]
    state = context.sandbox.path("-private-state")
    server = context.start_server(
        "--key-store", str(store), "--log-level", "debug", "--usage-folder", str(state / "usage"),
        environment={"XDG_STATE_HOME": str(state), "ZEROHOP_BATCHES_FOLDER": ""})
    answers, seen = [], ""
    for method, path, body, headers in planted_requests():
        reply = server.request(method, path, body, {**headers, "x-api-key": key})
        if reply.status == 200 and path == "/v1/messages":
            answers += [block.get("text", "") for block in reply.json()["content"]]
    with OpenStream(server, capital(), {"x-api-key": key}) as stream:
        answers.append(stream.finish().text)
    wrong = key[:12] + "zanzibarquuxzanzibarquuxzz"
    for bad in (wrong, "zanzibarquux"):
        assert from_elsewhere(server, {"x-api-key": bad}).status == 401
    assert any(len(answer) > 20 for answer in answers), answers
    for path in ("/metrics", "/healthz", "/v1/system_info", "/v1/instances", "/v1/cache/misses"):
        reply = server.request("GET", path, headers={"x-api-key": key})
        assert reply.status == 200, (path, reply)
        seen += reply.body.decode()
    check_no_core(server)
    server.terminate()
    assert server.wait_exit() == 0, server.log_text()[-1000:]
    seen += server.rest_of_stdout + server.ready_line + server.log_text()
    assert '"level":"debug"' in seen, "the most talkative level says nothing"
    forbidden = [key[10:], wrong[12:], *SECRETS.values(), "zanzibarquux",
                 *(answer[:40] for answer in answers if len(answer) > 20)]
    found = {word: line[:400] for line in seen.splitlines() for word in forbidden if word in line}
    assert not found, found
    check_files([state, store], forbidden)


def check_files(places, forbidden):
    """No file below `places` holds one of the words, as text, in base64 or in hex digits."""
    patterns = {}
    for word in forbidden:
        data = word.encode()
        patterns[word] = (data, data.hex().encode(), base64.b64encode(data)[:-4])
    files = [path for place in places
             for path in ([place, *place.parent.glob(place.name + "-*")] if place.is_file()
                          else place.rglob("*")) if path.is_file()]
    assert len(files) >= 2, files
    for path in files:
        content = path.read_bytes()
        for word, forms in patterns.items():
            assert not any(form in content for form in forms), f"{word} is in {path}"


def check_no_core(server):
    """A crash of the process would write no core file."""
    limits = core_limits(server.process.pid)
    assert limits == ["0", "0"], limits


def test_a_crash_writes_no_core_file_whatever_the_shell_allows(context):
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    try:
        server = context.start_server()
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))
    check_no_core(server)
    before = set(os.listdir("."))
    server.process.send_signal(signal.SIGSEGV)
    server.process.wait()
    assert not {name for name in set(os.listdir(".")) - before if name.startswith("core")}
