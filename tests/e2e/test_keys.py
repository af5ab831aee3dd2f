"""API keys: made and revoked on the command line, asked for by a running server."""
import json
import os
import signal
import sqlite3
import stat
import subprocess
import time

from support.http import post_bytes, read_reply
from support.prometheus import parse_metrics
from support.prompts import MODEL, capital
from support.sandbox import SetupFailure
from support.waiting import PATIENCE_SECONDS, wait_until

SHORT = capital(max_tokens=4)
# The clients' own fields have no temperature.
OF_CLIENTS = {name: value for name, value in SHORT.items() if name != "temperature"}
# What the documentation promises for a change of the store.
NOTICED_SECONDS = 2


class Store:
    """A file of keys and the commands that work on it."""

    def __init__(self, context):
        self.context = context
        self.file = context.sandbox.path(".keys")
        self.made = []  # every key's text, for the search of logs

    def run(self, *words):
        return self.context.zerohop("keys", *words, "--key-store", self.file)

    def good(self, *words):
        done = self.run(*words)
        assert done.returncode == 0, done
        return done.stdout

    def create(self, *words):
        """The new key as JSON, its text in `key`."""
        key = json.loads(self.good("create", "--json", *words))
        self.made.append(key["key"])
        return key

    def start(self, *flags, **options):
        return self.context.start_server("--key-store", str(self.file), *flags, **options)


def post(server, key=None, headers=None, path="/v1/messages"):
    headers = dict(headers or {})
    if key is not None:
        headers["x-api-key"] = key
    return server.request("POST", path, SHORT, headers)


def status(server, key):
    """Of a request that costs nothing."""
    return server.request("GET", "/v1/models", headers={"x-api-key": key}).status


def within_promise(condition, what):
    """On a machine with other work, so with room."""
    begin = time.monotonic()
    wait_until(condition, what)
    seconds = time.monotonic() - begin
    assert seconds < 5 * NOTICED_SECONDS, f"{what}: noticed after {seconds:.1f} s"


def check_no_secret(store, *servers):
    for server in servers:
        log = server.log_text()
        for text in store.made:
            # The first ten characters are shown to people anyway.
            assert text[10:] not in log, "a key is in the log"


# ---- Serving ----

def test_the_official_clients_are_served_with_a_key_in_either_header(context):
    import anthropic
    import openai
    store = Store(context)
    key = store.create("--name", "laptop")
    server = store.start()
    with context.client(server, api_key=key["key"]) as client:
        message = client.messages.create(**OF_CLIENTS)
        assert message.usage.output_tokens > 0, message
    with context.client(server, api_key=None, auth_token=key["key"]) as client:
        assert client.messages.create(**OF_CLIENTS).usage.output_tokens > 0
    with openai.OpenAI(base_url=server.url + "/v1", api_key=key["key"], max_retries=0) as client:
        reply = client.chat.completions.create(
            model=MODEL, max_tokens=4, messages=[{"role": "user", "content": "Hi"}])
        assert reply.usage.completion_tokens > 0, reply
    with context.client(server, api_key="sk-zh-" + "0" * 32) as client:
        try:
            client.messages.create(**OF_CLIENTS)
            raise AssertionError("a wrong key was taken")
        except anthropic.AuthenticationError as fault:
            assert fault.body["error"]["message"].startswith("invalid"), fault.body
    with openai.OpenAI(base_url=server.url + "/v1", api_key="wrong", max_retries=0) as client:
        try:
            client.models.list()
            raise AssertionError("a wrong key was taken")
        except openai.AuthenticationError:
            pass
    log = [json.loads(line) for line in server.log_text().splitlines() if line.startswith("{")]
    served = [line for line in log if line.get("route") == "/v1/messages"]
    assert served and all(line["key"] == key["id"] and line["tenant"] == "default"
                          for line in served), served
    check_no_secret(store, server)


def test_wrong_forms_of_keys_are_refused(context):
    store = Store(context)
    key = store.create()["key"]
    server = store.start()
    bad = [
        {}, {"x-api-key": ""}, {"x-api-key": "wrong"}, {"x-api-key": key + "x"},
        {"x-api-key": key[:-1]}, {"x-api-key": "k" * 20_000}, {"x-api-key": key.lower()},
        {"authorization": key}, {"authorization": "Basic " + key},
        {"x-api-key": key, "authorization": "Bearer other"},
    ]
    for headers in bad:
        reply = post(server, headers=headers)
        # More failures than one address may have at once look like each other.
        assert reply.status in (401, 429), (headers, reply)
        kind = reply.json()["error"]["type"]
        assert kind == {401: "authentication_error", 429: "rate_limit_error"}[reply.status], reply
        assert key not in reply.body.decode(), headers
    for line in (f"x-api-key: {key}\r\nx-api-key: {key}\r\n".encode(),
                 f"x-api-key: {key[:-2]}".encode() + b"\xc3\xa4\r\n"):
        with server.connect() as socket:
            request = post_bytes("/v1/messages", SHORT)
            socket.sendall(request.replace(b"\r\n", b"\r\n" + line, 1))
            assert read_reply(socket).status in (400, 401, 429), line
    assert post(server, key).status == 200
    check_no_secret(store, server)


