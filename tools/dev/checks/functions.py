"""Finds the functions of a C++ file and their lengths by counting braces.

No parser: a block is a function when it stands in a namespace or a class and what precedes its
brace has a parameter list. Lambdas and blocks inside a function belong to it.
"""
import re
from dataclasses import dataclass

from dev.checks.cpp_text import blank

TYPE = re.compile(r"\b(class|struct|union|enum)\b(?![^(]*\()")
NAMESPACE = re.compile(r"\bnamespace\b|^\s*extern\s+\"")
# `Name(...) : member_` in front of a brace that opens a member's initialiser, not the body.
MEMBER_INITIALISER = re.compile(r"\)[^;{}]*[^:]:(?!:)(?:[^;]*[,\s])?\s*[\w:<>]+\s*$")
NAME = re.compile(
    r"((?:[\w:]|<[^<>()]*>)*\boperator\s*(?:\(\s*\)|[^(]+?)|(?:[\w:~]|<[^<>()]*>)*[\w~])\s*\(")
TEST = re.compile(r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST)\s*\(\s*(\w+)\s*,\s*(\w+)")
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)


@dataclass(frozen=True)
class Function:
    name: str
    line: int
    lines: int


def functions(text):
    """Every function with a body, in order."""
    code = PREPROCESSOR.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), blank(text))
    found = []
    stack = []   # kinds of the open braces
    header = 0   # where the text that belongs to the next brace begins
    for match in re.finditer(r"[{};]|\b(?:public|private|protected)\s*:", code):
        mark = match.group()
        if mark == "{":
            kind = classify(code[header:match.start()], stack[-1][0] if stack else "namespace")
            stack.append((kind, header))
            if kind != "initialiser":
                header = match.end()
        elif mark == "}":
            kind, start = stack.pop() if stack else ("other", header)
            if kind == "function":
                found.append(describe(code, start, match.end()))
            if kind != "initialiser":
                header = match.end()
        elif not (stack and stack[-1][0] == "initialiser"):
            header = match.end()
    return found


def classify(header, outer):
    if outer not in ("namespace", "type"):
        return "initialiser" if outer == "initialiser" else "other"
    if NAMESPACE.search(header):
        return "namespace"
    if MEMBER_INITIALISER.search(header):
        return "initialiser"
    if TYPE.search(header):
        return "type"
    if "(" in header and not header.rstrip().endswith(("=", ",")):
        return "function"
    return "other"


def describe(code, start, end):
    start += len(code[start:end]) - len(code[start:end].lstrip())
    text = code[start:end]
    first = code.count("\n", 0, start) + 1
    test = TEST.match(text)
    name = NAME.search(text)
    if test:
        title = f"{test.group(1)}.{test.group(2)}"
    else:
        title = re.sub(r"\s+", " ", name.group(1)).strip() if name else "?"
    return Function(title, first, text.count("\n") + 1)
