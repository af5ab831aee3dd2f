"""The rank rule on include lines: a folder under src/ includes only folders of lower rank, and
where src/RANKS names what a folder may use of rank 3, nothing else of that rank."""
import re
from dataclasses import dataclass

from dev.checks.cpp_text import includes
from dev.checks.finding import Finding

NARROWED_RANK = 3
LINE = re.compile(r"^(\d+) ([a-z_]+)(?:: ([a-z_ ]+))?$")


@dataclass(frozen=True)
class Folder:
    rank: int
    allowed: frozenset  # of rank 3; empty for all


def read_ranks(text):
    ranks = {}
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            names = frozenset((match.group(3) or "").split())
            ranks[match.group(2)] = Folder(int(match.group(1)), names)
    return ranks


def fault(ranks, folder, other):
    """Why `folder` must not include `other`; empty when it may."""
    if folder == other:
        return ""
    if other not in ranks:
        return f"src/RANKS does not know the folder {other}"
    mine, theirs = ranks[folder], ranks[other]
    if theirs.rank >= mine.rank:
        return (f"{folder} (rank {mine.rank}) may not include {other} (rank {theirs.rank}); "
                "only lower ranks")
    if mine.allowed and theirs.rank == NARROWED_RANK and other not in mine.allowed:
        names = ", ".join(sorted(mine.allowed))
        return f"{folder} may include of rank {NARROWED_RANK} only {names}"
    return ""


def check(files, ranks_text):
    """Findings for the sources among `files` ({path: text})."""
    ranks = read_ranks(ranks_text)
    findings = []
    for path, text in files.items():
        parts = path.split("/")
        if parts[0] != "src" or not path.endswith((".h", ".cc")):
            continue
        if len(parts) != 3 or parts[1] not in ranks:
            findings.append(Finding(path, 1, "stands in no folder that src/RANKS knows"))
            continue
        for line, name, quoted in includes(text):
            if quoted:
                findings += check_include(Place(path, line), name, ranks, files)
    return findings


@dataclass(frozen=True)
class Place:
    path: str
    line: int


def check_include(place, name, ranks, files):
    folder = place.path.split("/")[1]
    if "/" not in name:
        if f"src/{folder}/{name}" not in files:
            return []  # an outside header
        return [Finding(place.path, place.line, f'name "{name}" from src/ on: "{folder}/{name}"')]
    reason = fault(ranks, folder, name.split("/")[0])
    if not reason and f"src/{name}" not in files:
        reason = f"there is no src/{name}"
    return [Finding(place.path, place.line, reason)] if reason else []
