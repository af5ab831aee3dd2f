"""The sides of the comparison. Each has a server around the model, started anew for each of its
turns, so that nothing is cached from another one's; those with a proxy keep it from turn to turn,
held still in between. All get the same bytes from the same client."""
import contextlib
import json
import os
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from dev.chain_bench import figures, plans, proxies
from dev.chain_bench.processes import Process, free_port
from dev.common import ROOT, Failure, run_quiet, say

SEQUENCES = 8
CELLS = 16384
WINDOW = 2048
THREADS = 2

NAMES = {"zerohop": "zerohop", "llama-server": "llama-server",
         "litellm": "LiteLLM + llama-server", "portkey": "Portkey + llama-server"}
FAKE_NAMES = {"zerohop": "zerohop", "litellm": "LiteLLM + zerohop", "portkey": "Portkey + zerohop"}

WARM_UPS = 6
WARM_UP_TRIES = 8
# Beside the deadline of the client, which cannot be longer than this for any scenario.
LOAD_SECONDS_MAX = 300

PLENTY = {"requests-per-minute": 10**9, "input-tokens-per-minute": 10**12,
          "output-tokens-per-minute": 10**12, "total-tokens-per-minute": 10**12,
          "parallel-requests": 10_000, "tokens-per-day": 10**12, "tokens-per-month": 10**12}

# What the model without weights says. `max_tokens` cuts it.
SCRIPT = [{"reply": "A river of words. ", "repeat": 40}]


@dataclass
class Programs:
    zerohop: Path
    fake: Path
    load: Path
    bare: Path
    llama_server: Path
    model: Path
    litellm: Path = None
    node: Path = None
    portkey: Path = None


@dataclass
class Loaded:
    """What came of a plan."""
    rows: list
    seconds: float
    connections: int


@dataclass
class Side:
    name: str
    label: str
    server: object  # of the model: has process, port, start(), stop()
    load_program: Path
    folder: Path
    proxy: Process = None
    port: int = 0    # where clients connect
    headers: list = field(default_factory=list)
    model: str = plans.REAL_MODEL
    troubles: Counter = field(default_factory=Counter)  # what was not answered, and why

    def begin(self):
        self.server.start()
        if self.proxy is not None:
            self.proxy.go_on()
        self.warm_up()

    def end(self):
        if self.proxy is not None:
            self.proxy.hold()
        self.server.stop()

    @contextlib.contextmanager
    def turn(self):
        self.begin()
        try:
            yield self
        finally:
            self.end()

    def processes(self):
        """{what: process}: the server around the model, and the proxy."""
        found = {self.server.name: self.server.process}
        if self.proxy is not None:
            found["proxy"] = self.proxy
        return found

    def load(self, lines, clients=0, warm=SEQUENCES, drain=60):
        """Carries out a plan: open loop, or closed with so many clients."""
        plan = self.folder / "plan"
        plan.write_text("\n".join(lines) + "\n", encoding="utf-8")
        words = [self.load_program, "--port", self.port, "--plan", plan, "--clients", clients,
                 "--warm", warm, "--drain", drain, "--headers", self.header_file()]
        done = subprocess.run([str(word) for word in words], check=False, text=True,
                              errors="replace", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=LOAD_SECONDS_MAX)
        if done.returncode != 0:
            raise Failure(f"the load on {self.label} failed: {done.stderr.strip()[-300:]}")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.troubles.update(f"{row['end']} {row['status']}: {row['trouble'][:160]}"
                             for row in rows[:-1] if row["end"] in ("broken", "refused"))
        return Loaded(rows[:-1], rows[-1]["seconds"], rows[-1]["connections"])

    def header_file(self):
        path = self.folder / f"{self.name}.headers"
        path.write_text("\n".join(self.headers) + "\n", encoding="utf-8")
        return path

    def warm_up(self):
        """A few short answers. A proxy that was held still may first find its connections dead."""
        lines = plans.closed(plans.questions("warm", WARM_UPS, 12, max_tokens=4, model=self.model))
        for _ in range(WARM_UP_TRIES):
            rows = self.load(lines, clients=2).rows
            if not figures.failures(rows):
                return
            time.sleep(0.5)
            self.revive_proxy()
        trouble = next(row["trouble"] for row in rows if row["end"] != "whole")
        raise Failure(f"{self.label} does not answer: {trouble}")

    def revive_proxy(self):
        """Portkey ends itself when a server that it has connections to goes away."""
        if self.proxy is None or not self.proxy.dead():
            return
        say(f"{self.proxy.name} has ended; it is started again. The end of what it said:\n"
            f"{self.proxy.last_words()[-300:]}")
        self.proxy.start(self.proxy.port, self.proxy.path)


class Zerohop:
    """The program with its duties: a key with limits, usage and budgets kept."""

    name = "zerohop"

    def __init__(self, programs, folder):
        self.port = free_port()
        words = [programs.zerohop, "serve", "--port", self.port, "--model", programs.model,
                 "--threads", THREADS, "--sequences", SEQUENCES, "--context", WINDOW,
                 "--log-level", "error"]
        self.process = Process("zerohop", words, with_duties(folder, "real"),
                               folder / "zerohop.log")

    def start(self):
        self.process.start(self.port, "/healthz")

    def stop(self):
        self.process.stop()


class LlamaServer:
    name = "llama-server"

    def __init__(self, programs, folder):
        self.port = free_port()
        words = [programs.llama_server, "--port", self.port, "-m", programs.model, "-t", THREADS,
                 "-tb", THREADS, "-np", SEQUENCES, "-c", CELLS, "--no-ui", "-lv", 1]
        self.process = Process("llama-server", words, log=folder / "llama-server.log")

    def start(self):
        self.process.start(self.port, "/health")

    def stop(self):
        self.process.stop()