def test_who_fails_often_is_slowed_down_and_good_keys_go_on(context):
    store = Store(context)
    key = store.create()["key"]
    server = store.start()
    replies = [post(server, "wrong") for _ in range(12)]
    assert [reply.status for reply in replies[:10]] == [401] * 10, replies
    last = replies[-1]
    assert last.status == 429 and last.json()["error"]["type"] == "rate_limit_error", last
    assert 1 <= int(last.headers["retry-after"]) <= 6, last.headers
    assert post(server, key).status == 200
    metrics = server.request("GET", "/metrics", headers={"x-api-key": key}).body.decode()
    failures = parse_metrics(metrics).value("zerohop_auth_failures_total", reason="unknown")
    assert failures == 12, metrics


# ---- A store that changes while the server runs ----

def test_keys_are_made_and_revoked_while_the_server_runs(context):
    store = Store(context)
    server = store.start()
    assert post(server).status == 200
    assert "no keys are configured" in server.log_text()
    first = store.create()
    within_promise(lambda: status(server, "none") != 200, "the server did not close")
    assert post(server, first["key"]).status == 200
    second = store.create()
    within_promise(lambda: status(server, second["key"]) == 200, "a new key is not known")
    revoked = json.loads(store.good("revoke", "--json", first["id"]))
    assert revoked["state"] == "revoked", revoked
    within_promise(lambda: status(server, first["key"]) != 200, "a revoked key is still good")
    # By its text, as a leaked one is known.
    store.good("revoke", second["key"])
    within_promise(lambda: status(server, second["key"]) != 200, "a revoked key is still good")
    # All are revoked, and the store stays closed.
    assert post(server).status in (401, 429)
    check_no_secret(store, server)


def test_sighup_reads_the_store_and_a_damaged_one_keeps_the_old_keys(context):
    store = Store(context)
    key = store.create()["key"]
    server = store.start()
    assert status(server, key) == 200
    before = store.file.read_bytes()
    store.file.unlink()
    store.file.write_bytes(b"x" * 9000)
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "the key store cannot be read" in server.log_text(), "nothing is said")
    assert status(server, key) == 200
    store.file.unlink()
    store.file.write_bytes(before)
    store.file.chmod(0o600)
    fresh = store.create()["key"]
    within_promise(lambda: status(server, fresh) == 200, "the repaired store is not read")
    assert server.alive()


def test_a_key_expires(context):
    store = Store(context)
    store.create()
    expired = store.create("--expires-days", "1")
    with sqlite3.connect(store.file) as file:
        file.execute("UPDATE keys SET expires_ms = ? WHERE id = ?",
                     (int(time.time() * 1000) - 1, expired["id"]))
    file.close()
    server = store.start()
    reply = post(server, expired["key"])
    assert reply.status == 401 and "expired" in reply.json()["error"]["message"], reply
    listed = json.loads(store.good("list", "--json"))
    assert [key["state"] for key in listed] == ["active", "expired"], listed


# ---- Start ----

def test_a_public_address_needs_a_key(context):
    store = Store(context)
    words = ("serve", "--port", "0", "--host", "0.0.0.0", "--key-store", store.file)
    done = context.zerohop(*words)
    assert done.returncode == 2 and "public address" in done.stderr, done
    key = store.create()["key"]
    server = store.start("--host", "0.0.0.0")
    assert post(server, key).status == 200
    assert post(server).status == 401


def test_a_store_that_cannot_be_read_stops_the_start(context):
    store = Store(context)
    store.file.write_bytes(b"no database" * 1000)
    done = context.zerohop("serve", "--port", "0", "--key-store", store.file)
    assert done.returncode == 2 and str(store.file) in done.stderr, done
    done = context.zerohop("check-config", "--key-store", store.file)
    assert done.returncode == 2 and str(store.file) in done.stderr, done
    # On purpose without keys, it is not even looked at.
    server = store.start("--no-auth")
    assert post(server).status == 200


def test_a_read_only_folder_is_enough_to_serve_and_says_so_to_writers(context):
    store = Store(context)
    folder = context.sandbox.path("-read-only")
    folder.mkdir()
    store.file = folder / "keys"
    key = store.create()["key"]
    store.file.chmod(0o400)
    folder.chmod(0o500)
    try:
        done = as_plain_user(context, "keys", "create", "--key-store", store.file)
        assert done.returncode != 0 and str(store.file) in done.stderr, done
        assert key not in done.stderr and done.stdout == "", done
        listed = as_plain_user(context, "keys", "list", "--json", "--key-store", store.file)
        assert listed.returncode == 0 and len(json.loads(listed.stdout)) == 1, listed
    finally:
        folder.chmod(0o700)


