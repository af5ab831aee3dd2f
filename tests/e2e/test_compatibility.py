"""The table of clients and features in docs/ is what this run has found."""
from pathlib import Path

from support.compatibility import render
from test_claude_code import CLAUDE_CODE, CLAUDE_CODE_FEATURES, CLAUDE_CODE_RUNS
from test_clients import ANTHROPIC, CLIENTS, OPENAI, RUNS

COMMITTED = Path(__file__).resolve().parents[2] / "docs/COMPATIBILITY.md"


class AllRuns:
    """Claude Code is a program, not a library: its exchanges are tests of their own."""

    def reason(self, context, client, feature):
        runs = CLAUDE_CODE_RUNS if client is CLAUDE_CODE else RUNS
        return runs.reason(context, client, feature)


def test_the_committed_table_is_what_the_clients_did(context):
    features = {"anthropic": (*ANTHROPIC, *(name for name in CLAUDE_CODE_FEATURES
                                            if name not in ANTHROPIC)),
                "openai": OPENAI}
    found = render(context, (*CLIENTS, CLAUDE_CODE), AllRuns(), features)
    if context.compatibility_file:
        context.compatibility_file.write_text(found, encoding="utf-8")
    committed = COMMITTED.read_text(encoding="utf-8") if COMMITTED.exists() else ""
    different = [pair for pair in zip(committed.splitlines(), found.splitlines())
                 if pair[0] != pair[1]]
    assert committed == found, f"docs/COMPATIBILITY.md is not what was found: {different[:2]}"
