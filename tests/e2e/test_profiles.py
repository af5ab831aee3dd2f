"""Profiles bound at load: system prompt and tools are in the cache before the first request."""
import json
import statistics
import time

from support.prompts import GREEDY, MODEL, fresh, user
from support.stream import OpenStream
from support.waiting import wait_until

SYSTEM = ("You are the desk of a small lending library. Use a tool for whatever a reader asks, and "
          "ask back where a detail is missing.")
TEXT = {"type": "string"}
NUMBER = {"type": "integer", "minimum": 0}
# name, what it does, parameters, those that are required
TOOLS = [
    ("find_book", "Looks for books by words of their title, by author, or by subject.",
     {"title": TEXT, "author": TEXT, "subject": TEXT, "limit": NUMBER}, ["title"]),
    ("reserve_book", "Reserves a copy of a book for a reader, to be taken away on a given day.",
     {"book_id": TEXT, "reader_id": TEXT, "day": {"type": "string", "format": "date"}},
     ["book_id", "reader_id"]),
    ("extend_loan", "Extends the loan of a book by some days, unless somebody else waits for it.",
     {"loan_id": TEXT, "days": {**NUMBER, "maximum": 28}}, ["loan_id", "days"]),
    ("report_loss", "Notes that a reader has lost a book, and what is to be paid for it.",
     {"loan_id": TEXT, "price_cents": NUMBER, "remark": TEXT}, ["loan_id"]),
    ("opening_hours", "Tells when a branch is open on a day of the week.",
     {"branch": {"type": "string", "enum": ["harbour", "market", "hill"]},
      "weekday": {"type": "string", "enum": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]}},
     ["branch"]),
    ("book_room", "Books a reading room for a group.",
     {"room": TEXT, "people": {**NUMBER, "maximum": 12}, "from": TEXT, "until": TEXT,
      "needs": {"type": "array", "items": {"type": "string", "enum": ["screen", "piano", "tea"]}}},
     ["room", "people", "from"]),
    ("send_reminder", "Sends a reader a reminder of what is due, by letter or by message.",
     {"reader_id": TEXT, "by": {"type": "string", "enum": ["letter", "message"]},
      "polite": {"type": "boolean"}}, ["reader_id"]),
    ("suggest_purchase", "Suggests that the library buys a book which it does not have.",
     {"title": TEXT, "author": TEXT, "isbn": {"type": "string", "maxLength": 17}, "reason": TEXT},
     ["title"]),
]
ROUNDS = 3


def tools(suffix=""):
    """With a suffix, tools whose prompt and rules nothing has seen before."""
    return [{"name": name + suffix, "description": does,
             "input_schema": {"type": "object", "properties": properties, "required": required,
                              "additionalProperties": False}}
            for name, does, properties, required in TOOLS]


def request(system, offered):
    return {"model": MODEL, "max_tokens": 24, "system": system, "tools": offered,
            "tool_choice": {"type": "any"}, **GREEDY,
            "messages": [user(fresh("May I keep the book on the sea for ten more days?"))]}


def seconds_to_tool(server, body):
    """From sending to the first piece of a tool's input; and what of the prompt was cached."""
    begin = time.monotonic()
    with OpenStream(server, body) as stream:
        while stream.read_until("content_block_delta").data["delta"]["type"] != "input_json_delta":
            pass
        seconds = time.monotonic() - begin
        usage = stream.finish().usage
    return seconds, usage["cache_read_input_tokens"] / (
        usage["cache_read_input_tokens"] + usage["input_tokens"])


def test_a_tool_set_bound_at_load_is_not_computed_again(context):
    profile = {"system": SYSTEM, "tools": tools(), "tool_choice": {"type": "any"}, **GREEDY}
    config = f"prompt:\n  profiles:\n    desk: {json.dumps(profile)}\n"
    server = context.start_server(config=config)
    wait_until(lambda: server.health()["kv_cells"]["pinned"] > 300, server.health)
    server.wait_idle()
    warm, cold = [], []
    for number in range(ROUNDS):
        seconds, found = seconds_to_tool(server, request(SYSTEM, tools()))
        warm.append(seconds)
        assert found > 0.9, f"round {number}: {found} of the prompt was there"
        seconds, found = seconds_to_tool(server, request(fresh(SYSTEM), tools(f"_{number}")))
        cold.append(seconds)
        assert found < 0.1, f"round {number}: {found} of a new prompt was there"
    matched = server.metrics().value("zerohop_profile_requests_total", profile="desk")
    assert matched == ROUNDS, matched
    ratio = statistics.median(warm) / statistics.median(cold)
    print(f"     first piece of a tool's input: {statistics.median(warm) * 1e3:.0f} ms with the "
          f"profile, {statistics.median(cold) * 1e3:.0f} ms without, {ratio:.2f} x")
    assert ratio <= 0.37, f"{ratio:.2f} of the time that a tool set takes cold"
