"""The schemas that are measured, and texts for them.

Sets: `tools` (functions of the Berkeley function-calling leaderboard), `cases` (this project's
own), `suite` (JSON-Schema-Test-Suite, draft 2020-12) and `many`: 128 tools at once.
"""
import json
import math
import random

from dev.common import ROOT, Failure
from dev.judging import leaderboard

DATA = leaderboard.FOLDER.parent
SUITE = DATA / "json-schema-test-suite/tests/draft2020-12"
CASES = ROOT / "tests/cases/schema_cases.jsonl"

TOOLS_MEASURED = 160
SUITE_STEP = 3
MANY = 128
WRONG_TEXTS = 4

# What a schema says to people; engines must not, and most do not, look at it.
NOTES = ("description", "default")


def require_data():
    """Before anything is built: the files are not part of this tree."""
    for folder in (leaderboard.FOLDER, SUITE):
        if not folder.is_dir():
            raise Failure(f"`./dev bench constrain` measures with the files of {folder}, which is "
                          "not there: put the function-calling leaderboard and "
                          f"JSON-Schema-Test-Suite into {DATA}", 2)


def without_notes(schema):
    """The schema without what it says to people."""
    if isinstance(schema, list):
        return [without_notes(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: {name: without_notes(inner) for name, inner in value.items()}
            if key == "properties" and isinstance(value, dict)
            else value if key in ("enum", "required") else without_notes(value)
            for key, value in schema.items() if key not in NOTES}


def read_lines(path):
    return leaderboard.read_lines(path, json.loads)


def read_functions():
    """{name: (schema, [arguments])} of the leaderboard's functions, each name once."""
    functions = {}
    answers = leaderboard.answers(json.loads)
    for row in leaderboard.rows(json.loads):
        for name, _, schema in row.functions:
            functions.setdefault(name, (without_notes(schema), []))
        for name, arguments in answers.get(row.id, []):
            if name in functions:
                functions[name][1].append(arguments)
    return functions


def every(items, wanted):
    """Some `wanted` of `items`, evenly spread."""
    step = max(1, len(items) // wanted)
    return items[::step][:wanted]


def text_of(value):
    return json.dumps(value, ensure_ascii=False)


def finite(digits):
    """A number that floating point can hold; others are no use to a validator that has no more."""
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"{digits[:20]} is too large")
    return value


def value_of(text):
    """The JSON value; ValueError where it is none, or has a number that Python cannot hold."""
    return json.loads(text, parse_float=finite, parse_constant=finite)


def one_line(schema):
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


def key_order(schema):
    """{name: rank} of property names, in the order in which the schema first declares them."""
    order = {}

    def visit(node):
        if isinstance(node, list):
            for value in node:
                visit(value)
        elif isinstance(node, dict):
            properties = node.get("properties")
            if isinstance(properties, dict):
                for name, value in properties.items():
                    order.setdefault(name, len(order))
                    visit(value)
            for value in node.values():
                visit(value)

    visit(schema)
    return order


def in_order(value, order):
    """`value` with the keys of its objects in that order; others behind, as they stand."""
    if isinstance(value, list):
        return [in_order(item, order) for item in value]
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: order.get(name, len(order)))
        return {name: in_order(value[name], order) for name in names}
    return value


def changed(value, chance):
    """A value like `value`, with one thing changed; mostly not valid any more."""
    if isinstance(value, dict) and value:
        name = chance.choice(sorted(value))
        other = dict(value)
        way = chance.randrange(3)
        if way == 0:
            del other[name]
        elif way == 1:
            other[name] = changed(value[name], chance)
        else:
            other["x-" + name] = value[name]
        return other
    if isinstance(value, list) and value:
        at = chance.randrange(len(value))
        return value[:at] + [changed(value[at], chance)] + value[at + 1:]
    return 7.5 if isinstance(value, str) else str(value)


def wrong_texts(values, seed):
    chance = random.Random(seed)
    return [text_of(changed(chance.choice(values), chance)) for _ in range(WRONG_TEXTS)]


def case(set_name, name, schema, texts):
    return {"set": set_name, "name": name, "schema": one_line(schema), "texts": texts}


def unjudged(text):
    """Its validity is found by an independent validator."""
    return {"text": text, "valid": None}


def tool_cases(functions):
    cases = []
    for name in every(sorted(functions), TOOLS_MEASURED):
        schema, answers = functions[name]
        order = key_order(schema)
        texts = [unjudged(text_of(in_order(answer, order))) for answer in answers[:2]]
        cases.append(case("tools", name, schema, texts))
    return cases


def own_cases():
    cases = []
    for row in read_lines(CASES):
        texts = [{"text": text, "valid": True} for text in row["accept"]]
        texts += [{"text": text, "valid": False} for text in row["reject"]]
        cases.append(case("cases", row["id"], row["schema"], texts))
    return cases


def suite_cases():
    groups = []
    for path in sorted(SUITE.glob("*.json")):
        for group in json.loads(path.read_text(encoding="utf-8")):
            if "localhost" not in one_line(group["schema"]):
                groups.append((path.stem, group))
    cases = []
    for stem, group in groups[::SUITE_STEP]:
        order = key_order(group["schema"])
        texts = [{"text": text_of(in_order(test["data"], order)), "valid": test["valid"]}
                 for test in group["tests"]]
        cases.append(case("suite", f"{stem}: {group['description']}", group["schema"], texts))
    return cases


def call_text(name, arguments):
    return f'<tool_call>\n{{"name": {json.dumps(name)}, "arguments": {arguments}}}\n</tool_call>'


def many_case(functions):
    """Calls of one of 128 tools, between the marks that many models write."""
    names = every(sorted(functions), MANY)
    tools = [{"name": name, "parameters": one_line(functions[name][0])} for name in names]
    texts = []
    for name in names:
        schema, answers = functions[name]
        order = key_order(schema)
        for answer in answers[:1]:
            texts.append({"text": call_text(name, text_of(in_order(answer, order))),
                          "valid": None, "arguments_of": name})
    return {"set": "many", "name": f"{MANY} tools", "tools": tools, "texts": texts[:24]}


def all_cases():
    functions = read_functions()
    return [*tool_cases(functions), *own_cases(), *suite_cases(), many_case(functions)]
