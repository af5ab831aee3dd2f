"""The console and the commands that ask a running server: top, explain, doctor."""
import json

from support.prompts import MODEL, capital


def ask(server, max_tokens=16):
    return server.request("POST", "/v1/messages", capital(max_tokens=max_tokens))


def request_id(reply):
    return reply.headers["request-id"]


def test_explain_says_why_a_request_was_cut_and_what_the_cache_gave(context):
    server = context.server
    reply = ask(server, max_tokens=1)
    assert reply.status == 200, reply
    done = context.zerohop("explain", request_id(reply), "--url", server.url)
    assert done.returncode == 0, done
    assert "cut      the answer reached its max_tokens (1)" in done.stdout, done.stdout
    assert "prompt tokens were found in the cache" in done.stdout, done.stdout
    listed = context.zerohop("explain", "--url", server.url)
    assert request_id(reply) in listed.stdout, listed


def test_explain_says_why_a_request_was_refused(context):
    server = context.server
    reply = server.request("POST", "/v1/messages", {"model": MODEL, "messages": []})
    assert reply.status == 400, reply
    done = context.zerohop("explain", request_id(reply), "--url", server.url, "--json")
    assert done.returncode == 0, done
    explained = json.loads(done.stdout)
    assert explained["error"] == "invalid_request", explained
    assert explained["findings"][0]["about"] == "refused", explained


def test_explain_knows_no_stranger(context):
    done = context.zerohop("explain", "req_nobody", "--url", context.server.url)
    assert done.returncode != 0 and "no request 'req_nobody'" in done.stderr, done


def test_top_shows_the_server(context):
    server = context.server
    ask(server)
    done = context.zerohop("top", "--once", "--url", server.url)
    assert done.returncode == 0, done
    for word in ("tokens/s", "cells [", "hits  [", "answered"):
        assert word in done.stdout, done.stdout


def test_doctor_looks_at_machine_configuration_and_server(context):
    done = context.zerohop("doctor", "--url", context.server.url, "--json")
    found = {entry["about"]: entry for entry in json.loads(done.stdout)["data"]}
    for about in ("config", "machine", "speed", "memory", "files", "server", "pressure"):
        assert about in found, (about, done.stdout)
    assert "GFLOP/s" in found["speed"]["text"], found
    wrong = context.sandbox.file(".yaml", "server:\n  prot: 1\n")
    done = context.zerohop("doctor", "--config", wrong, "--url", "http://127.0.0.1:1")
    assert done.returncode == 1, done
    assert "wrong  config" in done.stdout and "prot" in done.stdout, done.stdout


def test_the_page_of_the_console_comes_with_its_policy(context):
    reply = context.server.request("GET", "/console")
    assert reply.status == 200 and reply.body.startswith(b"<!doctype html>"), reply
    assert "default-src 'none'" in reply.headers["content-security-policy"], reply.headers
    data = json.loads(context.server.request("GET", "/console/data").body)
    assert data["health"] in ("ok", "degraded"), data
