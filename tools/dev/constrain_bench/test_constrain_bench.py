import base64
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from dev.common import Failure
from dev.constrain_bench import judge, page, run, schemas, vocabulary
from dev.constrain_bench.vocabulary import Cutter, Vocabulary
from dev.judging import leaderboard, schema_judge


class Vocabularies(unittest.TestCase):
    def test_a_file_gives_back_what_was_written(self):
        written = Vocabulary([b"a", b"", b"\xff" * 300], [1, 2], 4)
        self.assertEqual(vocabulary.decode(vocabulary.encode(written)), written)

    def test_bytes_are_spelled_as_letters(self):
        letters = vocabulary.byte_of_letter()
        self.assertEqual(sorted(letters.values()), list(range(256)))
        self.assertEqual(letters["!"], 0x21)
        self.assertEqual(letters["\u0120"], 0x20)  # a blank, in such vocabularies

    def test_the_javascript_file_holds_words_in_lines(self):
        words = base64.b64encode("a\n\u0120b".encode()).decode()
        found = vocabulary.from_javascript(f'x = 1; const llama_vocab_base64 = "{words}"')
        self.assertEqual(found.tokens, [b"a", b" b"])

    def test_the_longest_token_comes_first(self):
        cutter = Cutter(Vocabulary([b"a", b"ab", b"b", b"", b"abc"], [4], 5))
        self.assertEqual(cutter.cut("abab"), [1, 1])
        self.assertEqual(cutter.cut("aab"), [0, 1])
        self.assertIsNone(cutter.cut("abc"), "an end token is no text")


class Schemas(unittest.TestCase):
    def test_what_is_said_to_people_is_left_out(self):
        found = schemas.without_notes(
            {"type": "object", "description": "d", "required": ["description"], "properties": {
                "description": {"type": "number", "default": 1, "enum": [{"default": 1}]},
                "b": {"items": [{"description": "d"}]}}})
        self.assertEqual(found, {"type": "object", "required": ["description"], "properties": {
            "description": {"type": "number", "enum": [{"default": 1}]}, "b": {"items": [{}]}}})

    def test_absent_data_are_named_before_anything_is_built(self):
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(leaderboard, "FOLDER", Path(folder) / "tools"), \
                self.assertRaisesRegex(Failure, "tools, which is not there") as caught:
            run.run(None, None)
        self.assertEqual(caught.exception.code, 2)

    def test_keys_are_put_in_the_order_of_the_schema(self):
        order = schemas.key_order({"properties": {"b": {"properties": {"z": {}, "a": {}}},
                                                  "a": {}}})
        text = schemas.text_of(schemas.in_order({"x": 1, "a": 1, "b": {"a": 1, "z": [{"a": 0}]}},
                                                order))
        self.assertEqual(text, '{"b": {"z": [{"a": 0}], "a": 1}, "a": 1, "x": 1}')

    def test_a_changed_text_differs(self):
        value = {"a": [1, "b"], "c": {"d": True}}
        for seed in range(50):
            for text in schemas.wrong_texts([value], seed):
                self.assertNotEqual(text, schemas.text_of(value))

    def test_numbers_beyond_floating_point_are_no_values(self):
        self.assertEqual(schemas.value_of('[1e3, "1e999"]'), [1000.0, "1e999"])
        for text in ("[1e999]", "-1e999", "[Infinity]", "[1"):
            with self.assertRaises(ValueError):
                schemas.value_of(text)

    def test_walks_and_wrong_texts_are_added(self):
        case = {"set": "s", "name": "n", "texts": [{"text": "[1]", "valid": False}]}
        texts = run.with_walks(case, {("s", "n"): ['{"a": 1}']})["texts"]
        self.assertEqual(len(texts), 2 + schemas.WRONG_TEXTS)
        self.assertEqual([text["valid"] for text in texts[:2]], [False, None])

    def test_a_text_that_has_a_verdict_is_not_judged_again(self):
        case = {"set": "s", "name": "n", "texts": [{"text": "null", "valid": True}]}
        texts = run.with_walks(case, {("s", "n"): ["null"]})["texts"]
        self.assertEqual([text["valid"] for text in texts if text["text"] == "null"], [True])

    def test_texts_that_the_vocabulary_cannot_write_are_left_out(self):
        cutter = Cutter(Vocabulary([b"1"], [], 1))
        case = {"texts": [{"text": "11"}, {"text": "2"}]}
        self.assertEqual(run.cut(case, cutter)["texts"], [{"text": "11", "tokens": [0, 0]}])