class FakeZerohop:
    """The program around a model without weights. Stays from turn to turn: it keeps nothing that
    would make one side quicker than another."""

    name = "zerohop"

    def __init__(self, programs, folder, name, variables):
        self.port = free_port()
        script = folder / "script.json"
        script.write_text(json.dumps(SCRIPT), encoding="utf-8")
        words = [programs.fake, "--script", script, "--plain-template", "--port", self.port,
                 "--threads", THREADS, "--sequences", SEQUENCES, "--context", CELLS,
                 "--log-level", "error"]
        # Who forbids core files also forbids being traced.
        variables = {**variables, "ZEROHOP_SERVER_CORE_DUMPS": "allow"}
        self.process = Process(name, words, variables, folder / "fake.log")

    def start(self):
        if self.process.process is None:
            self.process.start(self.port, "/healthz")
        self.process.go_on()

    def stop(self):
        self.process.hold()


def with_duties(folder, name):
    """Variables of a server that asks for a key and keeps usage and budgets."""
    return {"XDG_STATE_HOME": str(folder / "state"), "ZEROHOP_BATCHES_FOLDER": "",
            "ZEROHOP_ENGINE_KV_CELLS": str(CELLS),
            "ZEROHOP_AUTH_STORE": str(folder / "keys.sqlite"), "ZEROHOP_AUTH_REQUIRED": "always",
            "ZEROHOP_LIMITS_USAGE_FOLDER": str(folder / f"usage-{name}")}


def without_duties(folder):
    return {**with_duties(folder, ""), "ZEROHOP_AUTH_REQUIRED": "never",
            "ZEROHOP_LIMITS_USAGE_FOLDER": ""}


def make_key(program, folder):
    """A key with limits of which none refuses anything."""
    limits = [word for name, most in PLENTY.items() for word in (f"--{name}", most)]
    text = run_quiet([program, "keys", "create", "--key-store", folder / "keys.sqlite", *limits],
                     env={**os.environ, "XDG_STATE_HOME": str(folder / "state")})
    return text.split()[0]


class Sides:
    """All sides of a run, made as they are asked for. A context."""

    def __init__(self, programs, folder):
        self.programs = programs
        self.folder = folder
        self.key = make_key(programs.zerohop, folder)
        self.zerohop = Zerohop(programs, folder)
        self.llama = LlamaServer(programs, folder)
        # With keys and limits for clients that come straight, without for proxies that have them.
        self.fake = FakeZerohop(programs, folder, "zerohop, model without weights",
                                with_duties(folder, "fake"))
        self.bare_fake = FakeZerohop(programs, folder, "the same behind a proxy",
                                     without_duties(folder))
        self.proxies = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.all_processes():
            process.stop()

    def all_processes(self):
        return [self.zerohop.process, self.llama.process, self.fake.process,
                self.bare_fake.process, *self.proxies.values()]

    def real(self, name):
        """A side around the real model."""
        server = self.zerohop if name == "zerohop" else self.llama
        return self._side(name, NAMES[name], server, plans.REAL_MODEL)

    def without_weights(self, name):
        """The same around the model without weights; proxies stand in front of this server."""
        server = self.fake if name == "zerohop" else self.bare_fake
        return self._side(name, FAKE_NAMES[name], server, plans.FAKE_MODEL)

    def _side(self, name, label, server, model):
        side = Side(name, label, server, self.programs.load, self.folder, model=model,
                    port=server.port)
        if name == "zerohop":
            side.headers = [f"authorization: Bearer {self.key}"]
        if name == "litellm":
            side.headers = [f"authorization: Bearer {proxies.MASTER_KEY}"]
        if name == "portkey":
            side.headers = proxies.portkey_headers(proxies.Upstream(model, server.port))
        if name in ("litellm", "portkey"):
            side.proxy, side.port = self._proxy(name)
        return side

    def _proxy(self, name):
        if name not in self.proxies:
            port = free_port()
            start = self._litellm if name == "litellm" else self._portkey
            process, path = start(port)
            self.proxies[name] = process.start(port, path)
            process.hold()
        return self.proxies[name], self.proxies[name].port

    def _litellm(self, port):
        upstreams = [proxies.Upstream(plans.REAL_MODEL, self.llama.port),
                     proxies.Upstream(plans.FAKE_MODEL, self.bare_fake.port)]
        config = self.folder / "litellm.yaml"
        config.write_text(proxies.litellm_config(upstreams), encoding="utf-8")
        words = proxies.litellm_words(self.programs.litellm, config, port)
        return (Process("LiteLLM", words, proxies.LITELLM_VARIABLES, self.folder / "litellm.log"),
                "/health/liveliness")

    def _portkey(self, port):
        words = proxies.portkey_words(self.programs.node, self.programs.portkey, port)
        return (Process("Portkey", words, proxies.PORTKEY_VARIABLES, self.folder / "portkey.log"),
                "/")

    def restart(self, name):
        """A proxy that was left with work that nobody waits for."""
        process = self.proxies.get(name)
        if process is not None:
            process.stop()
            process.start(process.port, process.path)
            process.hold()

    def command_lines(self):
        """(name, what was typed) of everything that was started."""
        return [(process.name, command_text(process, self.folder))
                for process in self.all_processes() if process.started]


def command_text(process, folder):
    """A command line with its variables, without keys and without the folders of this machine."""
    variables = " ".join(f"{key}={value}" for key, value in sorted(process.environment.items())
                         if "_KEY" not in key and not key.startswith("XDG_"))
    words = " ".join([Path(process.words[0]).name, *process.words[1:]])
    text = f"{variables} {words}".strip().replace(str(folder), "DIR")
    return text.replace(str(Path.home()), "~").replace(str(ROOT), ".")
