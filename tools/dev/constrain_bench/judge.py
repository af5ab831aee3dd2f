"""Says of each text without a verdict whether it is valid, with the validator of the tests.

    python -m dev.constrain_bench.judge IN OUT

Runs in the environment of the other engines. Texts that cannot be judged are left out: schemas that
the validator does not take or with formats that it does not know, texts that are no JSON.
"""
import json
import sys

from dev.judging.schema_judge import FORMATS, BadSchema, Unfit, make_judge, parse

MARK = '"arguments": '
END = "}\n</tool_call>"


def formats_in(node):
    """Every text that stands as `format` in a schema, wherever that is."""
    if isinstance(node, dict):
        own = {node["format"]} if isinstance(node.get("format"), str) else set()
        return own.union(*map(formats_in, node.values()))
    return set().union(*map(formats_in, node)) if isinstance(node, list) else set()


def judge_of(schema):
    """A judge for a schema's text; nothing when the validator cannot judge by it."""
    value = parse(schema)
    if formats_in(value) - set(FORMATS):
        return None
    try:
        return make_judge(value)
    except BadSchema:
        return None


def verdict(judge, text):
    """True, False, or None where none can be had."""
    from jsonschema.exceptions import _WrappedReferencingError
    try:
        return judge(parse(text)) is None
    except (Unfit, ArithmeticError, RecursionError, _WrappedReferencingError):
        return None


def arguments_in(text):
    """What stands between the marks of a call."""
    begin = text.index(MARK) + len(MARK)
    return text[begin:text.rindex(END)]


def judge_call(subject, text):
    schema = next(tool["parameters"] for tool in subject["tools"]
                  if tool["name"] == text["arguments_of"])
    judge = judge_of(schema)
    return judge and verdict(judge, arguments_in(text["text"]))


def judge_case(subject):
    """`subject` with a verdict for each text that is left."""
    judge = judge_of(subject["schema"]) if "schema" in subject else None
    texts = []
    for text in subject["texts"]:
        if text["valid"] is None and "tools" in subject:
            text["valid"] = judge_call(subject, text)
        elif text["valid"] is None and judge is not None:
            text["valid"] = verdict(judge, text["text"])
        if text["valid"] is not None:
            texts.append(text)
    return {**subject, "texts": texts}


def main(source, target):
    with open(source, encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as out:
        for line in lines:
            out.write(json.dumps(judge_case(json.loads(line)), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
