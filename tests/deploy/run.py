#!/usr/bin/env python3
"""Tests of what stands under deploy/: rules, dashboards, receiver, units, chart, troubleshooting.

    run.py [--program NAME=PATH ...] [--only PATTERN]

Nothing of Zerohop has to be built. For each test a line `ok NAME`, `FAIL NAME: reason` or `skip
NAME: reason` goes to standard output, tracebacks to standard error. A test is skipped where a
program that it runs (promtool, amtool, helm, hadolint) could not be had. Exit code 0: none failed.
"""
import argparse
import sys
import traceback
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))

from support import programs  # noqa: E402


class Lines(unittest.TestResult):
    """One line for each test. A test with several faults (subtests) is one failure."""

    def __init__(self):
        super().__init__()
        self.bad = set()

    def stopTest(self, test):
        super().stopTest(test)
        skipped = {id(skip): reason for skip, reason in self.skipped}
        if id(test) in skipped:
            print(f"skip {test.id()}: {skipped[id(test)]}", flush=True)
        elif test.id() not in self.bad:
            print(f"ok {test.id()}", flush=True)

    def addError(self, test, err):
        super().addError(test, err)
        self.fault(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.fault(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.fault(test, err, subtest.id())

    def fault(self, test, err, name=""):
        traceback.print_exception(*err, file=sys.stderr)
        if test.id() not in self.bad:
            self.bad.add(test.id())
            reason = " ".join(str(err[1]).split())[:500]
            print(f"FAIL {test.id()}: {name or err[0].__name__}: {reason}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--only", default="", help="part of the names of the tests to run")
    options = parser.parse_args()
    programs.GIVEN.update(word.split("=", 1) for word in options.program)
    loader = unittest.TestLoader()
    if options.only:
        loader.testNamePatterns = [f"*{options.only}*"]
    result = Lines()
    loader.discover(str(HERE), top_level_dir=str(HERE)).run(result)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
