"""Runs tests: the compiled programs through ctest, the end-to-end script, and the checks."""
import os
import re
import shutil
import subprocess
import sys
import unittest
from dataclasses import dataclass

from dev import tally
from dev.checks.all import run_tree_checks
from dev.clients import ClientLibraries
from dev.common import ROOT, Failure, jobs, say
from dev.deploy_tools import DeployTools
from dev.python_env import environment
from dev.tally import Tally

E2E = ROOT / "tests/e2e/run.py"
E2E_REQUIREMENTS = ROOT / "tests/e2e/requirements.txt"
DEPLOY = ROOT / "tests/deploy/run.py"
DEPLOY_REQUIREMENTS = ROOT / "tests/deploy/requirements.txt"
COMPATIBILITY = ROOT / "docs/COMPATIBILITY.md"
SUPPRESSIONS = ROOT / "tools/dev/suppressions"


@dataclass
class CtestRun:
    """Which of the compiled tests to run, and how."""
    folder: object
    programs: str = ""      # regular expression on ctest names; empty for all
    gtest_filter: str = ""  # GoogleTest filter; empty for all
    environment: dict = None
    targets: tuple = ()     # what has to be built for it; empty for everything


def ctest(request):
    """Runs the compiled tests of a build folder and returns their tally."""
    reports = request.folder / "test-reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir(parents=True)
    junit = reports / "ctest.xml"
    variables = dict(os.environ, GTEST_OUTPUT=f"json:{reports}/", GTEST_BRIEF="1",
                     **(request.environment or {}))
    if request.gtest_filter:
        variables["GTEST_FILTER"] = request.gtest_filter
    words = ["ctest", "--test-dir", request.folder, "-j", jobs(), "--output-on-failure",
             "--no-tests=ignore", "--output-junit", junit]
    if request.programs:
        words += ["-R", request.programs]
    words = address_space_fixed(variables) + words
    subprocess.run([str(w) for w in words], check=False, env=variables, stdout=sys.stderr)
    if not junit.exists():
        return Tally(failures=["ctest"])
    return tally.from_ctest(junit, reports)


def address_space_fixed(variables):
    """The thread sanitizer of GCC 12 cannot map its shadow where newer kernels put programs."""
    if "TSAN_OPTIONS" not in variables or shutil.which("setarch") is None:
        return []
    prefix = ["setarch", "-R"]
    works = subprocess.run([*prefix, "true"], check=False, stderr=subprocess.DEVNULL)
    return prefix if works.returncode == 0 else []


def sanitizer_environment():
    return {
        "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
        "LSAN_OPTIONS": f"suppressions={SUPPRESSIONS}/leak.txt:print_suppressions=0",
        "TSAN_OPTIONS": f"suppressions={SUPPRESSIONS}/thread.txt:"
                        "ignore_noninstrumented_modules=1:second_deadlock_stack=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }


def select(folder, name):
    """A CtestRun for the argument of `./dev test`: programs by name, else single tests by name."""
    if not name:
        return CtestRun(folder)
    listed = subprocess.run(["ctest", "--test-dir", str(folder), "-N"], check=False, text=True,
                            stdout=subprocess.PIPE).stdout
    programs = re.findall(r"Test +#\d+: (\S+)", listed)
    chosen = [program for program in programs if name in program]
    if chosen:
        pattern = "^(" + "|".join(map(re.escape, chosen)) + ")$"
        return CtestRun(folder, programs=pattern, targets=tuple(chosen))
    return CtestRun(folder, gtest_filter=f"*{name}*", programs="_test$")


@dataclass
class EndToEndRun:
    """tests/e2e/run.py against the program, with all client libraries."""
    program: object
    sources: object
    clients: ClientLibraries  # started
    tools: DeployTools        # started
    name: str = ""            # part of the names of the tests to run; empty for all


def end_to_end(request):
    """Runs the end-to-end tests and returns their tally."""
    python = environment("e2e", [str(E2E_REQUIREMENTS)], request.sources.wheels) / "bin/python"
    words = [str(python), str(E2E), "--zerohop", str(request.program), *request.clients.flags(),
             *request.tools.flags()]
    words += ["--only", request.name] if request.name else []
    if os.environ.get("ZEROHOP_GOLDEN_UPDATE"):
        words += ["--compatibility", str(COMPATIBILITY)]
    return run_script(words, "tests/e2e/run.py")


def deploy_tests(sources, tools):
    """The tests of deploy/ (tests/deploy/run.py); `tools` is started. Returns their tally."""
    folder = environment("deploy", [str(DEPLOY_REQUIREMENTS)], sources.wheels)
    return run_script([str(folder / "bin/python"), str(DEPLOY), *tools.flags()],
                      "tests/deploy/run.py")


def run_script(words, name):
    """Runs a script that prints a line for each test, and returns their tally."""
    process = subprocess.Popen(words, cwd=ROOT, text=True, errors="replace",
                               stdout=subprocess.PIPE)
    lines = []
    for line in process.stdout:
        print(line, end="", file=sys.stderr, flush=True)
        lines.append(line)
    return tally.from_lines(lines, process.wait(), name)


def own_tests(name=""):
    """The tests of ./dev and its checks."""
    loader = unittest.TestLoader()
    if name:
        loader.testNamePatterns = [f"*{name}*"]
    suite = loader.discover(str(ROOT / "tools/dev"), top_level_dir=str(ROOT / "tools"))
    if suite.countTestCases() == 0:
        return Tally()
    result = unittest.TextTestRunner(stream=sys.stderr, verbosity=0).run(suite)
    bad = [str(test) for test, _ in result.failures + result.errors]
    skips = [str(test) for test, _ in result.skipped]
    return Tally(result.testsRun - len(bad) - len(skips), bad, skips)


def tree_checks():
    """The checks that read the tree alone, each counted as one test."""
    result = Tally()
    for name, findings in run_tree_checks(ROOT):
        for finding in findings:
            print(finding, file=sys.stderr)
        if findings:
            result.failures.append(f"check {name}")
        else:
            result.passed += 1
    return result


def report(result):
    """Names what failed; the last line of standard output is the summary alone."""
    for name in result.failures:
        say(f"failed: {name}")
    for name in result.skips:
        say(f"skipped: {name}")
    sys.stderr.flush()
    print(result.summary(), flush=True)
    if result.passed == 0 and result.failed() == 0:
        raise Failure("no test has that name")
    return 1 if result.failed() else 0
