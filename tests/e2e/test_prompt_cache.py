"""The prompt cache on the real model: what is found, and why not."""
import json

from support.prompts import MODEL

RULES = ("You are the help desk of a small library. Answer in one sentence, name the shelf, and "
         "never promise a book that is lent out. " * 8)
QUESTION = "Where do I find books about the sea, and how long may I keep one?"
VOLATILE = 'prompt:\n  volatile: ["Current time: *"]\n'


def request(time, **fields):
    return {"model": MODEL, "max_tokens": 4, "temperature": 0,
            "system": f"Current time: {time}\n{RULES}",
            "messages": [{"role": "user", "content": QUESTION}], **fields}


def found_share(message):
    usage = message["usage"]
    return usage["cache_read_input_tokens"] / (
        usage["cache_read_input_tokens"] + usage["input_tokens"])


def test_a_time_stamp_in_the_system_prompt_is_named(context):
    server = context.start_server()
    server.messages(request("12:03:11"))
    second = server.messages(request("12:04:59", diagnostics={"previous_message_id": "msg_1"}))
    reason = second["diagnostics"]["cache_miss_reason"]
    assert reason["type"] == "system_changed", second
    assert reason["cache_missed_input_tokens"] > 100, second
    miss = server.request("GET", "/v1/cache/misses").json()["data"][0]
    assert miss["cause"] == "system_changed" and miss["section"] == "system", miss
    assert 0 < miss["position"] < 30, miss
    told = context.zerohop("explain-miss", "--url", server.url)
    assert told.returncode == 0, told
    assert f"at token {miss['position']}" in told.stdout and "prompt.volatile" in told.stdout, told


def test_a_time_stamp_that_is_moved_spoils_nothing(context):
    server = context.start_server(config=VOLATILE)
    server.messages(request("12:03:11"))
    second = server.messages(request("12:04:59", diagnostics={"previous_message_id": "msg_1"}))
    assert found_share(second) > 0.9, second
    assert second["diagnostics"]["cache_miss_reason"] is None, second


def test_a_warm_prefix_is_found_by_the_first_request_of_two_starts(context):
    system = RULES.strip()
    folder = json.dumps(str(context.sandbox.path("-warm")))
    config = f"cache:\n  warm_prefixes: [{json.dumps(system)}]\n  warm_folder: {folder}\n"
    body = {"model": MODEL, "max_tokens": 1, "system": system,
            "messages": [{"role": "user", "content": "Hi"}]}
    for _ in range(2):
        server = context.start_server(config=config)
        assert found_share(server.messages(body)) > 0.9
        server.kill()


def test_two_requests_are_compared_without_a_server(context):
    files = [context.sandbox.file(".json", json.dumps(request(time)))
             for time in ("12:03:11", "12:04:59")]
    done = context.zerohop("explain-miss", *map(str, files))
    assert done.returncode == 0, done
    assert "the first difference lies in the system prompt" in done.stdout, done
    done = context.zerohop("explain-miss", str(files[0]))
    assert done.returncode == 2 and "needs two files" in done.stderr, done
