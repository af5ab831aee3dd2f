"""The schemas that are measured, and texts for them.

Sets: `tools` (functions of the Berkeley function-calling leaderboard), `cases` (this project's
own), `suite` (JSON-Schema-Test-Suite, draft 2020-12) and `many`: 128 tools at once.
"""
import json
import math
import random

from dev.common import ROOT

DATA = ROOT.parent / "shared/data"
TOOLS = DATA / "tools"
SUITE = DATA / "json-schema-test-suite/tests/draft2020-12"
CASES = ROOT / "tests/cases/schema_cases.jsonl"

TOOLS_MEASURED = 160
SUITE_STEP = 3
MANY = 128
WRONG_TEXTS = 4

# Names of types in the leaderboard's files that JSON Schema does not have.
TYPES = {"dict": "object", "float": "number", "tuple": "array"}


def to_json_schema(node):
    """A function's parameters as JSON Schema."""
    if isinstance(node, list):
        return [to_json_schema(value) for value in node]
    if not isinstance(node, dict):
        return node
    found = {}
    for key, value in node.items():
        if key == "type" and isinstance(value, str):
            if value == "any":
                continue
            found[key] = TYPES.get(value, value)
        elif key == "properties" and isinstance(value, dict):
            found[key] = {name: to_json_schema(inner) for name, inner in value.items()}
        elif key in ("enum", "default", "required", "description"):
            if key in ("enum", "required"):
                found[key] = value
        else:
            found[key] = to_json_schema(value)
    return found


def read_lines(path):
    with open(path, encoding="utf-8") as handle:
        return [json.loads(line) for line in handle if line.strip()]


def answer_values(arguments):
    """The first acceptable value of each argument; optional ones may be left out ("")."""
    return {name: choices[0] for name, choices in arguments.items()
            if choices and choices[0] != ""}


def read_functions():
    """{name: (schema, [arguments])} of all functions, each name once."""
    functions = {}
    for path in sorted(TOOLS.glob("*.json")):
        answers = {row["id"]: row["ground_truth"]
                   for row in read_lines(TOOLS / "possible_answer" / path.name)}
        for row in read_lines(path):
            for function in row["function"]:
                name = function["name"]
                functions.setdefault(name, (to_json_schema(function["parameters"]), []))
            for call in answers.get(row["id"], []):
                for name, arguments in call.items():
                    if name in functions:
                        functions[name][1].append(answer_values(arguments))
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
