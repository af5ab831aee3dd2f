"""Answers with a structure on the real default model, sampled at all temperatures and lengths.

Every reply parses and validates, also where max_tokens ended it, or says with a 400 that not even
the shortest document fits. `ZEROHOP_SAMPLED_GENERATIONS=1000 ./dev test e2e` makes that many beside
those of the short version, in tests of 50 each, and keeps failures in the file that
`ZEROHOP_SAMPLED_FAILURES` names.
"""
import json
import re
from decimal import Decimal
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from support.judge import make_judge, parse, write
from support.sampled import (LEADERBOARD, Tally, leaderboard_cases,
                             leaderboard_rows, plan, read_lines, schema_cases, tool_cases)

SHORT = 60
SHORT_TOKENS_MAX = 24
BLOCK = 50
PARALLEL = 6

TOTAL = Tally()


def generations():
    return int(os.environ.get("ZEROHOP_SAMPLED_GENERATIONS", "0"))


def run_plan(context, numbers, tools, tokens_max):
    tally, server, schemas = Tally(), context.server, schema_cases()
    with ThreadPoolExecutor(PARALLEL) as pool:
        list(pool.map(lambda n: tally.run(server, plan(n, schemas, tools, tokens_max)), numbers))
    print(tally.summary(), file=sys.stderr)
    keep(tally)
    assert not tally.failures, tally.failures[0]


def keep(tally):
    """Into the counts of the whole run."""
    TOTAL.counts.update(tally.counts)
    TOTAL.failures += tally.failures
    path = os.environ.get("ZEROHOP_SAMPLED_FAILURES")
    if path and tally.failures:
        with open(path, "a", encoding="utf-8") as handle:
            handle.writelines(json.dumps(failure) + "\n" for failure in tally.failures)


def sampled(first, last):
    def test(context):
        tools = tool_cases() + leaderboard_cases()
        run_plan(context, range(first, last), tools, tokens_max=256)
        if last >= generations():
            print("all generations:\n" + TOTAL.summary(), file=sys.stderr)
    return test


def test_every_sampled_answer_parses_and_validates(context):
    run_plan(context, range(SHORT), tool_cases(), SHORT_TOKENS_MAX)


# ---- Digits ----

BIG, FINE = 12345678901234567890123, "0.1234567890123456789012345"
DIGITS = parse('{"type":"object","properties":{"big":{"const":%d},"fine":{"const":%s}},'
               '"required":["big","fine"],"additionalProperties":false}' % (BIG, FINE))
TOOL = {"name": "keep", "description": "Keeps numbers.", "input_schema": DIGITS}
HELLO = [{"role": "user", "content": "Keep the numbers."}]


def test_numbers_keep_their_digits_in_every_form_of_reply(context):
    server = context.server
    messages = {"messages": HELLO, "max_tokens": 100, "tools": [TOOL],
                "tool_choice": {"type": "any", "disable_parallel_tool_use": True}}
    chat = {"messages": HELLO, "max_tokens": 100, "tool_choice": "required",
            "tools": [{"type": "function",
                       "function": {"name": "keep", "parameters": DIGITS, "strict": True}}]}
    form = {"messages": HELLO, "max_tokens": 100,
            "output_config": {"format": {"type": "json_schema", "schema": DIGITS}}}
    for path, body in (("/v1/messages", messages), ("/v1/chat/completions", chat),
                       ("/v1/messages", form)):
        for stream in (False, True):
            reply = server.request("POST", path, write({**body, "stream": stream}))
            assert reply.status == 200, reply
            # The model may write them with an exponent; their value is what the schema says.
            numbers = {Decimal(number) for number in
                       re.findall(r"[0-9]+(?:[.][0-9]+)?(?:[eE][+-]?[0-9]{1,9})?",
                                  gathered(reply.body.decode(), stream))}
            assert {Decimal(BIG), Decimal(FINE)} <= numbers, (path, stream, reply.body[-1500:])


def gathered(body, stream):
    """The text of an answer with all pieces of numbers joined."""
    if not stream:
        return body
    pieces = []
    for line in body.split("\n"):
        if line.startswith("data: {"):
            pieces += leaves(json.loads(line.removeprefix("data: ")))
    return "".join(pieces)


def leaves(value):
    """Texts that deltas carry."""
    if isinstance(value, dict):
        for name, member in value.items():
            if name in ("text", "partial_json", "content", "arguments") and isinstance(member, str):
                yield member
            else:
                yield from leaves(member)
    elif isinstance(value, list):
        for member in value:
            yield from leaves(member)


# ---- The leaderboard's functions ----

def compile_all(context, cases):
    """{id: report} of `zerohop constrain check`."""
    path = context.sandbox.file(".jsonl", "\n".join(map(write, cases)))
    done = context.zerohop("constrain", "check", "--cases", path, "--json")
    reports = {report["id"]: report for report in map(json.loads, done.stdout.splitlines())}
    assert len(reports) == len(cases), (len(reports), len(cases), done.stderr[-500:])
    return reports


def test_every_committed_schema_compiles(context):
    cases = [{"id": case["id"], "schema": case["schema"]} for case in schema_cases()]
    cases += [{"id": f"{index}/{tool['name']}", "schema": tool["input_schema"]}
              for index, case in enumerate(tool_cases()) for tool in case["tools"]]
    refused = {name: report for name, report in compile_all(context, cases).items()
               if report["verdict"] != "right"}
    assert not refused, refused


def functions_compile(context):
    """All of them, and what they accept is what the independent validator accepts."""
    answers = possible_answers()
    cases = []
    for row, _, functions in leaderboard_rows():
        for function in functions:
            schema = function["input_schema"]
            judge = make_judge(schema)
            case = {"id": f"{row}/{function['name']}/{len(cases)}", "schema": schema,
                    "accept": [], "reject": []}
            for arguments in answers.get((row, function["name"]), []):
                ordered = {name: arguments[name] for name in schema.get("properties", {})
                           if name in arguments}
                case["accept" if judge(ordered) is None else "reject"].append(write(ordered))
            cases.append(case)
    reports = compile_all(context, cases)
    wrong = {name: report for name, report in reports.items() if report["verdict"] != "right"}
    print(f"{len(cases)} functions, {sum(len(case['accept']) for case in cases)} instances "
          f"accepted, {sum(len(case['reject']) for case in cases)} rejected", file=sys.stderr)
    assert not wrong, list(wrong.items())[:3]


def possible_answers():
    """{(row, function): [arguments]}, with the first of the values that each argument may have."""
    answers = {}
    for path in sorted((LEADERBOARD / "possible_answer").glob("*.json")):
        for row in read_lines(path):
            for call in row["ground_truth"]:
                for name, arguments in call.items():
                    chosen = {key: values[0] for key, values in arguments.items()
                              if values and values[0] != ""}
                    answers.setdefault((row["id"], name), []).append(chosen)
    return answers


def cases():
    """Tests that need the leaderboard's files, or that were asked for."""
    count = generations()
    yield from ((f"generations_{first}_to_{min(first + BLOCK, count) - 1}",
                 sampled(first, min(first + BLOCK, count))) for first in range(0, count, BLOCK))
    if LEADERBOARD.is_dir():
        yield "every_function_of_the_leaderboard_compiles", functions_compile