class Leaderboard(unittest.TestCase):
    def test_types_become_those_of_json_schema(self):
        found = leaderboard.to_json_schema(
            {"type": "dict", "properties": {"type": {"type": "float", "default": 1},
                                            "b": {"type": "any", "description": "d"},
                                            "c": {"type": "tuple", "items": {"type": "dict"}}},
             "required": ["type"]})
        self.assertEqual(found, {"type": "object", "properties": {
            "type": {"type": "number", "default": 1}, "b": {"description": "d"},
            "c": {"type": "array", "items": {"type": "object"}}}, "required": ["type"]})

    def test_optional_arguments_may_be_left_out(self):
        found = leaderboard.given_arguments({"a": [1, 2], "b": ["", "x"], "c": []})
        self.assertEqual(found, {"a": 1})

    def test_rows_and_answers_are_read_from_the_files(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "possible_answer").mkdir()
            (folder / "x.json").write_text(
                '{"id": "1", "question": [[{"content": "q"}]], "function": [{"name": "f", '
                '"description": "d", "parameters": {"type": "dict"}}]}\n')
            (folder / "possible_answer/x.json").write_text(
                '{"id": "1", "ground_truth": [{"f": {"a": [0.10, 2]}}, {"f": {}}]}\n')
            with mock.patch.object(leaderboard, "FOLDER", folder):
                self.assertEqual(leaderboard.rows(),
                                 [("1", "q", [("f", "d", {"type": "object"})])])
                (_, first), (_, second) = leaderboard.answers()["1"]
        self.assertEqual((schema_judge.write(first), second), ('{"a":0.10}', {}))


class Judge(unittest.TestCase):
    def test_texts_keep_all_digits_and_no_name_comes_twice(self):
        text = '{"a":[0.1234567890123456789012345,1E+999,true]}'
        self.assertEqual(schema_judge.write(schema_judge.parse(text)), text)
        for bad in ('{"a":1,"a":2}', "NaN", "[1"):
            with self.assertRaises(schema_judge.Unfit):
                schema_judge.parse(bad)

    def test_formats_are_found_at_any_depth(self):
        schema = {"format": "date", "properties": {"format": {"items": [{"format": "odd"}]}}}
        self.assertEqual(judge.formats_in(schema), {"date", "odd"})
        self.assertIsNone(judge.judge_of('{"format":"odd"}'))

    def test_the_arguments_of_a_call_lie_between_its_marks(self):
        text = schemas.call_text("f", '{"arguments": 1}')
        self.assertEqual(judge.arguments_in(text), '{"arguments": 1}')


def ended(code, stderr=""):
    return subprocess.CompletedProcess([], code, stderr=stderr)


class LostCases(unittest.TestCase):
    cases = [{"set": "s", "name": "a"}, {"set": "s", "name": "b"}]

    def test_a_signal_loses_the_case_that_was_measured(self):
        self.assertEqual(run.lost_case(self.cases, [{}], "other", ended(-11)), {
            "set": "s", "name": "b", "outcome": "lost",
            "reason": "its process was ended by signal 11"})

    def test_a_fault_of_the_measuring_is_no_finding(self):
        for rows in ([], [{}]):
            with self.assertRaisesRegex(Failure, "other failed with 1: KeyError: 'x'"):
                run.lost_case(self.cases, rows, "other", ended(1, "Traceback\nKeyError: 'x'\n"))
        with self.assertRaisesRegex(Failure, "it says nothing"):
            run.lost_case(self.cases, [{}, {}], "other", ended(-9))


def row(**changes):
    return {"set": "tools", "name": "n", "outcome": "ok", "first_mask_ns": 1000,
            "masks_ns": [1000, 3000], "built_ns": [3000], "checks_ns": [100, 300],
            "checks_cpu_ns": 500, "right": 2, "wrongly_accepted": 0, "wrongly_rejected": 1,
            "machine_bytes": 2048, "disagreements": 0, **changes}


def results():
    last = {"engine": "zerohop", "version": "1", "trie_ns": 1, "trie_bytes": 1, "prepare_ns": 1}
    return [row(), row(set="suite", outcome="refused"),
            row(set="many", first_mask_ns=60_000_000), last]


class Page(unittest.TestCase):
    def test_percentiles_are_values_that_were_measured(self):
        self.assertEqual(page.percentile([], 0.5), 0)
        self.assertEqual(page.percentile([3, 1, 2], 0.5), 2)
        self.assertEqual(page.percentile(list(range(101)), 0.99), 99)

    def test_numbers_have_three_digits(self):
        self.assertEqual([page.number(value) for value in (1234.5, 12.34, 0.456)],
                         ["1,234", "12.3", "0.46"])

    def test_refused_schemas_have_no_times(self):
        found = page.micro(results())
        self.assertEqual(found["mask, mean"], 2)
        self.assertEqual(found["first mask, max"], 1)
        self.assertEqual(found["check, mean"], 0.25)

    def test_goals_are_told_reached_or_missed(self):
        text = page.page({"128k": {"zerohop": results()}})
        self.assertIn("≤ 20: reached", text)
        self.assertIn("≤ 50,000: **missed**", text)
        self.assertEqual(text.count("\n# "), 0)
        self.assertTrue(text.startswith("# "))

    def test_counts_are_of_schemas_and_texts(self):
        self.assertEqual(page.counts(results(), ("tools", "suite")), {
            "schemas": 2, "refused": 1, "lost": 0, "right": 4, "wrongly_accepted": 0,
            "wrongly_rejected": 2})


if __name__ == "__main__":
    unittest.main()
