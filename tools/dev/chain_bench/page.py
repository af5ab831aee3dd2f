"""The page docs/measurements/chain_bench.md: what each scenario found, side beside side."""
from dataclasses import dataclass, field

from dev.chain_bench import figures, plot
from dev.chain_bench.sides import FAKE_NAMES, NAMES
from dev.measurement_page import put_section

OURS, CHAIN = "zerohop", "litellm"
P95_GOAL = 0.5
SLOPE_GOAL = 0.1
FIXED_GOAL_MS = 0.5
POLICY_GOALS_US = {"cost p50": 50, "cost p99": 200}
# The chain has begun to queue where its p95 is so many times that of the lowest rate.
QUEUEING = 1.5

# (case, milliseconds before and after in the text that this project began with)
CLASSIC = {"single": ("single request, short", 312, 298),
           "long": ("single request, long (64k scaled to the window)", 1240, 487),
           "hundred": ("100 requests a second, mixed (model without weights), p95", 842, 197),
           "mixed": ("the whole layer: mixed load where the chain queues, p95", 840, 112)}


@dataclass
class Row:
    key: str
    label: str
    unit: str = ""


@dataclass
class Section:
    """How a scenario is told."""
    text: str
    rows: list = field(default_factory=list)
    notes: str = ""


def values(results, key):
    """What the rounds say of `key`."""
    return [result.get(key) for result in results if result]


def table(head, lines):
    return "\n".join(["| " + " | ".join(head) + " |", "|---" * len(head) + "|",
                      *("| " + " | ".join(line) + " |" for line in lines)])


def comparison(found, rows, names):
    """One column for each side, and our median as a share of the chain's."""
    sides = [name for name in names if name in found]
    both = OURS in found and CHAIN in found
    head = ["", *(names[side] for side in sides), *(["ratio to LiteLLM"] if both else [])]
    lines = []
    for row in rows:
        cells = [figures.spread(values(found[side], row.key), row.unit) for side in sides]
        if both:
            share = figures.ratio(figures.median(values(found[OURS], row.key)),
                                  figures.median(values(found[CHAIN], row.key)))
            cells.append("–" if share is None else figures.digits(share))
        lines.append([row.label, *cells])
    return table(head, lines)


def rounds_text(found):
    counts = {len(results) for results in found.values()}
    many = max(counts)
    if many == 1:
        return "One round."
    others = "" if len(counts) == 1 else f" ({min(counts)} of the sides beside them)"
    return f"Medians of {many} rounds{others}, and the range."


def simple(section, found, names=None):
    """The text of a section that is one table."""
    parts = [f"{section.text} {rounds_text(found)}",
             comparison(found, section.rows, names or NAMES)]
    return "\n\n".join(parts + ([section.notes] if section.notes else []))


# ---- The mixed load ----

def by_rate(results, key):
    """{share of the capacity: values over the rounds}."""
    found = {}
    for result in results:
        for share, cell in result["rates"].items():
            found.setdefault(share, []).append(cell[key])
    return found


def offered(found):
    """{share: requests a second} as they were sent."""
    return {share: figures.median(rates)
            for share, rates in by_rate(next(iter(found.values())), "offered").items()}


def queueing_share(chain):
    """The lowest rate at which the chain queues; the highest when it never does."""
    middle = {share: figures.median(cells) for share, cells in by_rate(chain, "p95").items()}
    first = middle[min(middle)]
    return next((share for share in sorted(middle) if middle[share] > QUEUEING * first),
                max(middle))


def growth(results, rates):
    """Milliseconds of p99 for each added request a second, over all rates: of each round."""
    return [figures.slope([(rates[share], cell["p99"]) for share, cell in result["rates"].items()])
            for result in results]


