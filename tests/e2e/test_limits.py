"""Limits of keys and tenants: exact budgets, honest refusals, and the ledger."""
import csv
import io
import json
import re

from support.admin import AdminServer
from support.budgets import left, spent
from support.parallel import in_parallel
from support.prompts import MODEL, capital, endless
from support.stream import OpenStream
from support.waiting import wait_until

REQUESTS = 1_000
BUDGET = 3_000


def limits(**entries):
    """YAML text: the limits of everybody, where no keys are asked for."""
    lines = "".join(f"    {name}: {value}\n" for name, value in entries.items())
    return f"limits:\n  key_defaults:\n{lines}"


def ask(server, body):
    return server.request("POST", "/v1/messages", body)


def test_a_thousand_requests_at_once_are_served_no_more_than_the_budget(context):
    # On a busy machine a thousand of them are a wait that a server with the usual bound refuses.
    patient = "scheduler:\n  max_wait_seconds: 600\n"
    server = context.start_server(config=limits(tokens_per_day=BUDGET) + patient)
    replies = in_parallel(lambda _: ask(server, capital(max_tokens=4)), range(REQUESTS))
    good = [reply for reply in replies if reply.status == 200]
    refused = [reply for reply in replies if reply.status == 429]
    assert len(good) + len(refused) == REQUESTS, {reply.status for reply in replies}
    served = sum(spent(reply.json()["usage"]) for reply in good)
    assert served <= BUDGET, f"{served} tokens of {BUDGET}"
    assert good and refused, (len(good), len(refused))
    for reply in refused:
        message = reply.json()["error"]["message"]
        assert re.search(rf"tokens_per_day of tenant default: \d+ asked, \d+ of {BUDGET} left; "
                         r"try again in \d+ s", message), message
    # What the refused ones had reserved is there again, to the last token.
    server.wait_idle()
    assert left(server) == BUDGET - served


