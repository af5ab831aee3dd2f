"""docs/COMPATIBILITY.md: which client library has which feature, from the results of a run."""
from support.sandbox import SetupFailure

HEAD = """# Compatibility

What each client library does against this server, written by the end-to-end tests: each row is a
run of the unchanged library in the version given, each cell one or more calls with checked answers.
Calls of tools, thinking and structured output are made on a scripted model, so that the answer is
known; plain text, streaming and token counts on the default model too. A test fails when this file
is not what the run found (`ZEROHOP_GOLDEN_UPDATE=1 ./dev test e2e` rewrites it). Settings for each
client are in [CLIENTS.md](CLIENTS.md).

✓ passed; – not among the tests of this client, mostly because it has no call for it; a number: see
the notes. Claude Code always streams, with a system prompt and a dozen tools.
"""

TITLES = {"anthropic": "Clients of the Messages API", "openai": "Clients of the OpenAI API"}


def render(context, clients, runs, features):
    """The whole file. `features`: {dialect: names in the order of the columns}."""
    notes = []
    parts = [HEAD]
    for dialect, names in features.items():
        rows = [row(context, client, runs, names, notes) for client in clients
                if client.dialect == dialect]
        parts.append(section(TITLES[dialect], names, rows))
    if notes:
        lines = [f"{number}. {note}" for number, note in enumerate(notes, 1)]
        parts.append("\n".join(["## Notes", "", *lines, ""]))
    return "\n".join(parts)


def section(title, names, rows):
    """Features run down and clients across: there are fewer clients."""
    head = ["Feature", *(row[0] for row in rows)]
    lines = [f"## {title}", "", table_line(head), table_line(["---"] + [":-:"] * len(rows))]
    lines += [table_line([name, *(row[1][index] for row in rows)])
              for index, name in enumerate(names)]
    return "\n".join([*lines, ""])


def table_line(cells):
    return "| " + " | ".join(cells) + " |"


def row(context, client, runs, names, notes):
    """(the client's title, its cells)."""
    try:
        version = client.version(context.installed)
    except SetupFailure:
        version = "not installed"
    return f"{client.title} {version}", [cell(context, client, runs, name, notes)
                                         for name in names]


def cell(context, client, runs, name, notes):
    if name not in client.features:
        return "–"
    reason = runs.reason(context, client, name)
    if reason is None:
        return "✓"
    if reason not in notes:
        notes.append(reason)
    return str(notes.index(reason) + 1)
