"""A small language for shapes of JSON values.

A shape is a function (value, path) that raises Misfit. Objects are closed: a key that the shape
does not name is a misfit too, since clients with strict readers fail on it.
"""
import re


class Misfit(Exception):
    """A value does not have its shape."""


def fail(path, text):
    raise Misfit(f"{path}: {text}")


def kind(name, *types):
    def check(value, path):
        if not isinstance(value, types) or isinstance(value, bool) and bool not in types:
            fail(path, f"{value!r:.80} is no {name}")
    return check


TEXT = kind("string", str)
INTEGER = kind("integer", int)
NUMBER = kind("number", int, float)
BOOLEAN = kind("boolean", bool)
NULL = kind("null", type(None))
ANY_OBJECT = kind("object", dict)


def anything(_value, _path):
    """Whatever the client itself has sent or asked for."""


def count(value, path):
    INTEGER(value, path)
    if value < 0:
        fail(path, f"{value} is negative")


def nonempty(value, path):
    TEXT(value, path)
    if not value:
        fail(path, "an empty string")


def only(*values):
    """One of these values and no other."""
    def check(value, path):
        if not any(type(value) is type(each) and value == each for each in values):
            fail(path, f"{value!r:.80} is none of {values}")
    return check


def match(pattern):
    compiled = re.compile(pattern)

    def check(value, path):
        TEXT(value, path)
        if not compiled.fullmatch(value):
            fail(path, f"{value!r:.80} is not of the form {pattern}")
    return check


def either(*shapes):
    """The first of the shapes that fits; the last one's complaint if none does."""
    def check(value, path):
        for shape in shapes[:-1]:
            try:
                shape(value, path)
                return
            except Misfit:
                continue
        shapes[-1](value, path)
    return check


def nullable(shape):
    return either(NULL, shape)


def each(shape):
    """An array of values of that shape."""
    def check(value, path):
        if not isinstance(value, list):
            fail(path, f"{value!r:.80} is no array")
        for index, item in enumerate(value):
            shape(item, f"{path}[{index}]")
    return check


def table(shape):
    """An object of any keys with values of that shape."""
    def check(value, path):
        ANY_OBJECT(value, path)
        for key, item in value.items():
            shape(item, f"{path}.{key}")
    return check


def record(required, optional=None):
    """An object with these keys."""
    optional = optional or {}

    def check(value, path):
        ANY_OBJECT(value, path)
        missing = [key for key in required if key not in value]
        if missing:
            fail(path, f"lacks {', '.join(missing)}")
        for key, item in value.items():
            shape = required.get(key) or optional.get(key)
            if shape is None:
                fail(path, f"has the unknown key {key!r}")
            shape(item, f"{path}.{key}")
    return check


def tagged(key, shapes):
    """An object whose member `key` says which of the shapes ({value: shape}) it has."""
    def check(value, path):
        ANY_OBJECT(value, path)
        name = value.get(key)
        if name not in shapes:
            fail(path, f"{key} {name!r} is none of {sorted(shapes)}")
        shapes[name](value, path)
    return check
