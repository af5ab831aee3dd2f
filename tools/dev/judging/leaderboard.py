"""The functions of the Berkeley function-calling leaderboard, whose files lie beside the project.

They are not part of this tree: `present` says whether they are there, and readers of absent files
find nothing. `read` makes a value of a line: `parse` keeps all digits, json.loads makes floats.
"""
from collections import namedtuple

from dev.common import ROOT
from dev.judging.schema_judge import parse

FOLDER = ROOT.parent / "shared/data/tools"

# Names of types in these files that JSON Schema does not have ("any" says nothing at all).
TYPES = {"dict": "object", "float": "number", "tuple": "array"}

# One question: `functions` is a list of (name, description, schema).
Row = namedtuple("Row", "id question functions")


def present():
    return FOLDER.is_dir()


def read_lines(path, read=parse):
    """The JSON values of a file with one a line."""
    # Not splitlines(), which also cuts at separators that a JSON string may hold.
    return [read(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def to_json_schema(schema):
    """A function's parameters as JSON Schema; everything but the names of types stays."""
    found = {}
    for key, value in schema.items():
        if key == "type" and isinstance(value, str):
            if value != "any":
                found[key] = TYPES.get(value, value)
        elif key == "properties" and isinstance(value, dict):
            found[key] = {name: to_json_schema(inner) for name, inner in value.items()}
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            found[key] = to_json_schema(value)
        else:
            found[key] = value
    return found


def rows(read=parse):
    """All questions, in the order of files and lines."""
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        for row in read_lines(path, read):
            functions = [(function["name"], function["description"],
                          to_json_schema(function["parameters"])) for function in row["function"]]
            found.append(Row(row["id"], row["question"][0][-1]["content"], functions))
    return found


def given_arguments(choices):
    """The first acceptable value of each argument; optional ones may be left out ("")."""
    return {name: values[0] for name, values in choices.items() if values and values[0] != ""}


def answers(read=parse):
    """{id: [(function, arguments)]}: the calls that answer each question, in order."""
    found = {}
    for path in sorted((FOLDER / "possible_answer").glob("*.json")):
        for row in read_lines(path, read):
            calls = found.setdefault(row["id"], [])
            calls += [(name, given_arguments(choices))
                      for call in row["ground_truth"] for name, choices in call.items()]
    return found
