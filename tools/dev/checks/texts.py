"""Rules on texts of every kind: width, titles, left-over words, size, and headers nobody uses."""
import re
import unicodedata

from dev.checks.cpp_text import includes
from dev.checks.finding import Finding

COLUMNS_MAX = 100
FILE_BYTES_MAX = 1_000_000
CODE = re.compile(r"\.(h|cc|py|cmake)$|(^|/)CMakeLists\.txt$|^dev$")

# Written so that the rules do not find themselves.
LEFT_OVER = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
REGISTRIES = re.compile(
    r"registry[.]npmjs|pypi[.]org|python[h]osted|crates[.]io/api|deb[.]debian[.]org|"
    r"repo1?[.]maven|proxy[.]golang|/(?:work|root|tmp/bash_jobs)/")


def check(files):
    """Findings for `files` ({path: text})."""
    findings = []
    for path, text in files.items():
        if not path.startswith("tests/corpus/"):
            findings += check_lines(path, text)
        if path.endswith(".md"):
            findings += check_titles(path, text)
        if path.endswith(".h") and not re.search(r"^#pragma once$", text, re.MULTILINE):
            findings.append(Finding(path, 1, "headers begin with #pragma once, not with guards"))
    return findings + list(orphan_headers(files))


def check_lines(path, text):
    code = CODE.search(path) is not None
    for number, line in enumerate(text.splitlines(), 1):
        if code and width(line) > COLUMNS_MAX and "http" not in line and "sha512-" not in line:
            yield Finding(path, number, f"{width(line)} columns; at most {COLUMNS_MAX}")
        for pattern, message in ((LEFT_OVER, "unfinished work is no comment; finish or remove it"),
                                 (REGISTRIES, "a host or path that depends on the machine")):
            match = pattern.search(line)
            if match:
                yield Finding(path, number, f"{match.group()}: {message}")
        if code and line != line.rstrip():
            yield Finding(path, number, "white space at the end")


def width(line):
    """Columns on a screen: wide characters count twice, combining ones not at all."""
    if line.isascii():
        return len(line)
    return sum(columns(character) for character in line)


def columns(character):
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def check_titles(path, text):
    inside_code = False
    titles = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            inside_code = not inside_code
        elif line.startswith("# ") and not inside_code:
            titles.append(number)
    if len(titles) != 1:
        line = titles[1] if len(titles) > 1 else 1
        yield Finding(path, line, f"{len(titles)} titles of the first level; exactly one")


def orphan_headers(files):
    """Headers under src/ that nothing includes are not part of the program."""
    used = set()
    for path, text in files.items():
        if path.endswith((".h", ".cc")):
            used |= {f"src/{name}" for _, name, quoted in includes(text)
                     if quoted and f"src/{name}" != path}
    for path in files:
        if path.startswith("src/") and path.endswith(".h") and path not in used:
            yield Finding(path, 1, "no file includes this header")


def check_bytes(sizes):
    """Findings for `sizes` ({path: bytes})."""
    return [Finding(path, 1, f"{size} bytes; at most {FILE_BYTES_MAX}")
            for path, size in sizes.items() if size > FILE_BYTES_MAX]
