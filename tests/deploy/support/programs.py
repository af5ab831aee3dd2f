"""Programs of others that tests run, and the places of the tree."""
import importlib.util
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"
SECONDS_MAX = 300  # only against hangs

GIVEN = {}  # name → path, from the command line


def find(name):
    """The path of a program: as given, in the environment of these tests, or on PATH."""
    beside = Path(sys.executable).with_name(name)
    found = GIVEN.get(name) or (str(beside) if beside.exists() else shutil.which(name))
    if not found:
        raise unittest.SkipTest(f"{name} is not there (./dev test gets it)")
    return found


def load(path):
    """A script of deploy/ as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(name, *arguments, **options):
    """Runs a program; the result has returncode and the output as text."""
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([find(name), *map(str, arguments)], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS_MAX,
                          **options)
