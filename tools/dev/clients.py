"""Client libraries of the end-to-end tests, in the user's cache: Python environments, Node.js and
the packages of tests/clients/package-lock.json.

A client that cannot be installed is left out, and its tests fail with that reason.
"""
import hashlib
import shutil

from dev.common import (ROOT, Failure, WordsInBackground, cache_dir, locked, put_in_place,
                        run_quiet, say, scratch)
from dev.python_env import NODE_WHEEL, environment, npm_environment

E2E = ROOT / "tests/e2e"
CLIENTS = ROOT / "tests/clients"

# Beside the environment in which run.py itself runs: clients that exclude each other.
PYTHON_CLIENTS = {"anthropic-0": CLIENTS / "python/anthropic-0.txt",
                  "litellm": CLIENTS / "python/litellm.txt"}


def requirement_files():
    """What pip installs for tests: for those of deploy/ too."""
    return [E2E / "requirements.txt", ROOT / "tests/deploy/requirements.txt",
            *PYTHON_CLIENTS.values()]


def node(sources):
    """The folder of the Node.js that runs the JavaScript clients: the same one everywhere."""
    return environment("node", [NODE_WHEEL], sources.wheels)


def node_modules(sources):
    """The folder node_modules with what the lock file pins by hash."""
    files = [CLIENTS / "package.json", CLIENTS / "package-lock.json"]
    key = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]
    folder = cache_dir() / "clients" / key
    if (folder / ".ready").exists():
        return folder / "node_modules"
    with locked(cache_dir() / "clients.lock"):
        if not (folder / ".ready").exists():
            say("getting the JavaScript client libraries (540 MB)")
            with scratch(cache_dir()) as temporary:
                install_node_modules(sources, files, temporary / "clients")
                folder.parent.mkdir(parents=True, exist_ok=True)
                put_in_place(temporary / "clients", folder)
    return folder / "node_modules"


def install_node_modules(sources, files, target):
    target.mkdir()
    for path in files:
        shutil.copy(path, target)
    npm_ci(node(sources), target, sources.npm_cache)
    (target / ".ready").touch()


def npm_ci(node_folder, folder, cache=None):
    """Installs what the lock file in `folder` says; from `cache` alone if everything is there."""
    variables = npm_environment()
    variables["PATH"] = f"{node_folder / 'bin'}:{variables.get('PATH', '')}"
    words = [node_folder / "bin/npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"]
    if cache is not None:
        words += ["--cache", cache, "--prefer-offline"]
    run_quiet(words, cwd=folder, env=variables)


class ClientLibraries(WordsInBackground):
    """Installs in the background. `start`, then `flags`: what run.py is told."""

    def _get(self):
        self._try("Node.js", lambda: ["--node", node(self.sources) / "bin/node"])
        self._try("the JavaScript clients", lambda: ["--node-modules", node_modules(self.sources)])
        for name, file in PYTHON_CLIENTS.items():
            self._try(name, lambda name=name, file=file: ["--python", self._python(name, file)])

    def _python(self, name, file):
        folder = environment(f"client-{name}", [str(file)], self.sources.wheels)
        return f"{name}={folder}/bin/python"

    def _try(self, what, make):
        try:
            self.words += [str(word) for word in make()]
        except (Failure, OSError) as fault:
            say(f"cannot install {what}: {fault}")
