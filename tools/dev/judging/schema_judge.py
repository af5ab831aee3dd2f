"""Judges JSON texts by a validator that shares nothing with the server, the package jsonschema,
with numbers in exact decimals and formats written here after their RFCs.

The one home of these verdicts: the end-to-end tests ask it about answers of the server,
`./dev bench constrain` about the texts that all engines are given. It must be imported in an
environment that has jsonschema; `parse` and `write` need nothing.
"""
import decimal
import ipaddress
import json
import re
from decimal import Decimal

# Digits that a remainder may need: numbers of the cases have some tens, exponents some hundreds.
PRECISION = 2_000


class Unfit(Exception):
    """Not one JSON document, or one with a name twice."""


class BadSchema(Exception):
    """The validator does not take the schema."""


# ---- Texts ----

def no_name_twice(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Unfit(f"a name twice among {[name for name, _ in pairs]!r:.200}")
    return members


def no_constant(word):
    raise Unfit(f"{word} is no JSON")


def parse(text):
    """The value of a JSON text, its fractions as Decimal. Raises Unfit."""
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=no_constant,
                          object_pairs_hook=no_name_twice)
    except (ValueError, RecursionError, decimal.InvalidOperation) as fault:
        raise Unfit(f"{type(fault).__name__}: {fault}") from fault


def write(value):
    """The JSON text of a value as `parse` gives it, with all digits."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(json.dumps(name) + ":" + write(member)
                              for name, member in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(write, value)) + "]"
    return json.dumps(value)


# ---- Formats ----

DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?([Zz]|([+-])([0-9]{2}):([0-9]{2}))")
CLOCK = r"T([0-9]+H([0-9]+M([0-9]+S)?)?|[0-9]+M([0-9]+S)?|[0-9]+S)"
DAYS = r"([0-9]+Y([0-9]+M([0-9]+D)?)?|[0-9]+M([0-9]+D)?|[0-9]+D)"
DURATION = re.compile(rf"P([0-9]+W|{DAYS}({CLOCK})?|{CLOCK})")
UUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
LABEL = re.compile(r"[0-9A-Za-z]([0-9A-Za-z-]{0,61}[0-9A-Za-z])?")
ATOM = r"[0-9A-Za-z!#$%&'*+/=?^_`{|}~-]+"
LOCAL = re.compile(rf"{ATOM}(\.{ATOM})*|\"([^\"\\\r\n]|\\.)*\"")
URI = re.compile(r"[A-Za-z][0-9A-Za-z+.-]*:([0-9A-Za-z._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")


def is_date(text):
    found = DATE.fullmatch(text)
    if not found:
        return False
    year, month, day = map(int, found.groups())
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return 1 <= month <= 12 and 1 <= day <= days[month - 1]


def is_time(text):
    found = TIME.fullmatch(text)
    if not found:
        return False
    hour, minute, second = (int(found[i]) for i in (1, 2, 3))
    offset_hour, offset_minute = int(found[7] or 0), int(found[8] or 0)
    if hour > 23 or minute > 59 or offset_hour > 23 or offset_minute > 59:
        return False
    offset = (offset_hour * 60 + offset_minute) * (-1 if found[6] == "-" else 1)
    leap_second = (hour * 60 + minute - offset) % 1440 == 1439
    return second <= (60 if leap_second else 59)


def is_date_time(text):
    return len(text) > 11 and text[10] in "Tt" and is_date(text[:10]) and is_time(text[11:])


def is_address(kind):
    def check(text):
        try:
            return bool(kind(text)) and "%" not in text
        except ValueError:
            return False
    return check


def is_hostname(text):
    return len(text) <= 253 and all(LABEL.fullmatch(label) for label in text.split("."))


def is_email(text):
    local, at, domain = text.rpartition("@")
    if not at or not LOCAL.fullmatch(local):
        return False
    return is_hostname(domain) or (domain.startswith("[") and domain.endswith("]"))


FORMATS = {"date": is_date, "time": is_time, "date-time": is_date_time,
           "duration": DURATION.fullmatch, "uuid": UUID.fullmatch, "hostname": is_hostname,
           "email": is_email, "uri": URI.fullmatch, "ipv4": is_address(ipaddress.IPv4Address),
           "ipv6": is_address(ipaddress.IPv6Address)}


# ---- Schemas ----

def is_number(_checker, value):
    return isinstance(value, (int, Decimal)) and not isinstance(value, bool)


def is_integer(checker, value):
    return is_number(checker, value) and (isinstance(value, int) or value % 1 == 0)


def validator_class(schema):
    """jsonschema's class for the draft that the schema names (2020-12 where it names none)."""
    from jsonschema import Draft202012Validator, validators
    latest = Draft202012Validator
    return validators.validator_for(schema, default=latest) if isinstance(schema, dict) else latest


def make_validator(schema):
    """A validator with exact numbers and the formats above. Raises BadSchema."""
    from jsonschema import FormatChecker, SchemaError, validators
    kind = validator_class(schema)
    try:
        kind.check_schema(json.loads(write(schema)))  # with floats: it knows no Decimal
    except SchemaError as fault:
        raise BadSchema(f"{fault.json_path}: {fault.message}"[:300]) from None
    types = kind.TYPE_CHECKER.redefine_many({"number": is_number, "integer": is_integer})
    formats = FormatChecker(formats=())
    for name, check in FORMATS.items():
        formats.checks(name)(lambda value, check=check:
                             not isinstance(value, str) or bool(check(value)))
    if isinstance(schema, dict):
        # Where a reference leads back to a schema that names its draft, jsonschema goes on with its
        # own class for it, and that one's types.
        schema = {key: value for key, value in schema.items() if key != "$schema"}
    return validators.extend(kind, type_checker=types)(schema, format_checker=formats)


def make_judge(schema):
    """A function (value) → None, or why the value does not match the schema; both as `parse` gives
    them. Raises BadSchema."""
    validator = make_validator(schema)

    def judge(value):
        with decimal.localcontext() as context:
            context.prec = PRECISION
            fault = next(validator.iter_errors(value), None)
        if fault is None:
            return None
        return f"{fault.json_path}: {fault.message} ({fault.validator})"[:300]
    return judge
