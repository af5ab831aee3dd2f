"""The page of `./dev bench constrain`, from the results of all engines."""
import platform
from pathlib import Path

NAMES = {"zerohop": "Zerohop", "llguidance": "llguidance", "xgrammar": "XGrammar"}

# Sets that the tables are about; the set of many tools stands by itself.
SINGLE = ("tools", "cases", "suite")

# What docs and specification promise, in microseconds: (vocabulary, row) -> the most.
GOALS = {
    ("128k", "mask, mean"): 20, ("128k", "mask, p99"): 150, ("128k", "mask, max"): 5_000,
    ("49k", "mask, mean"): 10, ("49k", "mask, p99"): 80, ("49k", "mask, max"): 2_000,
    ("128k", "check, mean"): 1, ("49k", "check, mean"): 1,
    ("128k", "first mask, p50"): 500, ("128k", "first mask, p99"): 10_000,
    ("128k", "first mask, max"): 30_000, ("49k", "first mask, p50"): 500,
    ("49k", "first mask, p99"): 10_000, ("49k", "first mask, max"): 30_000,
    ("128k", "128 tools, first mask"): 50_000, ("49k", "128 tools, first mask"): 50_000,
}

HEAD = """# Constraints beside other engines

Written by `./dev bench constrain`. Every engine gets the same schemas, vocabularies and texts, cut
into the same tokens (the longest match first), one engine after the other in one run, one thread
each.

- **First mask**: from the schema's text to the first mask. Each schema is new to the process; what
  depends on the vocabulary alone has been prepared before.
- **Mask**: all tokens that may come next, at every place of every valid text. Caches work as they
  do in use: a place that was met before may be answered from one. "Built" are Zerohop's masks that
  were not.
- **Check**: whether one token may come next, and going on behind it, without any mask. Zerohop's
  includes that the document can still be closed within the tokens that are left.
- Times are processor time of the thread, except the percentiles of checks, which are shorter than
  that clock's step (steady clock; the mean is processor time). What reading the clocks costs is
  taken away, and for engines that are driven through Python an empty call.
- **Right**: texts accepted or refused as they should be. Verdicts are those of the suite and of
  `tests/cases`; for random texts those of the validator of the end-to-end tests (the Python package
  `jsonschema` with exact numbers and with formats written after their RFCs); where a schema has a
  format that it does not know they are left out. Keys of texts stand in the order in which the
  schema declares them first, as all engines want it; where a schema declares names in several
  places that is not always the order that an engine generates in, and such texts count as wrongly
  refused. **Lost** are schemas at which an engine crashed, raised an exception that is no refusal,
  or took more than 20 s.
- XGrammar runs with open objects and any white space (`strict_mode=False`), which is what the
  schemas say; llguidance with its slices for JSON. Of XGrammar's Python package the parts for torch
  are left out: bitmasks are numpy arrays.
- Schemas: functions of the Berkeley function-calling leaderboard (`tools`), this project's own
  cases, and every third group of JSON-Schema-Test-Suite's draft 2020-12 without remote references.
  Texts: the leaderboard's answers, the suite's instances, for each schema the shortest text and
  three random ones, and changed copies of those, which are mostly wrong.
"""


def percentile(values, share):
    """The value below which `share` of `values` lie; 0 of none."""
    if not values:
        return 0
    ordered = sorted(values)
    return ordered[int(share * (len(ordered) - 1) + 0.5)]


def mean(values):
    return sum(values) / len(values) if values else 0


def number(value):
    """Three digits that say something."""
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def gather(rows, key):
    """All values of a list that each row has."""
    return [value for row in rows for value in row.get(key, [])]


def micro(rows):
    """{row of the table: microseconds} of one engine's results."""
    single = [row for row in rows if row.get("set") in SINGLE and row["outcome"] == "ok"]
    many = [row for row in rows if row.get("set") == "many" and row["outcome"] == "ok"]
    masks = gather(single, "masks_ns")
    built = gather(single, "built_ns")
    checks = gather(single, "checks_ns")
    first = [row["first_mask_ns"] for row in single]
    found = {"mask, mean": mean(masks)}
    for name, share in (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("max", 1)):
        found[f"mask, {name}"] = percentile(masks, share)
    if built:
        found["mask that was built, mean"] = mean(built)
        found["mask that was built, p99"] = percentile(built, 0.99)
    if checks:
        found["check, mean"] = sum(row["checks_cpu_ns"] for row in single) / len(checks)
        found["check, p50"] = percentile(checks, 0.5)
        found["check, p99"] = percentile(checks, 0.99)
    for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1)):
        found[f"first mask, {name}"] = percentile(first, share)
    if many:
        found["128 tools, first mask"] = many[0]["first_mask_ns"]
        found["128 tools, mask, mean"] = mean(many[0]["masks_ns"])
        found["128 tools, mask, max"] = max(many[0]["masks_ns"])
    return {name: value / 1000 for name, value in found.items()}


