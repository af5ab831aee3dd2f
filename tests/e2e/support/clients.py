"""Client libraries that run in processes of their own, and what each of them found.

A client program (tests/clients) is given the addresses of a scripted server and of one with the
default model. For every feature it prints `ok FEATURE` or `FAIL FEATURE: reason`, and writes each
answer that it saw to a file, which is held against the published shapes (support/audit.py).
"""
import base64
import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from support import audit
from support.sandbox import SetupFailure

FOLDER = Path(__file__).resolve().parents[2] / "clients"
CLIENT_SECONDS_MAX = 300


@dataclass
class Installed:
    """Where the runner was told that things are; empty when they could not be installed."""
    node: str = ""
    node_modules: str = ""
    pythons: dict = field(default_factory=dict)
    programs: dict = field(default_factory=dict)

    def program(self, name):
        if name not in self.programs:
            raise SetupFailure(f"{name} is not there (./dev test gets it)")
        return self.programs[name]

    def python(self, name):
        if name not in self.pythons:
            raise SetupFailure(f"the Python environment {name} is not installed (./dev test does)")
        return self.pythons[name]

    def modules(self):
        if not self.node or not self.node_modules:
            raise SetupFailure("Node.js or its client libraries are not installed "
                               "(./dev test does)")
        return Path(self.node_modules)


@dataclass(frozen=True)
class Client:
    """A row of docs/COMPATIBILITY.md."""
    id: str
    title: str
    dialect: str     # "anthropic" or "openai": which features it is asked for
    program: str     # a file of tests/clients
    arguments: tuple = ()
    python: str = ""  # the environment to run in; empty: Node.js
    features: tuple = ()
    package: str = ""  # whose version the table names

    def version(self, installed):
        if self.python:
            script = f"from importlib.metadata import version; print(version('{self.package}'))"
            done = subprocess.run([installed.python(self.python), "-c", script], text=True,
                                  check=True, stdout=subprocess.PIPE)
            return done.stdout.strip()
        file = installed.modules() / self.package / "package.json"
        return json.loads(file.read_text(encoding="utf-8"))["version"]


class ClientRuns:
    """Runs each client program at most once; the results by feature are kept."""

    def __init__(self):
        self.results = {}  # client id → {feature: None or reason}

    def reason(self, context, client, feature):
        """None when the client found the feature good, else why not."""
        if client.id not in self.results:
            self.results[client.id] = self._run(context, client)
        found = self.results[client.id]
        if feature not in found:
            return f"the client program said nothing about it; {found.get('', '')}"
        return found[feature]

    def _run(self, context, client):
        folder = context.sandbox.path(f"-{client.id}")
        shutil.copytree(FOLDER, folder)
        record = context.sandbox.path(".jsonl")
        words = [*self._interpreter(context, client, folder), *client.arguments,
                 "--scripted", context.scripted.url, "--served", context.server.url,
                 "--record", str(record)]
        variables = context.sandbox.environment(NO_PROXY="*", LITELLM_LOCAL_MODEL_COST_MAP="True",
                                                PYTHONDONTWRITEBYTECODE="1")
        try:
            done = subprocess.run(words, capture_output=True, text=True, env=variables,
                                  cwd=folder, timeout=CLIENT_SECONDS_MAX, check=False)
            output, errors, code = done.stdout, done.stderr, done.returncode
        except subprocess.TimeoutExpired as fault:
            output, errors = ((part or b"").decode() for part in (fault.stdout, fault.stderr))
            code = "none: it did not end"
        shutil.rmtree(folder, ignore_errors=True)
        check_record(client, record)
        results = parse_results(output)
        tail = " ".join(errors.split())[-300:]
        results[""] = f"exit code {code}, standard error: {tail}"
        return results

    def _interpreter(self, context, client, folder):
        if client.python:
            return [context.installed.python(client.python), str(folder / client.program)]
        os.symlink(context.installed.modules(), folder / "node_modules")
        return [context.installed.node, str(folder / client.program)]


def parse_results(output):
    results = {}
    for line in output.splitlines():
        word, _, rest = line.partition(" ")
        feature, _, reason = rest.partition(": ")
        if word == "ok":
            results[rest] = None
        elif word == "FAIL":
            results[feature] = reason or "no reason"
    return results


def check_record(client, record):
    """Audits what the client saw; complaints name it."""
    lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
    for line in lines:
        seen = json.loads(line)
        audit.check_answer(seen["method"], seen["path"], seen["status"], seen["type"],
                           base64.b64decode(seen["body"]))
    if not lines:
        audit.complain(f"{client.id} has recorded no answer")
