#!/usr/bin/env python3
"""End-to-end tests of the program: on the real default model, and on a scripted one.

    run.py --zerohop PROGRAM [--only PATTERN] [--list] [where the client libraries are]

Every function test_* of the modules test_*.py beside this file is a test, and every function that a
module's cases() names; each gets one Context (support/context.py). For each, one line `ok NAME` or
`FAIL NAME: reason` goes to standard output; tracebacks and the logs of the servers go to standard
error. Exit code 0 if all passed. Nothing is ever skipped: a missing model or client library fails.
"""
import argparse
import importlib
import inspect
import os
import signal
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
# tools/ for what tests and benchmarks share (tools/dev/judging).
sys.path[:0] = [str(HERE), str(HERE.parent / "clients/python"), str(HERE.parents[1] / "tools")]

from support.clients import Installed  # noqa: E402
from support.context import Context  # noqa: E402
from support.sandbox import SetupFailure  # noqa: E402

# Only against hangs: the slowest test takes some ten seconds on two busy cores.
TEST_SECONDS_MAX = 600


class TestTimeout(Exception):
    """A test did not end."""


def on_alarm(_signal, _frame):
    raise TestTimeout(f"still running after {TEST_SECONDS_MAX} s")


def on_terminate(_signal, _frame):
    raise KeyboardInterrupt  # ends the run in order: servers stopped, folders removed


def discover(pattern):
    """The tests as (name, function) in the order of files and lines; those that do not load too."""
    tests = []
    for path in sorted(HERE.glob("test_*.py")):
        try:
            module = importlib.import_module(path.stem)
        except Exception:  # one broken module must not hide the others
            tests.append((path.stem, raiser(traceback.format_exc())))
            continue
        found = [(function.__code__.co_firstlineno, name, function)
                 for name, function in inspect.getmembers(module, inspect.isfunction)
                 if name.startswith("test_") and function.__module__ == module.__name__]
        tests += [(f"{path.stem}.{name}", function) for _, name, function in sorted(found)]
        made = module.cases() if hasattr(module, "cases") else ()
        tests += [(f"{path.stem}.{name}", function) for name, function in made]
    return [(name, function) for name, function in tests if pattern in name]


def raiser(text):
    def fail(_context):
        raise SetupFailure("the module does not load: " + text.strip().splitlines()[-1])
    return fail


def run_one(name, function, context):
    """None, or why the test failed in one line."""
    started = time.monotonic()
    signal.alarm(TEST_SECONDS_MAX)
    try:
        function(context)
        reason = None
    except (Exception, SystemExit) as fault:  # whatever a test raises is its failure
        traceback.print_exc(file=sys.stderr)
        reason = " ".join(f"{type(fault).__name__}: {fault}".split())[:500]
    finally:
        signal.alarm(0)
        complaint = context.end_test()
    seconds = time.monotonic() - started
    reason = "; ".join(part for part in (reason, complaint) if part) or None
    if reason:
        context.show_logs(sys.stderr)
    print(f"{name}: {seconds:.1f} s", file=sys.stderr, flush=True)
    return reason


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zerohop", required=True, type=Path, help="the program under test")
    parser.add_argument("--fake-server", type=Path, metavar="PROGRAM",
                        help="zh_fake_server (default: beside the program under test)")
    parser.add_argument("--node", default="", metavar="PROGRAM")
    parser.add_argument("--node-modules", default="", metavar="FOLDER",
                        help="with what tests/clients/package-lock.json names")
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PROGRAM",
                        help="a Python with the clients of tests/clients/python/NAME.txt")
    parser.add_argument("--program", action="append", default=[], metavar="NAME=PATH",
                        help="a program of others that tests run, such as prometheus")
    parser.add_argument("--compatibility", type=Path, metavar="FILE",
                        help="write the table of clients and features there")
    parser.add_argument("--only", default="", help="part of the names of the tests to run")
    parser.add_argument("--list", action="store_true", help="print the names and end")
    parser.add_argument("name", nargs="?", default="", help="the same as --only")
    return parser.parse_args()


def installed(options):
    pythons = dict(word.split("=", 1) for word in options.python)
    return Installed(options.node, options.node_modules, {"main": sys.executable, **pythons},
                     dict(word.split("=", 1) for word in options.program))


def main():
    options = arguments()
    tests = discover(options.only or options.name)
    if options.list:
        print("\n".join(name for name, _ in tests))
        return 0
    if not tests:
        print("run.py: no test has that name", file=sys.stderr)
        return 0
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    signal.signal(signal.SIGALRM, on_alarm)
    signal.signal(signal.SIGTERM, on_terminate)
    failed = 0
    program = options.zerohop.resolve()
    fake = (options.fake_server or program.with_name("zh_fake_server")).resolve()
    with Context(program, fake, installed(options)) as context:
        context.compatibility_file = options.compatibility
        for name, function in tests:
            reason = run_one(name, function, context)
            failed += reason is not None
            print(f"FAIL {name}: {reason}" if reason else f"ok {name}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