def as_plain_user(context, *words):
    """The program as somebody whom permissions bind: the superuser only without his privilege."""
    command = [str(context.program), *map(str, words)]
    if os.geteuid() == 0:
        bounds = ["--bounding-set", "-dac_override,-dac_read_search"]
        command = ["setpriv", *bounds, "--inh-caps", "-dac_override,-dac_read_search", *command]
    try:
        return subprocess.run(command, text=True, env=context.sandbox.environment(),
                              capture_output=True, timeout=PATIENCE_SECONDS, check=False)
    except FileNotFoundError as fault:
        raise SetupFailure("setpriv (util-linux) is missing") from fault


# ---- Commands ----

def test_the_file_is_private_and_holds_no_key(context):
    store = Store(context)
    key = store.create()["key"]
    assert stat.S_IMODE(store.file.stat().st_mode) == 0o600
    assert key[10:].encode() not in store.file.read_bytes()
    copy = context.sandbox.path(".backup")
    store.good("backup", copy)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert store.run("backup", copy).returncode != 0
    store.file = copy
    assert len(json.loads(store.good("list", "--json"))) == 1


def test_a_key_is_the_only_word_on_standard_output(context):
    store = Store(context)
    done = store.run("create")
    assert done.returncode == 0 and len(done.stdout.split()) == 1, done
    assert done.stdout.startswith("sk-zh-") and done.stdout.strip() not in done.stderr, done
    assert done.stdout.strip() not in store.good("list")


def test_limits_and_tenants_are_kept(context):
    store = Store(context)
    tenant = json.loads(store.good("tenants", "set", "law", "--json", "--weight", "2.5",
                                   "--priority", "batch", "--models", "claude-*,small",
                                   "--tokens-per-day", "1000"))
    assert tenant == {"name": "law", "weight": 2.5, "priority": "batch", "pool": "",
                      "models": ["claude-*", "small"], "limits": {"tokens_per_day": 1000}}, tenant
    key = store.create("--tenant", "law", "--requests-per-minute", "60")
    assert key["limits"] == {"requests_per_minute": 60}, key
    changed = json.loads(store.good("limits", key["id"], "--json", "--requests-per-minute",
                                    "none", "--parallel-requests", "0"))
    assert changed["limits"] == {"parallel_requests": 0}, changed
    assert "law" in store.good("tenants") and "law" in store.good("tenants", "list")
    gone = json.loads(store.good("tenants", "delete", "law", "--json"))
    assert gone == {"deleted": "law", "keys": 1}, gone
    assert json.loads(store.good("list", "--json")) == []


def test_wrong_words_are_refused(context):
    store = Store(context)
    store.create()
    for words, expected in [
            ([], "needs a command"), (["mend"], "mend"), (["revoke"], "id of a key"),
            (["revoke", "key_no"], "key_no"), (["limits", "key_no"], "key_no"),
            (["create", "--tenant", "nobody"], "nobody"),
            (["create", "--expires-days", "x"], "--expires-days"),
            (["create", "--expires-days", "0"], "expires_at"),
            (["create", "--requests-per-minute", "-1"], "--requests-per-minute"),
            (["create", "--requests-per-minute", "9" * 30], "--requests-per-minute"),
            (["create", "--nmae", "x"], "--nmae"), (["create", "word"], "word"),
            (["tenants", "set"], "name of a tenant"), (["tenants", "set", "a b"], "tenant"),
            (["tenants", "set", "a", "--weight", "0"], "weight"),
            (["tenants", "set", "a", "--priority", "high"], "high"),
            (["tenants", "delete", "nobody"], "nobody"), (["backup"], "a file")]:
        done = store.run(*words)
        complaint = done.stderr.strip()
        assert done.returncode in (1, 2) and done.stdout == "", (words, done)
        assert complaint.count("\n") == 0 and expected in complaint, (words, complaint)
    secret = "sk-zh-" + "A" * 31 + "b"
    assert secret not in store.run("revoke", secret).stderr


def test_a_tenant_may_use_only_its_models(context):
    store = Store(context)
    store.good("tenants", "set", "law", "--models", "claude-*")
    key = store.create("--tenant", "law")["key"]
    server = store.start(config=f"model:\n  aliases: {{'claude-*': {MODEL}}}\n")
    allowed = server.request("POST", "/v1/messages", {**SHORT, "model": "claude-x"},
                             {"x-api-key": key})
    assert allowed.status == 200, allowed
    refused = post(server, key)
    assert refused.status == 403, refused
    assert refused.json()["error"]["type"] == "permission_error", refused


# ---- Crashes ----

def test_a_killed_writer_leaves_a_usable_store(context):
    store = Store(context)
    store.create()
    server = store.start()
    environment = context.sandbox.environment()
    for delay in range(12):
        # Each child dies somewhere between its start and its end.
        child = subprocess.Popen([str(context.program), "keys", "create", "--key-store",
                                  str(store.file)], env=environment, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL)
        time.sleep(0.004 * delay)
        child.kill()
        printed = child.communicate()[0].decode().strip()
        if printed:
            assert len(printed) == 38, printed
            store.made.append(printed)
    last = store.create()
    wait_until(lambda: status(server, last["key"]) == 200, "the store is not read")
    for text in store.made:
        assert status(server, text) == 200
    check_no_secret(store, server)