def test_refusals_say_when_to_come_back_in_both_dialects(context):
    server = context.start_server(config=limits(requests_per_minute=1))
    first = ask(server, capital(max_tokens=2))
    assert first.status == 200 and first.headers["anthropic-ratelimit-requests-limit"] == "1"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",
                        first.headers["anthropic-ratelimit-requests-reset"]), first.headers
    refused = ask(server, capital(max_tokens=2))
    assert refused.status == 429, refused
    assert refused.json()["error"]["type"] == "rate_limit_error", refused
    seconds, ms = (int(refused.headers[name]) for name in ("retry-after", "retry-after-ms"))
    assert 1 <= seconds <= 60 and seconds == -(-ms // 1000), refused.headers
    assert refused.headers["x-should-retry"] == "true"
    assert "try again in" in refused.json()["error"]["message"]
    chat = server.request("POST", "/v1/chat/completions", {
        "model": MODEL, "max_tokens": 2, "messages": [{"role": "user", "content": "Hi"}]})
    assert chat.status == 429 and chat.json()["error"]["code"] == "rate_limit_exceeded", chat
    assert chat.headers["x-ratelimit-limit-requests"] == "1", chat.headers
    assert chat.headers["x-ratelimit-remaining-requests"] == "0", chat.headers


def test_a_stream_is_cut_on_the_exact_token(context):
    server = context.start_server(config=limits(tokens_per_day=120, lower_output_cap=1))
    with OpenStream(server, endless(400)) as stream:
        reading = stream.finish()
    usage = reading.usage
    assert spent(usage) == 120, usage
    assert reading.stop_reason == "max_tokens", reading
    assert stream.headers["anthropic-limit-applied"] == "tenant tokens_per_day", stream.headers
    assert int(stream.headers["anthropic-limit-output-tokens"]) == usage["output_tokens"]
    refused = ask(server, capital(max_tokens=4))
    assert refused.status == 429 and refused.headers["x-should-retry"] == "false", refused


def usage_rows(context, folder, *words):
    done = context.zerohop("usage", "--usage-folder", folder, *words)
    assert done.returncode == 0, done
    return list(csv.DictReader(io.StringIO(done.stdout)))


def test_the_ledger_is_the_sum_of_all_replies(context):
    folder = context.sandbox.path("-usage")
    server = context.start_server("--usage-folder", str(folder), config=(
        "instance:\n  labels:\n    corpus_version: '20240601'\n"
        "limits:\n  prices:\n    '*': 'input=1000000 output=2000000'\n"))
    total = {"uncached_input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0}
    for tokens in range(1, 6):
        usage = server.messages(capital(max_tokens=tokens))["usage"]
        total["uncached_input_tokens"] += usage["input_tokens"]
        total["cached_input_tokens"] += usage["cache_read_input_tokens"]
        total["output_tokens"] += usage["output_tokens"]
    wait_until(lambda: sum(int(row["requests"]) for row in usage_rows(context, folder)) == 5,
               "the ledger has not five requests")
    rows = usage_rows(context, folder, "--by", "label:corpus_version,model,tenant")
    assert len(rows) == 1 and rows[0]["corpus_version"] == "20240601", rows
    assert rows[0]["tenant"] == "default" and rows[0]["model"] == MODEL, rows
    assert {name: int(rows[0][name]) for name in total} == total, (rows, total)
    cost = total["uncached_input_tokens"] + 2 * total["output_tokens"]
    assert int(rows[0]["money_micros"]) == cost, (rows, cost)
    done = context.zerohop("usage", "--usage-folder", folder, "--json", "--by", "")
    assert json.loads(done.stdout)["usage"][0]["requests"] == 5, done
    done = context.zerohop("usage", "--usage-folder", folder, "--from", "yesterday")
    assert done.returncode == 2 and "--from" in done.stderr, done


def test_a_crash_gives_nobody_back_what_was_spent(context):
    folder = context.sandbox.path("-usage")
    config = limits(tokens_per_day=100_000)

    def start():
        return context.start_server("--usage-folder", str(folder), config=config)

    server = start()
    used = spent(server.messages(capital(max_tokens=8))["usage"])
    assert left(server) == 100_000 - used
    # A row in the ledger is written together with the budget.
    wait_until(lambda: usage_rows(context, folder), "nothing was written")
    server.kill()
    server = start()
    lease = 100
    assert 100_000 - used - lease <= left(server) <= 100_000 - used, left(server)
    server.terminate()
    assert server.wait_exit() == 0
    server = start()
    assert 100_000 - used - lease <= left(server) <= 100_000 - used, left(server)


def test_a_rate_in_requests_becomes_tokens_and_caps_name_limit_and_key(context):
    admin = AdminServer(context, "--key-store", str(context.sandbox.path(".keys")),
                        config="limits:\n  rate_limit: 10000/minute\n")
    key = admin.good("POST", "/admin/keys", {"limits": {"max_input_tokens": 60,
                                                        "max_output_tokens": 8}})
    reply = admin.messages(key["key"], capital(max_tokens=4))
    assert reply.status == 200, reply
    # The documented example: 210 tokens a request.
    assert reply.headers["anthropic-ratelimit-tokens-limit"] == "2100000", reply.headers
    refused = admin.messages(key["key"], capital(max_tokens=9))
    assert refused.status == 400, refused
    assert f"max_output_tokens of key {key['id']}: 9 asked, at most 8 allowed" in \
        refused.json()["error"]["message"], refused
    refused = admin.messages(key["key"], capital(max_tokens=4, system="Long. " * 40))
    assert refused.status == 400 and refused.headers["x-should-retry"] == "false", refused
    assert re.search(rf"max_input_tokens of key {key['id']}: \d+ asked, at most 60 allowed",
                     refused.json()["error"]["message"]), refused


def test_little_left_lowers_the_answer_only_for_who_asks_for_it(context):
    admin = AdminServer(context, "--key-store", str(context.sandbox.path(".keys")))
    limits = {"output_tokens_per_minute": 20}
    strict = admin.good("POST", "/admin/keys", {"limits": limits})
    lowered = admin.good("POST", "/admin/keys", {"limits": {**limits, "lower_output_cap": 1}})
    refused = admin.messages(strict["key"], endless(50))
    assert refused.status == 400 and refused.json()["error"]["message"].endswith(
        f"output_tokens_per_minute of key {strict['id']}: 50 asked, at most 20 allowed"), refused
    cut = admin.messages(lowered["key"], endless(50))
    assert cut.status == 200 and cut.json()["usage"]["output_tokens"] == 20, cut
    assert cut.headers["anthropic-limit-applied"] == "key output_tokens_per_minute", cut.headers
    # A limit that is raised holds for the next request.
    admin.good("POST", f"/admin/keys/{strict['id']}", {"limits": {"output_tokens_per_minute": 60}})
    assert admin.messages(strict["key"], endless(50)).status == 200


def test_the_admin_api_tells_the_usage_that_the_replies_showed(context):
    folder = context.sandbox.path("-usage")
    admin = AdminServer(context, "--key-store", str(context.sandbox.path(".keys")),
                        "--usage-folder", str(folder),
                        config="instance:\n  labels:\n    corpus_version: '20240601'\n")
    shown = {}
    for name in ("one", "two"):
        key = admin.good("POST", "/admin/keys", {"name": name})
        total = shown.setdefault(key["id"], [0, 0, 0])
        for tokens in range(1, 4):
            usage = admin.messages(key["key"], capital(max_tokens=tokens)).json()["usage"]
            for place, field in enumerate(("input_tokens", "cache_read_input_tokens",
                                           "output_tokens")):
                total[place] += usage[field]
    rows = admin.good("GET", "/admin/usage?by=key,model,day,label:corpus_version")["usage"]
    assert {row["key"]: [row["uncached_input_tokens"], row["cached_input_tokens"],
                         row["output_tokens"]] for row in rows} == shown, (rows, shown)
    assert all(row["labels"] == {"corpus_version": "20240601"} and row["model"] == MODEL
               and row["requests"] == 3 for row in rows), rows
    reply = admin.ask("GET", "/admin/usage?by=key", headers={"accept": "text/csv"})
    assert reply.headers["content-type"].startswith("text/csv"), reply.headers
    table = list(csv.DictReader(io.StringIO(reply.body.decode())))
    assert {row["key"] for row in table} == set(shown), table
    # The command reads the same.
    done = context.zerohop("usage", "--usage-folder", folder, "--by", "key")
    assert list(csv.DictReader(io.StringIO(done.stdout))) == table, done
    refused = admin.ask("GET", "/admin/usage?from=yesterday")
    assert refused.status == 400 and "2026-01-31" in refused.json()["error"]["message"], refused


def test_a_tenant_that_is_erased_leaves_no_usage_and_is_inherited_by_nobody(context):
    admin = AdminServer(context, "--key-store", str(context.sandbox.path(".keys")),
                        "--usage-folder", str(context.sandbox.path("-usage")))

    def make():
        admin.good("POST", "/admin/tenants", {"name": "law", "limits": {"tokens_per_month": 100}})
        return admin.good("POST", "/admin/keys", {"tenant": "law"})["key"]

    def usage():
        return admin.good("GET", "/admin/usage?by=tenant&tenant=law")["usage"]

    key = make()
    while admin.messages(key, capital(max_tokens=4)).status == 200:
        pass
    assert usage()[0]["output_tokens"] > 0
    admin.good("DELETE", "/admin/tenants/law")
    assert admin.messages(key, capital(max_tokens=4)).status == 401
    wait_until(lambda: not usage(), lambda: f"still there: {usage()}")
    assert admin.messages(make(), capital(max_tokens=4)).status == 200
    assert usage()[0]["requests"] == 1