def mixed_section(section, found, capacity):
    sides = [name for name in NAMES if name in found]
    rates = offered(found)
    lines = []
    for share in sorted(rates):
        for key, label in (("p50", "p50"), ("p95", "p95"), ("p99", "p99"),
                           ("first95", "first text, p95")):
            cells = [figures.spread(by_rate(found[side], key)[share], "ms") for side in sides]
            lines.append([f"{figures.digits(rates[share])} requests/s, {label}", *cells])
        failed = [sum(by_rate(found[side], "failed")[share]) for side in sides]
        if any(failed):
            lines.append([f"{figures.digits(rates[share])} requests/s, not answered",
                          *map(str, failed)])
    late = max(cell["late"] for results in found.values() for result in results
               for cell in result["rates"].values())
    parts = [f"{section.text} {rounds_text(found)} LiteLLM in front of llama-server answers "
             f"{figures.digits(capacity)} such requests a second when all its places are taken; "
             "the rates are shares of that.",
             table(["", *(NAMES[side] for side in sides)], lines),
             goals_of_mixed(found, rates, sides),
             f"The generator sent no request later than {figures.digits(late)} ms behind its time.",
             "![total time by load](chain_mixed.svg)"]
    return "\n\n".join(parts)


def goals_of_mixed(found, rates, sides):
    lines = []
    slopes = {side: growth(found[side], rates) for side in sides}
    met = {"p95": None, "slope": None}
    where = "–"
    if OURS in found and CHAIN in found:
        share = queueing_share(found[CHAIN])
        where = figures.digits(rates[share])
        middle = {side: figures.median(by_rate(found[side], "p95")[share])
                  for side in (OURS, CHAIN)}
        met["p95"] = middle[OURS] <= P95_GOAL * middle[CHAIN]
        met["slope"] = (figures.median(slopes[OURS])
                        <= SLOPE_GOAL * figures.median(slopes[CHAIN]))
        cells = [figures.spread(by_rate(found[side], "p95")[share], "ms") for side in sides]
        lines.append([f"p95 at {where} requests/s, where LiteLLM begins to queue", *cells,
                      figures.digits(middle[OURS] / middle[CHAIN]),
                      figures.verdict(met["p95"], f"≤ {P95_GOAL}")])
        lines.append(["growth of p99 for each added request/s",
                      *(figures.spread(slopes[side], "ms") for side in sides),
                      figures.digits(figures.ratio(figures.median(slopes[OURS]),
                                                   figures.median(slopes[CHAIN])) or 0),
                      figures.verdict(met["slope"], f"≤ {SLOPE_GOAL}")])
    if not lines:
        return ""
    return table(["", *(NAMES[side] for side in sides), "ratio to LiteLLM", "goal"], lines)


def mixed_chart(found):
    rates = offered(found)
    lines = []
    for side in NAMES:
        if side not in found:
            continue
        for key, dashes in (("p95", ""), ("p99", "5,4")):
            cells = by_rate(found[side], key)
            points = [(rates[share], figures.median(cells[share]) / 1e3,
                       min(cells[share]) / 1e3, max(cells[share]) / 1e3)
                      for share in sorted(cells)]
            lines.append(plot.Line(side, f"{NAMES[side].split(' ')[0]} {key}", points, dashes))
    return plot.svg(plot.Chart("Mixed open-loop load: total time of a request",
                               "requests a second", "seconds", lines))


# ---- Fixed cost, policy, the classic four ----

def fixed_section(section, found):
    text = simple(section, found, FAKE_NAMES)
    if OURS not in found:
        return text
    middle = figures.median(values(found[OURS], "p50"))
    return text + (f"\n\nFixed cost of a request of this server, p50: {figures.digits(middle)} ms, "
                   + figures.verdict(middle <= FIXED_GOAL_MS, f"goal ≤ {FIXED_GOAL_MS} ms") + ".")


def policy_section(section, results):
    lines = []
    for row in section.rows:
        got = values(results, row.key)
        goal = POLICY_GOALS_US.get(row.key)
        lines.append([row.label, figures.spread(got, row.unit),
                      figures.verdict(figures.median(got) <= goal, f"≤ {goal} µs") if goal else ""])
    return (f"{section.text} {rounds_text({'': results})}\n\n"
            + table(["", "figure", "goal"], lines))


def classic_values(found):
    """{case: {side: values}} of what was measured."""
    cases = {}
    for case, key in (("single", "total"), ("long", "total"), ("hundred", "p95")):
        if case in found:
            cases[case] = {side: values(results, key) for side, results in found[case].items()}
    if CHAIN in found.get("mixed", {}):
        share = queueing_share(found["mixed"][CHAIN])
        cases["mixed"] = {side: by_rate(results, "p95")[share]
                          for side, results in found["mixed"].items()}
    return cases


