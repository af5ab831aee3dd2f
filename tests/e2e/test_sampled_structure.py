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

from dev.judging import leaderboard
from dev.judging.schema_judge import make_judge, parse, write
from support.sampled import Tally, leaderboard_cases, plan, schema_cases, tool_cases

# Two generations for each schema, one of them with tools.
SHORT_FOR_EACH = 2
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
    return tally


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
    schemas, tools = schema_cases(), tool_cases()
    count = SHORT_FOR_EACH * len(schemas)
    tally = run_plan(context, range(count), tools, SHORT_TOKENS_MAX)
    # A case that is refused for its length is asked again, so each has a valid answer.
    wanted = {plan(n, schemas, tools, SHORT_TOKENS_MAX).name for n in range(count)}
    assert len(wanted) == len(schemas) + len(tools), wanted
    assert tally.valid_cases == wanted, wanted - tally.valid_cases
    assert tally.counts["calls"] > 0, tally.counts


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


def test_the_judge_itself_is_exact_also_behind_references(_context):
    judge = make_judge(parse(
        '{"$schema":"https://json-schema.org/draft/2020-12/schema","type":["number","array"],'
        '"multipleOf":0.1,"items":{"$ref":"#"}}'))
    for text in ("[[1.5]]", "84000183737515633167887.4", "[0.3,[]]"):
        assert judge(parse(text)) is None, text
    for text in ("[[1.55]]", "84000183737515633167887.45", '["0.3"]'):
        assert judge(parse(text)) is not None, text


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
    answers = leaderboard.answers()
    cases = []
    for row in leaderboard.rows():
        for name, _, schema in row.functions:
            judge = make_judge(schema)
            case = {"id": f"{row.id}/{name}/{len(cases)}", "schema": schema,
                    "accept": [], "reject": []}
            for called, arguments in answers.get(row.id, []):
                if called == name:
                    ordered = {key: arguments[key] for key in schema.get("properties", {})
                               if key in arguments}
                    case["accept" if judge(ordered) is None else "reject"].append(write(ordered))
            cases.append(case)
    reports = compile_all(context, cases)
    wrong = {name: report for name, report in reports.items() if report["verdict"] != "right"}
    print(f"{len(cases)} functions, {sum(len(case['accept']) for case in cases)} instances "
          f"accepted, {sum(len(case['reject']) for case in cases)} rejected", file=sys.stderr)
    assert not wrong, list(wrong.items())[:3]


def cases():
    """Tests that need the leaderboard's files, or that were asked for."""
    count = generations()
    yield from ((f"generations_{first}_to_{min(first + BLOCK, count) - 1}",
                 sampled(first, min(first + BLOCK, count))) for first in range(0, count, BLOCK))
    if leaderboard.present():
        yield "every_function_of_the_leaderboard_compiles", functions_compile