def summary(rows):
    """What an engine says of its whole run."""
    return next((row for row in rows if "engine" in row), {})


def counts(rows, sets):
    """{what: number} over schemas and texts."""
    chosen = [row for row in rows if row.get("set") in sets]
    found = {"schemas": len(chosen)}
    for outcome in ("refused", "lost"):
        found[outcome] = sum(row["outcome"] == outcome for row in chosen)
    for verdict in ("right", "wrongly_accepted", "wrongly_rejected"):
        found[verdict] = sum(row.get(verdict, 0) for row in chosen)
    return found


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" + "|--:" * (len(head) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def goal(vocabulary, name, own):
    most = GOALS.get((vocabulary, name))
    if most is None:
        return ""
    return f"≤ {most:,}: " + ("reached" if own.get(name, 0) <= most else "**missed**")


def times(vocabulary, engines):
    found = {engine: micro(rows) for engine, rows in engines.items()}
    own = found["zerohop"]
    names = list(own) + [name for each in found.values() for name in each if name not in own]
    rows = []
    for name in dict.fromkeys(names):
        values = [number(found[engine][name]) if name in found[engine] else "–"
                  for engine in found]
        rows.append([name, *values, goal(vocabulary, name, own)])
    return table(["µs", *(NAMES[engine] for engine in found), "goal"], rows)


def verdicts(engines):
    rows = []
    for sets in (*((name,) for name in SINGLE), ("many",)):
        for engine, results in engines.items():
            found = counts(results, sets)
            rows.append([sets[0], NAMES[engine], *(f"{found[key]:,}" for key in (
                "schemas", "refused", "lost", "right", "wrongly_accepted", "wrongly_rejected"))])
    return table(["set", "engine", "schemas", "refused", "lost", "texts right", "wrongly accepted",
                  "wrongly refused"], rows)


def memory(engines):
    rows = []
    for engine, results in engines.items():
        found = summary(results)
        rows.append([NAMES[engine], number(found.get("prepare_ns", 0) / 1e6),
                     number(found.get("prepared_kib", 0) / 1024),
                     number(found.get("peak_kib", 0) / 1024),
                     number(found.get("total_ns", 0) / 1e9)])
    return table(["engine", "prepared in ms", "MiB behind that", "MiB at most", "whole run, s"],
                 rows)


def own_notes(rows):
    """What only this engine's results say."""
    found = summary(rows)
    kept = [row["machine_bytes"] for row in rows if row.get("machine_bytes")]
    odd = sum(row.get("disagreements", 0) for row in rows)
    slow = max((row for row in rows if row.get("masks_ns")), key=lambda row: max(row["masks_ns"]))
    return [f"The trie of the vocabulary takes {found['trie_bytes'] / 2**20:.1f} MiB and "
            f"{found['trie_ns'] / 1e6:.0f} ms, once at start. A machine takes "
            f"{mean(kept) / 1024:,.0f} KiB behind all texts of a schema on average, "
            f"{max(kept) / 1024:,.0f} KiB at most.",
            f"Places at which the mask and the check of the next token disagree: {odd}.",
            f"The slowest mask: `{slow['name']}` ({slow['set']})."]


def value_of(path, key):
    """The first line of a file that begins with `key`, behind its separator."""
    try:
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            if line.startswith(key):
                return line.split(":" if ":" in line else "=", 1)[1].strip().strip('"')
    except OSError:
        pass
    return "unknown"


def machine():
    memory_kib = value_of("/proc/meminfo", "MemTotal").split(" ", maxsplit=1)[0]
    gib = round(int(memory_kib) / 2**20) if memory_kib.isdigit() else 0
    return (f"{value_of('/proc/cpuinfo', 'model name')}, {gib} GiB, "
            f"{value_of('/etc/os-release', 'PRETTY_NAME')}, Python {platform.python_version()}")


def versions(engines):
    return ", ".join(f"{NAMES[engine]} {summary(rows).get('version', '')}".strip()
                     for engine, rows in engines.items() if engine != "zerohop")


def page(found, compiler=""):
    """The text of the page; `found`: {vocabulary: {engine: rows}}."""
    lines = [HEAD, f"- machine: {machine()}{compiler}"]
    lines.append(f"- engines: {versions(next(iter(found.values())))}\n")
    for name, engines in found.items():
        size = {"128k": "128,000 tokens of Llama 3, width 128,256",
                "49k": "the default model's, 49,152 tokens"}.get(name, name)
        lines += [f"## The {name} vocabulary\n", f"{size}.\n", times(name, engines)]
        lines += [note + "\n" for note in own_notes(engines["zerohop"])]
        lines += [memory(engines), verdicts(engines)]
    return "\n".join(lines)
