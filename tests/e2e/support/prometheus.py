"""A strict reader of the Prometheus text format."""
import re
from dataclasses import dataclass, field

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{((?:{LABEL})(?:,{LABEL})*)?\}})? (\S+)(?: -?\d+)?")
COMMENT = re.compile(rf"# (HELP|TYPE) ({NAME}) (.*)")
KINDS = {"counter", "gauge", "histogram", "summary", "untyped"}


@dataclass
class Metrics:
    """A scrape: kinds by family and values by series."""
    kinds: dict = field(default_factory=dict)
    helped: set = field(default_factory=set)
    samples: dict = field(default_factory=dict)  # (name, frozenset of label pairs) → value

    def value(self, name, **labels):
        """The sum over all series of `name` that carry these labels; 0 without one."""
        wanted = set(labels.items())
        return sum(value for (series, pairs), value in self.samples.items()
                   if series == name and wanted <= pairs)

    def family(self, name):
        """The declared family of a sample's name."""
        for suffix in ("_bucket", "_sum", "_count"):
            base = name.removesuffix(suffix)
            if base != name and self.kinds.get(base) == "histogram":
                return base
        return name


def parse_metrics(text):
    """Raises AssertionError on the first line that is not in the format."""
    assert text.endswith("\n"), "the last line has no end"
    metrics = Metrics()
    for line in text.splitlines():
        if not line:
            continue
        if line.startswith("#"):
            read_comment(line, metrics)
        else:
            read_sample(line, metrics)
    check_histograms(metrics)
    return metrics


def read_comment(line, metrics):
    match = COMMENT.fullmatch(line)
    if not match:
        return
    word, name, rest = match.groups()
    if word == "TYPE":
        assert name not in metrics.kinds, f"{name} is declared twice"
        assert rest in KINDS, line
        metrics.kinds[name] = rest
    else:
        metrics.helped.add(name)


def read_sample(line, metrics):
    match = SAMPLE.fullmatch(line)
    assert match, f"not a sample: {line!r}"
    name, labels, number = match.groups()
    assert metrics.family(name) in metrics.kinds, f"{name} has no TYPE before it"
    pairs = re.findall(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"', labels or "")
    assert len(dict(pairs)) == len(pairs), f"a label came twice: {line!r}"
    series = (name, frozenset(pairs))
    assert series not in metrics.samples, f"a series came twice: {line!r}"
    metrics.samples[series] = float(number)


def check_histograms(metrics):
    """Buckets grow with their edge, and the last one holds everything."""
    buckets = {}
    for (name, pairs), value in metrics.samples.items():
        family = metrics.family(name)
        if name == f"{family}_bucket":
            labels = dict(pairs)
            edge = float(labels.pop("le"))
            key = (family, frozenset(labels.items()))
            buckets.setdefault(key, []).append((edge, value))
    for (family, pairs), points in buckets.items():
        points.sort()
        values = [value for _, value in points]
        assert values == sorted(values), f"{family}: buckets shrink"
        assert points[-1][0] == float("inf"), f"{family}: no bucket +Inf"
        count = metrics.samples[(f"{family}_count", pairs)]
        assert points[-1][1] == count, f"{family}: bucket +Inf {points[-1][1]}, count {count}"
        assert (f"{family}_sum", pairs) in metrics.samples, f"{family}: no sum"