def classic_section(section, found):
    lines = []
    for case, by_side in classic_values(found).items():
        label, before, after = CLASSIC[case]
        middle = {side: figures.median(by_side.get(side, [])) for side in (CHAIN, OURS)}
        share = figures.ratio(middle[OURS], middle[CHAIN])
        lines.append([label, f"{before:,} → {after:,} ms", figures.digits(after / before),
                      figures.spread(by_side.get(CHAIN, []), "ms"),
                      figures.spread(by_side.get(OURS, []), "ms"),
                      "–" if share is None else figures.digits(share)])
    return section.text + "\n\n" + table(
        ["case", "the source text", "its ratio", NAMES[CHAIN], NAMES[OURS], "ratio"], lines)


# ---- Memory, processor, system calls, the ceiling ----

def use_section(found):
    """What the processes of each side used while eight streams ran."""
    lines = []
    for side in NAMES:
        if side not in found:
            continue
        for process in processes_of(found[side]):
            got = [values(found[side], f"{kind} {process}")
                   for kind in ("memory", "cpu", "outside")]
            lines.append([NAMES[side], process, figures.spread(got[0], "MiB"),
                          figures.spread(got[1]),
                          figures.spread([value * 100 for value in got[2]], "%")])
    return ("While the 8 streams ran: peak of the resident memory (model and cells included), "
            "cores that were kept busy, and what the threads beside ggml's took of the machine. "
            "The thread that drives ggml counts as one of ggml's, so the engine's own work between "
            f"two steps is not in the last column. {rounds_text(found)}\n\n"
            + table(["side", "process", "memory", "cores", "outside ggml"], lines))


def processes_of(results):
    return [key.partition(" ")[2] for key in results[0] if key.startswith("memory ")]


TRACED_ROWS = (Row("calls", "system calls for a whole answer of one token, all processes"),
               Row("into", "bytes that came into a process, for each byte of a large body"),
               Row("out of", "bytes that left a process, for each byte of a large body"))


def traced_section(found):
    return ("strace on every thread of every process of a side, the model without weights, one "
            "warm connection. A byte of a body that comes into a process has been copied by the "
            "kernel once; copies inside a process are not seen. " + rounds_text(found)
            + "\n\n" + comparison(found, TRACED_ROWS, FAKE_NAMES))


def bare_section(bare, found):
    """libllama with nothing around it, beside what came of the same through the servers."""
    head = ["", *(f"libllama, file {name}" for name, _ in bare), NAMES[OURS],
            NAMES["llama-server"]]
    rows = [("single short, ms", lambda figure: figure["single"] * 1e3, "single", "total"),
            ("single long, ms", lambda figure: figure["long"] * 1e3, "long", "total"),
            ("8 streams, tokens/s", lambda figure: figure["rates"]["8"], "streams8", "rate"),
            ("16 streams, tokens/s", lambda figure: figure["rates"]["16"], "streams16", "rate")]
    lines = []
    for label, read, scenario, key in rows:
        cells = [figures.digits(read(figure)) for _, figure in bare]
        for side in (OURS, "llama-server"):
            middle = figures.median(values(found.get(scenario, {}).get(side, []), key))
            cells.append("–" if middle is None else figures.digits(middle))
        lines.append([label, *cells])
    return ("libllama called directly with the same threads and cells, nothing around it: the "
            "prompt and then the answer of one request; decoding alone of streams (the servers' "
            "figures have the prompts and 8 places in them). The file as it is is what "
            "llama-server runs, the prepared one what this server does.\n\n" + table(head, lines))


# ---- The page ----

def write(page, head, sections):
    """The head anew, `sections` ({name: text}) in place of those of their names, others kept."""
    old = page.read_text(encoding="utf-8") if page.exists() else ""
    kept = old.find("\n## ")
    page.write_text(head.rstrip() + "\n" + (old[kept:] if kept >= 0 else ""), encoding="utf-8")
    for name, text in sections.items():
        put_section(page, name, text)
