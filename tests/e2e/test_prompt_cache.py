"""The prompt cache on the real model: what is found, and why not."""
import json

from support.parallel import in_parallel
from support.prompts import ENDLESS, MODEL, body, endless, fresh, long_text
from support.stream import OpenStream
from support.waiting import wait_until

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


def computed_tokens(server):
    """Of all prompts, also of warm prefixes."""
    return server.metrics().value("zerohop_tokens_charged_total")


def restored_tokens(server):
    return server.metrics().value("zerohop_cache_tokens_total", event="restored")


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


def test_a_warm_prefix_is_computed_once_and_restored_after_a_restart(context):
    system = RULES.strip()
    folder = context.sandbox.path("-warm")
    config = (f"cache:\n  warm_prefixes: [{json.dumps(system)}]\n"
              f"  warm_folder: {json.dumps(str(folder))}\n")
    body = {"model": MODEL, "max_tokens": 1, "system": system,
            "messages": [{"role": "user", "content": "Hi"}]}
    first = context.start_server(config=config)
    assert found_share(first.messages(body)) > 0.9
    computed, restored = computed_tokens(first), restored_tokens(first)
    assert computed > 200 and restored == 0, (computed, restored)
    wait_until(lambda: list(folder.glob("*.state")), "no state was saved")
    first.kill()

    second = context.start_server(config=config)
    wait_until(lambda: restored_tokens(second) > 0, "nothing was restored")
    message = second.messages(body)
    assert found_share(message) > 0.9, message
    assert restored_tokens(second) > 200, second.metrics()
    # The last token of the prefix, and the turn.
    assert computed_tokens(second) <= message["usage"]["input_tokens"] + 1, message


def test_with_marked_only_what_is_marked_is_kept(context):
    server = context.start_server(config="cache:\n  keep: marked\n")
    plain = body(fresh(RULES))
    for _ in range(2):
        assert server.messages(plain)["usage"]["cache_read_input_tokens"] == 0
    marked = [{"type": "text", "text": fresh(RULES), "cache_control": {"type": "ephemeral"}}]
    rest = fresh(long_text(100))
    created = server.messages(body(rest, system=marked))["usage"]
    assert created["cache_creation_input_tokens"] > 200, created
    found = server.messages(body(rest, system=marked))["usage"]
    # To the mark and no further, though the whole prompt is the same.
    assert found["cache_read_input_tokens"] == created["cache_creation_input_tokens"], found
    assert found["input_tokens"] > 50, found


def test_equal_cold_prompts_that_come_together_are_computed_once(context):
    server = context.start_server("--sequences", "6")
    number = 6
    same = body(fresh(long_text(900)), max_tokens=1)
    prompt = server.count_tokens(same)
    usages = [message["usage"] for message in in_parallel(server.messages, [same] * number)]
    assert server.metrics().value("zerohop_prompt_tokens_total") == number * prompt
    # Each computes the end of its prompt for itself, less than one tile of rows.
    computed = computed_tokens(server)
    assert prompt <= computed < prompt + (number - 1) * 64, (prompt, computed)
    assert sum(usage["input_tokens"] for usage in usages) == computed, usages


def test_a_soft_cap_ends_a_long_answer_with_a_sentence(context):
    server = context.server
    cut = server.messages(endless(160))
    assert cut["stop_reason"] == "max_tokens", cut
    capped = server.messages(endless(160, soft_cap={"at": 0.25}))
    assert capped["stop_reason"] == "stop_sequence", capped
    assert capped["stop_sequence"] in (".", "!", "?"), capped
    text = capped["content"][0]["text"]
    assert text.endswith(capped["stop_sequence"]), capped
    assert 40 <= capped["usage"]["output_tokens"] < 160, capped


SCARCE_TRIES = 5


def decoding(server):
    return server.health()["decoding"]


def soft_answer_beside(server, long_one):
    """(the announced limit, the reading) of a short answer that began and ended while the long one
    ran; None when the long one was over too early for that, which says nothing."""
    with OpenStream(server, long_one) as stream:
        stream.read_until("content_block_delta")
        wait_until(lambda: server.health()["rung"] == "soft_max_tokens" or decoding(server) == 0,
                   server.health)
        with OpenStream(server, endless(20, soft_max_tokens=True)) as soft:
            reading = soft.finish()
            ran_beside = decoding(server) == 1
            limit = soft.headers.get("anthropic-effective-max-tokens")
        # It was there first and is not shortened.
        assert stream.finish().usage["output_tokens"] == long_one["max_tokens"]
    return (limit, reading) if ran_beside else None


def test_scarce_cells_shorten_answers_that_allow_it(context):
    # The long prompt and what it is promised take 0.93 of the cells; a short one has room beside.
    # Cells come in blocks of 256, so the prompt is made to fit them.
    def long_one():
        return body(fresh(long_text(words)), max_tokens=60, soft_max_tokens=True, **ENDLESS)

    cells, words, prompt = 1280, 900, 0
    while prompt < 0.925 * cells - 32:
        words += 10
        prompt = context.server.count_tokens(long_one())
    server = context.start_server("--sequences", "2", "--context", str(prompt + 64),
                                  config=f"engine:\n  kv_cells: {cells}\n")
    tries = (soft_answer_beside(server, long_one()) for _ in range(SCARCE_TRIES))
    soft = next((found for found in tries if found is not None), None)
    assert soft is not None, "the long answer was over before the short one in every try"
    limit, reading = soft
    assert limit == str(reading.usage["output_tokens"]), (limit, reading.usage)
    assert 15 <= reading.usage["output_tokens"] < 20, reading.usage
    assert reading.stop_reason == "max_tokens", reading.stop_reason
    assert server.metrics().value("zerohop_soft_max_tokens_total") >= 1


def test_two_requests_are_compared_without_a_server(context):
    files = [context.sandbox.file(".json", json.dumps(request(time)))
             for time in ("12:03:11", "12:04:59")]
    done = context.zerohop("explain-miss", *map(str, files))
    assert done.returncode == 0, done
    assert "the first difference lies in the system prompt" in done.stdout, done
    done = context.zerohop("explain-miss", str(files[0]))
    assert done.returncode == 2 and "needs two files" in done.stderr, done
