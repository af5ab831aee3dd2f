"""Every ./dev command that the documents show exists."""
import argparse
import contextlib
import io
import re
import shlex
import unittest

from dev import bench, cli
from dev.common import ROOT

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CODE = re.compile(r"```[a-z]*\n(.*?)```|`([^`\n]+)`", re.DOTALL)
COMMAND = re.compile(r"(?:^|\s)\./dev +([^\n#|]*)")


def commands():
    """(document, words behind ./dev) of all commands in code."""
    for path in DOCUMENTS:
        for block, inline in CODE.findall(path.read_text(encoding="utf-8")):
            for command in COMMAND.findall(block or inline):
                yield path.relative_to(ROOT), shlex.split(command)


def complaint(words):
    """None, or why ./dev would not take these words."""
    if words in (["COMMAND", "--help"], []):
        return None
    words, rest = cli.split_rest(words)
    parser = cli.parser()
    parser.exit_on_error = False
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            args = parser.parse_args(words)
    except (argparse.ArgumentError, SystemExit) as fault:
        return f"{words}: {fault}"
    if rest and args.command not in ("run", "bench", "sim-trace"):
        return f"{words} takes no words after --"
    return bench_complaint(args.name) if args.command == "bench" else None


def bench_complaint(name):
    """A benchmark is a source file of that name, or one of those that are no programs."""
    found = [path for folder in ("bench", "src") for path in (ROOT / folder).rglob("*_bench.cc")
             if name in path.name]
    known = found or name in bench.COLLECTIONS
    return None if known else f"there is no benchmark {name}"


class Documents(unittest.TestCase):
    def test_the_commands_that_they_show_exist(self):
        shown = list(commands())
        self.assertGreater(len(shown), 30)
        for path, words in shown:
            with self.subTest(document=str(path), words=words):
                self.assertIsNone(complaint(words))

    def test_a_command_that_is_gone_is_noticed(self):
        for words in (["bulid"], ["bench", "nonesuch"], ["test", "--fast"], ["san", "heap"],
                      ["build", "--", "x"]):
            self.assertIsNotNone(complaint(words), words)

    def test_benchmarks_that_run_only_by_name_are_there(self):
        for name in bench.BY_NAME_ONLY:
            self.assertIsNone(bench_complaint(name))


if __name__ == "__main__":
    unittest.main()
