"""The families of docs/METRICS.md, and the names that a PromQL expression mentions.

The reader of expressions is no parser (promtool is); it tells names of series, labels and functions
apart, and takes any text that promtool accepts.
"""
import re
from dataclasses import dataclass

from support.programs import ROOT

METRICS = ROOT / "docs/METRICS.md"
ROW = re.compile(r"\| `([a-z0-9_]+)` \| (counter|gauge|histogram) \| [^|]* \| ([^|]*) \|")
EVERYWHERE = {"instance_id", "pool", "instance", "job"}  # ours, and what Prometheus adds

STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`[^`]*`')
SELECTOR = re.compile(r"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)?\s*\{(?P<labels>[^{}]*)\}")
LABEL = re.compile(r"([a-zA-Z_][a-zA-Z0-9_]*)\s*(?:=~|!~|!=|=)")
LISTED = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^()]*)\)")
WORD = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*(?!\w)")
KEYWORDS = {"and", "or", "unless", "bool", "offset", "by", "without", "on", "ignoring",
            "group_left", "group_right", "inf", "nan", "start", "end"}


@dataclass(frozen=True)
class Mentions:
    """What an expression names."""
    series: frozenset
    labels: dict  # name of a series → labels in its braces
    listed: frozenset  # labels in by (…), on (…) and their like


def families():
    """{family: (kind, labels)}"""
    found = {}
    for name, kind, labels in ROW.findall(METRICS.read_text(encoding="utf-8")):
        found[name] = (kind, set(re.findall(r"`([a-z0-9_]+)`", labels)))
    return found


def family_of(series, known):
    """The family of a series' name, and the labels that it has; None for a stranger."""
    if series in known and known[series][0] != "histogram":
        return series, known[series][1] | EVERYWHERE
    for suffix, more in (("_bucket", {"le"}), ("_sum", set()), ("_count", set())):
        base = series.removesuffix(suffix)
        if base != series and known.get(base, ("",))[0] == "histogram":
            return base, known[base][1] | EVERYWHERE | more
    return None


def mentions(expression):
    text = STRING.sub('""', expression)
    labels = {}
    for match in SELECTOR.finditer(text):
        names = set(LABEL.findall(match["labels"]))
        labels.setdefault(match["name"], set()).update(names)
    text = SELECTOR.sub(lambda match: f" {match['name'] or ''} ", text)
    listed = {name.strip() for group in LISTED.findall(text) for name in group.split(",")}
    text = LISTED.sub(" ", text)
    text = re.sub(r"\[[^\]]*\]", " ", text)
    series = set()
    for match in WORD.finditer(text):
        before = text[match.start() - 1] if match.start() else " "
        called = text[match.end():].lstrip().startswith("(")
        number = before.isdigit() or before == "."  # the unit of 5m, the e of 1e3
        if not called and not number and match.group().lower() not in KEYWORDS:
            series.add(match.group())
    # `sum by (x) (…)`: the aggregation stands before a list that was cut out.
    series -= {"sum", "max", "min", "avg", "count", "group", "topk", "bottomk", "quantile",
               "stddev", "stdvar", "count_values"}
    return Mentions(frozenset(series), labels, frozenset(listed - {""}))


def complaints(expression, known, recorded):
    """What an expression mentions that neither the table nor a recording rule has."""
    said = mentions(expression)
    every = set()
    found = []
    for series in sorted(said.series):
        if series in recorded or series == "up":
            every |= recorded.get(series, set()) | EVERYWHERE
            continue
        family = family_of(series, known)
        if family is None:
            found.append(f"no such metric: {series}")
            continue
        every |= family[1]
        for label in sorted(said.labels.get(series, set()) - family[1]):
            found.append(f"{family[0]} has no label {label}")
    found += [f"no series here has a label {label}" for label in sorted(said.listed - every)]
    return found
