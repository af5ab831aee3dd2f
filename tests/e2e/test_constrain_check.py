"""`zerohop constrain check`: why a schema is refused, and which texts it accepts."""
import json
from pathlib import Path

from support.prompts import MODEL

PERSON = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
          "required": ["name"], "additionalProperties": False}
CASES = Path(__file__).resolve().parents[1] / "cases"


def check(context, *words, stdin=""):
    return context.zerohop("constrain", "check", *words, stdin=stdin)


def schema_file(context, schema):
    return context.sandbox.file(".json", json.dumps(schema))


def lines_of(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def case_file(context, *lines):
    text = "".join(json.dumps(line) + "\n" for line in lines)
    return context.sandbox.file(".jsonl", text)


def check_usage_fault(done, *words):
    assert done.returncode == 2 and done.stdout == "", done
    complaints = [line for line in done.stderr.splitlines() if line.startswith("zerohop: ")]
    assert len(complaints) == 1 and all(str(word) in complaints[0] for word in words), done


def test_a_schema_shows_what_it_costs(context):
    done = check(context, "--schema", schema_file(context, PERSON))
    assert done.returncode == 0 and done.stderr == "", done
    for word in ("compiled: ", "form node", "first state", '"{\\"name\\":\\"\\"}"'):
        assert word in done.stdout, (word, done.stdout)


def test_texts_are_judged_byte_by_byte_and_token_by_token(context):
    schema = schema_file(context, PERSON)
    good = context.sandbox.file(".txt", '{"name": "Ann", "age": 31}\n')
    bad = context.sandbox.file(".txt", '{"name": "Ann", "age": "31"}\n')
    words = ("--schema", schema, "--model", MODEL, "--text", good)
    done = check(context, *words)
    assert done.returncode == 0, done
    assert f"accepted: {good}\n  byte by byte yes; token by token: the model's own yes" in \
        done.stdout, done.stdout
    done = check(context, *words, bad)
    assert done.returncode == 1, done
    assert f"rejected: {bad}\n  byte by byte no" in done.stdout, done.stdout
    assert 'at byte 23, behind "{\\"name\\": \\"Ann\\", \\"age\\": ": "\\""; may come: - 0-9\n' in \
        done.stdout, done.stdout


def test_a_refusal_names_pointer_and_keyword(context):
    schema = {"properties": {"a/b": {"type": "array", "uniqueItems": True}}}
    done = check(context, "--schema", schema_file(context, schema))
    assert done.returncode == 1, done
    assert "  pointer   /properties/a~1b\n  keyword   uniqueItems\n  reason  " in done.stdout, done
    [line] = lines_of(check(context, "--schema", "-", "--json", stdin=json.dumps(schema)))
    assert line["verdict"] == "refused" and line["pointer"] == "/properties/a~1b", line
    assert line["keyword"] == "uniqueItems" and line["reason"], line


def test_cases_get_a_verdict_each(context):
    file = case_file(
        context,
        {"id": "right", "schema": PERSON, "accept": ['{"name": "a"}'], "reject": ["{}"]},
        {"id": "over", "schema": {"type": "integer"}, "accept": [], "reject": ["1"]},
        {"id": "under", "schema": {"type": "integer"}, "accept": ["true"]},
        {"id": "refused", "schema": {"type": "text"}, "accept": []},
        {"id": "error", "schema": {}, "accept": 1},
        {"id": "values", "schema": {"maximum": 2.5}, "accept": [2.50, {"a": "b"}],
         "reject": [2.51]},
        {"id": "regex", "regex": "[ab]+", "accept": ["abba"], "reject": ["", "abc"]})
    done = check(context, "--cases", file, "--json")
    assert done.returncode == 1 and done.stderr == "", done
    lines = lines_of(done)
    verdicts = {line["id"]: line["verdict"] for line in lines}
    assert verdicts == {"right": "right", "over": "over", "under": "under", "refused": "refused",
                        "error": "error", "values": "right", "regex": "right"}, verdicts
    assert all({"id", "verdict", "pointer", "keyword"} <= line.keys() for line in lines), lines
    by_id = {line["id"]: line for line in lines}
    assert by_id["refused"]["keyword"] == "type" and by_id["refused"]["pointer"] == "", by_id
    assert by_id["over"]["text"] == "1" and by_id["over"]["expected"] == "reject", by_id
    text = check(context, "--cases", file)
    assert text.returncode == 1, text
    assert text.stdout.endswith(
        "7 cases: 3 right, 1 over, 1 under, 1 refused, 1 error\n"), text.stdout


def test_keys_are_accepted_as_declared_or_in_any_order(context):
    file = case_file(context, {"schema": PERSON, "accept": ['{"age": 1, "name": "a"}']})
    assert check(context, "--cases", file).returncode == 1
    assert check(context, "--cases", file, "--order", "any").returncode == 0


def test_drafts_and_formats_can_be_chosen(context):
    date = case_file(context, {"schema": {"format": "date"}, "reject": ['"2023-02-30"']})
    assert check(context, "--cases", date).returncode == 0
    assert check(context, "--cases", date, "--formats", "ignore").returncode == 1
    integer = case_file(context, {"schema": {"type": "integer"}, "accept": ["1.0"]})
    assert check(context, "--cases", integer).returncode == 0
    assert check(context, "--cases", integer, "--draft", "4").returncode == 1


def test_all_visible_cases_are_right_token_by_token(context):
    for name, least in (("schema_cases.jsonl", 60), ("text_cases.jsonl", 17)):
        done = check(context, "--cases", CASES / name, "--order", "any", "--model", MODEL, "--json")
        wrong = [line for line in lines_of(done) if line["verdict"] != "right"]
        assert done.returncode == 0, wrong
        assert len(lines_of(done)) >= least, done.stdout


def test_grammars_are_checked_too(context):
    grammar = context.sandbox.file(".gbnf", 'root ::= "a" root "b" | "c"\n')
    text = context.sandbox.file(".txt", "aacbb")
    assert check(context, "--grammar", grammar, "--text", text).returncode == 0
    broken = context.sandbox.file(".gbnf", "root ::= missing\n")
    done = check(context, "--grammar", broken)
    assert done.returncode == 1 and "line 1, column" in done.stdout, done


def test_bad_words_and_files_are_usage_faults(context):
    check_usage_fault(check(context), "--schema")
    check_usage_fault(context.zerohop("constrain"), "constrain check")
    check_usage_fault(check(context, "--schema", "a", "--regex", "b"), "--schema")
    missing = context.sandbox.path(".json")
    check_usage_fault(check(context, "--schema", missing), missing, "cannot be read")
    check_usage_fault(check(context, "--cases", missing), missing, "cannot be read")
    check_usage_fault(check(context, "--schema", context.sandbox.root), "cannot be read")
    check_usage_fault(check(context, "--cases", context.sandbox.file(".jsonl", "\n \n")), "no case")


def test_hostile_schemas_are_refused_in_their_turn(context):
    """Each ends in a verdict of its own; the others do not notice."""
    deep = "[" * 500 + "]" * 500
    lines = [json.dumps({"id": "wide", "schema": {
                 "allOf": [{"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]}
                           for i in range(30)]}}),
             json.dumps({"id": "blow-up", "schema": {
                 "type": "string", "pattern": "^[ab]*a[ab]{40}$"}}),
             json.dumps({"id": "endless", "schema": {"$ref": "#"}}),
             json.dumps({"id": "no-base", "schema": {
                 "type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}}),
             '{"id": "deep", "schema": {"const": %s}}' % deep,
             "not JSON",
             json.dumps({"id": "good", "schema": {"type": "null"}, "accept": ["null"]})]
    done = check(context, "--cases", "-", "--json", stdin="\n".join(lines))
    assert done.returncode == 1, done
    verdicts = {line["id"]: line["verdict"] for line in lines_of(done)}
    assert verdicts == {"wide": "refused", "blow-up": "refused", "endless": "refused",
                        "no-base": "refused", "deep": "refused", "6": "error",
                        "good": "right"}, verdicts
