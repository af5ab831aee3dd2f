"""Says of each text without a verdict whether it is valid, with the package jsonschema.

    python -m dev.constrain_bench.judge IN OUT

Runs in the environment of the other engines. Texts that cannot be judged are left out: schemas that
the validator does not take, texts that are no JSON or have numbers beyond floating point.
"""
import json
import sys

import jsonschema

from dev.constrain_bench import schemas

MARK = '"arguments": '
END = "}\n</tool_call>"


def validator_of(schema):
    """A validator that asserts formats; nothing when it does not take the schema."""
    kind = jsonschema.Draft202012Validator
    if isinstance(schema, dict):
        kind = jsonschema.validators.validator_for(schema, default=kind)
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError:
        return None
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def verdict(validator, text):
    """True, False, or None where none can be had."""
    try:
        return validator.is_valid(schemas.value_of(text))
    except (ValueError, RecursionError, jsonschema.exceptions._WrappedReferencingError):
        return None


def arguments_in(text):
    """What stands between the marks of a call."""
    begin = text.index(MARK) + len(MARK)
    return text[begin:text.rindex(END)]


def judge_call(subject, text):
    schema = next(tool["parameters"] for tool in subject["tools"]
                  if tool["name"] == text["arguments_of"])
    validator = validator_of(json.loads(schema))
    return validator and verdict(validator, arguments_in(text["text"]))


def judge(subject):
    """`subject` with a verdict for each text that is left."""
    validator = validator_of(json.loads(subject["schema"])) if "schema" in subject else None
    texts = []
    for text in subject["texts"]:
        if text["valid"] is None and "tools" in subject:
            text["valid"] = judge_call(subject, text)
        elif text["valid"] is None and validator is not None:
            text["valid"] = verdict(validator, text["text"])
        if text["valid"] is not None:
            texts.append(text)
    return {**subject, "texts": texts}


def main(source, target):
    with open(source, encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as out:
        for line in lines:
            out.write(json.dumps(judge(json.loads(line)), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
