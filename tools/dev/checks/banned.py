"""Calls that the project does not use, each with what to use instead and where it is allowed."""
import re
from dataclasses import dataclass

from dev.checks.cpp_text import blank, includes, line_of
from dev.checks.finding import Finding

TESTS = re.compile(r"^tests/|^bench/|_(test|fuzz|bench)\.cc$|/test_\w+\.(h|cc)$")


@dataclass(frozen=True)
class Ban:
    pattern: re.Pattern
    instead: str
    allowed: tuple = ()  # beginnings of paths
    in_tests: bool = False


def ban(pattern, instead, *allowed, in_tests=False):
    return Ban(re.compile(pattern), instead, allowed, in_tests)


CALLS = (
    ban(r"\b(?:steady|system|high_resolution)_clock\s*::\s*now\b",
        "time is passed in: take a Clock& (base/clock.h)", "src/base/clock.cc", "bench/"),
    ban(r"(?<![\w.>])(?:std\s*::\s*time|(?<!:)time|clock_gettime|gettimeofday)\s*\(\s*(?:\)|0|NULL|"
        r"nullptr|&|CLOCK)",
        "time is passed in: take a Clock& (base/clock.h)", "src/base/clock.cc", "bench/"),
    ban(r"\b(?:std\s*::\s*)?s?rand\s*\(|\brandom_device\b|\bmt19937",
        "chance is passed in: take a Random& (base/random.h)", "src/base/random.cc"),
    ban(r"\bstd\s*::\s*(?:thread|jthread)\b(?!\s*::)|\bstd\s*::\s*async\b|\bpthread_create\b",
        "threads are made in app/ and by EngineThread only", "src/app/",
        "src/engine/engine_thread", in_tests=True),
    ban(r"\b(?:sleep_for|sleep_until|usleep|nanosleep)\s*\(|(?<![\w.>:])sleep\s*\(",
        "nothing sleeps: wait on a queue or a timer, in tests wind a VirtualClock"),
    ban(r"\bstd\s*::\s*(?:cout|cerr|clog)\b|(?<![\w.>])(?:f|v|vf)?printf\s*\(|"
        r"(?<![\w.>])f?puts\s*\(|(?<![\w.>])putchar\s*\(",
        "log with base/log.h; standard output belongs to app/", "src/app/", "src/base/log.cc",
        "src/base/check.cc", in_tests=True),
    ban(r"(?<![\w.>])(?:sprintf|strcpy|strcat|strtok|gets|atoi|atol|atof)\s*\(",
        "use std::format-like helpers, std::string or std::from_chars"),
    ban(r"(?<![\w])assert\s*\(", "use ZH_CHECK or ZH_DCHECK (base/check.h)"),
    # A second opinion on words of four letters.
    ban(r"\bstd\s*::\s*w?regex\b", "std::regex overflows the stack on long input",
        "src/constrain/regex_syntax_test.cc"),
    ban(r"\busing\s+namespace\s+(?!std\s*::\s*(?:chrono_)?(?:string_view_)?literals)",
        "name what you use", in_tests=True),
    ban(r"\bco_await\b[^;{}]*(?:\b[A-Z]\w*\s*\{|\[[^\];]*\b\w+\s*=)",
        "GCC 12 destroys a temporary of a co_await expression twice: name it first"),
    ban(r"\bthrow\b", "expected failure is a Result (core/error.h), a bug is ZH_CHECK",
        in_tests=True),
)

INCLUDES = (
    ban(r"^(?:llama|llama-cpp|ggml[\w-]*|gguf|chat|common|sampling)\.h$",
        "the model library is used in model/ only", "src/model/", "bench/"),
    ban(r"^boost/json", "JSON stays at the edge: api, constrain, app", "src/api/", "src/constrain/",
        "src/app/", "tests/", "bench/"),
    ban(r"^nlohmann/", "use Boost.JSON, and only in api, constrain, app"),
    ban(r"^(?:cassert|assert\.h)$", "use ZH_CHECK or ZH_DCHECK (base/check.h)"),
    ban(r"^(?:cstdlib\.h|stdlib\.h|string\.h|stdio\.h|stdint\.h|math\.h|time\.h)$",
        "use the C++ header (<cstdlib>, <cstring>, …)"),
    ban(r"^bits/", "private to the standard library"),
)


def applies(rule, path):
    if rule.in_tests and TESTS.search(path):
        return False
    return not path.startswith(rule.allowed) if rule.allowed else True


def check(files):
    """Findings for the C++ files among `files` ({path: text})."""
    findings = []
    for path, text in files.items():
        if path.endswith((".h", ".cc")):
            findings += check_calls(path, text) + check_includes(path, text)
    return findings


def check_calls(path, text):
    code = blank(text)
    findings = []
    for rule in CALLS:
        if applies(rule, path):
            for match in rule.pattern.finditer(code):
                found = re.sub(r"\s+", "", match.group())
                line = line_of(code, match.start())
                findings.append(Finding(path, line, f"{found}: {rule.instead}"))
    return findings


def check_includes(path, text):
    findings = []
    for line, name, _ in includes(text):
        for rule in INCLUDES:
            if applies(rule, path) and rule.pattern.search(name):
                findings.append(Finding(path, line, f"{name}: {rule.instead}"))
    return findings
