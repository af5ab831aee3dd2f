"""C++ source with comments and literals blanked out, so that a search finds code alone.

Every character keeps its offset and line; what is blanked becomes a space.
"""
import re

# In the order in which they must be tried. A digit separator (1'000) is not a character literal.
TOKEN = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z))
      | (?P<raw>R"(?P<tag>[^()\s\\]{0,16})\(.*?(?:\)(?P=tag)"|\Z))
      | (?P<number>(?<![\w.])\d(?:[\w.]|'(?=\w))*)
      | (?P<string>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)
    """, re.DOTALL | re.VERBOSE)

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)


def blank(text):
    """`text` without comments and without what stands inside literals."""
    return TOKEN.sub(_replace_all, text)


def without_comments(text):
    return TOKEN.sub(_replace_comment, text)


def includes(text):
    """(line, path, True when in quotes) of every include."""
    code = without_comments(text)
    for match in INCLUDE.finditer(code):
        yield line_of(code, match.start(1)), match.group(2), match.group(1) == '"'


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def _spaces(part):
    return re.sub(r"[^\n]", " ", part)


def _replace_all(match):
    part = match.group()
    if match.lastgroup == "number":
        return part
    if match.lastgroup == "comment":
        return _spaces(part)
    return part[0] + _spaces(part[1:-1]) + part[-1] if len(part) > 1 else part


def _replace_comment(match):
    return _spaces(match.group()) if match.lastgroup == "comment" else match.group()
