"""Functions fit a screen and files 500 lines. What is longer is listed in ratchet.txt with its
length, may shrink, and may never grow; a line that is not needed any more must go."""
from pathlib import Path

from dev.checks.finding import Finding
from dev.checks.functions import functions

FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 500
RATCHET = "tools/dev/checks/ratchet.txt"


def read_ratchet(text):
    """{key: lines}; a key is `path` or `path:function`."""
    entries = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            key, _, lines = line.rpartition(" ")
            entries[key] = int(lines)
    return entries


def measure(path, text):
    """(key, line, length, limit) of everything that has a limit."""
    if not path.endswith((".h", ".cc", ".py", ".cmake")):
        return
    yield path, 1, text.count("\n"), FILE_LINES_MAX
    if path.endswith((".h", ".cc")):
        for function in functions(text):
            yield f"{path}:{function.name}", function.line, function.lines, FUNCTION_LINES_MAX


def check(files, ratchet):
    """Findings for `files` ({path: text}) under the tolerated lengths in `ratchet`."""
    findings = []
    needed = set()
    for path, text in files.items():
        for key, line, length, limit in measure(path, text):
            if length <= limit:
                continue
            needed.add(key)
            allowed = ratchet.get(key, limit)
            if length > allowed:
                findings.append(Finding(path, line, f"{key} has {length} lines; at most {allowed}"))
            elif length < allowed:
                findings.append(Finding(RATCHET, 1, f"lower the entry of {key} to {length}"))
    for key in sorted(set(ratchet) - needed):
        findings.append(Finding(RATCHET, 1, f"remove the entry of {key}: it fits its limit"))
    return findings


def load_ratchet(root):
    path = Path(root) / RATCHET
    return read_ratchet(path.read_text(encoding="utf-8")) if path.exists() else {}
