"""Counts passed, failed and skipped tests of several kinds of programs."""
import json
import os
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field


@dataclass
class Tally:
    passed: int = 0
    failures: list = field(default_factory=list)
    skips: list = field(default_factory=list)

    def add(self, other):
        self.passed += other.passed
        self.failures += other.failures
        self.skips += other.skips

    def failed(self):
        """Failed tests; in CI a skipped test is one, since nobody would notice it."""
        return len(self.failures) + (len(self.skips) if in_ci() else 0)

    def summary(self):
        return f"{self.passed} passed, {self.failed()} failed"


def in_ci():
    return os.environ.get("CI", "").lower() in ("true", "1", "yes")


def from_googletest(text):
    """The tally of one JSON report of a GoogleTest program."""
    tally = Tally()
    for suite in json.loads(text)["testsuites"]:
        for case in suite["testsuite"]:
            name = f"{suite['name']}.{case['name']}"
            if case.get("status") != "RUN":
                continue  # not selected by the filter, or disabled by its name
            if case.get("failures"):
                tally.failures.append(name)
            elif case.get("result") == "SKIPPED":
                tally.skips.append(name)
            else:
                tally.passed += 1
    return tally


def from_ctest(junit, reports):
    """The tally of a ctest run: its JUnit file, and the folder with reports of GoogleTest programs.

    A program that failed without a failed test in its report (it crashed, hung, or leaked at its
    end) counts as one failure under its own name.
    """
    tally = Tally()
    for case in ElementTree.parse(junit).getroot().iter("testcase"):
        name = case.get("name")
        good = case.get("status") == "run"
        part = read_report(reports / f"{name}.json")
        if part is None:
            part = Tally(passed=1) if good else Tally()
        if not good and not part.failures:
            part.failures.append(name)
        tally.add(part)
    return tally


def read_report(path):
    try:
        return from_googletest(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError):
        return None


def from_lines(lines, exit_code, name):
    """The tally of a script that prints `ok NAME`, `FAIL NAME` or `skip NAME` for every test."""
    tally = Tally()
    for line in lines:
        word, _, test = line.strip().partition(" ")
        if word == "ok":
            tally.passed += 1
        elif word == "FAIL":
            tally.failures.append(test)
        elif word == "skip":
            tally.skips.append(test)
    if exit_code != 0 and not tally.failures:
        tally.failures.append(f"{name} (exit code {exit_code})")
    return tally
