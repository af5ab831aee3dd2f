"""`./dev bench chain`: this server beside llama-server alone and behind two proxies.

    ./dev bench chain
    ./dev bench chain -- mixed fixed classic --rounds 5

Words: names of scenarios (all without), and
    --rounds N     5; scenarios that take long have fewer
    --seconds S    of each rate of the mixed load
    --sides A,B    of zerohop, llama-server, litellm, portkey
    --programs DIR another build folder; nothing is built then
    --page FILE    another page
"""
import json
import os
import platform
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from dev import build, model, peer, sysdeps
from dev.chain_bench import fake, page, plans, proxies, real, scenarios, traced
from dev.chain_bench.sides import (NAMES, THREADS, FakeZerohop, Programs, Side, Sides,
                                   without_duties)
from dev.common import ROOT, Failure, run_quiet, say
from dev.constrain_bench.page import machine
from dev.syscalls import require_strace

PAGE = ROOT / "docs/measurements/chain_bench.md"
TARGETS = ["zerohop", "zh_fake_server", "zh_chain_load", "zh_chain_bare"]
OTHERS = ("ceiling", "policy", "calls", "memory", "classic")
PARTS_OF_CLASSIC = ("single", "long", "hundred", "mixed")
ALL = (*scenarios.FAKE, *scenarios.REAL, *OTHERS)
PROXIES = ("litellm", "portkey")

HEAD = """# Beside proxies in front of llama-server

Written by `./dev bench chain`. Every side gets the same bytes from the same client (`bench/chain`),
on warm connections that it keeps, in turn within each round. Servers around the model start anew
for each of their turns; proxies stay and are held still (SIGSTOP) while it is not theirs. Latencies
are those of the client and count from when a request was due; who was not answered counts as the
longest. Generator, proxies and model share the cores.

This server asks for a key and keeps limits, usage and budgets; everything else is as it has it by
default, so it prepared the file for the machine at its first start (`model.prepare: safe`).
llama-server is compiled from the pinned release and linked against the same shared libraries. The
proxies are set up for the least overhead, as their documents advise: LiteLLM with one uvicorn
worker, no database, no callbacks, no retries, logs of errors alone; Portkey with no console, no
config, no guardrails."""


@dataclass
class Wanted:
    """What was asked for."""
    names: list = field(default_factory=list)
    rounds: int = 5
    seconds: float = 7.0
    sides: list = field(default_factory=lambda: list(NAMES))
    programs: Path = None
    page: Path = PAGE

    def wants(self, name):
        if not self.names or name in self.names:
            return True
        return name in PARTS_OF_CLASSIC and "classic" in self.names

    def of(self, chosen, side, number):
        """{name: scenario} of `chosen` that a side measures in round `number`."""
        return {name: scenario for name, scenario in chosen.items()
                if self.wants(name) and scenario.runs_in(number, side)}


def parse(words):
    wanted = Wanted()
    words = list(words)
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            if word not in ALL:
                raise Failure(f"no scenario {word}; there are {', '.join(ALL)}", 2)
            wanted.names.append(word)
            continue
        if not words:
            raise Failure(f"{word} needs a value", 2)
        read_flag(wanted, word, words.pop(0))
    return wanted


def read_flag(wanted, flag, value):
    try:
        if flag == "--rounds":
            wanted.rounds = int(value)
        elif flag == "--seconds":
            wanted.seconds = float(value)
        elif flag == "--sides":
            wanted.sides = value.split(",")
        elif flag in ("--programs", "--page"):
            setattr(wanted, flag[2:], Path(value).resolve())
        else:
            raise Failure(f"no flag {flag}", 2)
    except ValueError:
        raise Failure(f"{flag} takes a number", 2) from None
    unknown = [side for side in wanted.sides if side not in NAMES]
    if unknown or wanted.rounds < 1 or wanted.seconds <= 0:
        raise Failure(f"{flag} {value} makes no sense", 2)


class Run:
    """One run of the command: measures round by round, and writes the page after each."""

    def __init__(self, wanted, programs, sides, folder):
        self.wanted = wanted
        self.programs = programs
        self.sides = sides
        self.folder = folder
        self.found = scenarios.Found()
        self.capacity = None

    def all_rounds(self):
        self.settle_capacity()
        for number in range(self.wanted.rounds):
            say(f"round {number + 1} of {self.wanted.rounds}")
            setting = real.Setting(number, self.capacity, self.wanted.seconds)
            self.without_weights(setting)
            self.with_model(setting)
            self.write()
        self.once()
        self.write()

    def settle_capacity(self):
        """The rates of the mixed load are shares of what the chain can answer."""
        if not self.wanted.wants("mixed"):
            return
        side = "litellm" if "litellm" in self.wanted.sides else self.wanted.sides[0]
        with self.sides.real(side).turn() as turn:
            self.capacity = real.capacity(turn)
        say(f"{NAMES[side]} answers {self.capacity:.2f} requests of the mixed load a second")

    def without_weights(self, setting):
        for side in self.wanted.sides:
            chosen = self.wanted.of(scenarios.FAKE, side, setting.round)
            if side != "llama-server" and chosen:
                with self.sides.without_weights(side).turn() as turn:
                    self.measure(chosen, side, turn, setting)
        if self.wanted.wants("policy"):
            self.policy(setting)

    def policy(self, setting):
        """Both processes run, so neither may be held still."""
        if not self.found.policy:
            self.off = FakeZerohop(self.programs, self.folder, "the same without its duties",
                                   without_duties(self.folder))
        on = self.sides.without_weights("zerohop")
        off = Side("off", "without", self.off, self.programs.load, self.folder,
                   port=self.off.port, model=plans.FAKE_MODEL)
        try:
            with on.turn(), off.turn():
                self.found.policy.append(fake.policy((on, off), setting))
        finally:
            self.off.process.stop()

    def with_model(self, setting):
        for side in self.wanted.sides:
            chosen = self.wanted.of(scenarios.REAL, side, setting.round)
            if not chosen:
                continue
            with self.sides.real(side).turn() as turn:
                self.measure(chosen, side, turn, setting)
            if "overload" in chosen and side in PROXIES:
                self.sides.restart(side)

    def measure(self, chosen, side, turn, setting):
        for name, scenario in chosen.items():
            turn.troubles.clear()
            result = scenario.measure(turn, setting)
            say(f"{name}, {turn.label}: {brief(result)}")
            for trouble, count in turn.troubles.most_common(3):
                say(f"  {count} × {trouble}")
            self.found.note(name, side, result)

    def once(self):
        if self.wanted.wants("ceiling"):
            self.found.bare = self.bare()
        if self.wanted.wants("calls"):
            try:
                require_strace()
                self.calls()
            except Failure as failure:
                say(f"no count of system calls: {failure}")

    def bare(self):
        """[(file, figures)] of libllama alone: with the file as it is, and as it was prepared."""
        files = [("as it is", self.programs.model), *prepared(self.programs.model)]
        return [(name, json.loads(run_quiet(
            [self.programs.bare, "--model", path, "--threads", THREADS,
             "--prompt", real.SINGLE_QUESTION, "--answer", real.SINGLE_ANSWER,
             "--long", real.LONG_PROMPT]))) for name, path in files]

    def calls(self):
        for side in self.wanted.sides:
            if side == "llama-server":
                continue
            with self.sides.without_weights(side).turn() as turn:
                self.found.traced[side] = [traced.measure(turn, self.folder)]
                say(f"calls, {turn.label}: {brief(self.found.traced[side][0])}")

    def write(self):
        sections = sections_of(self.found, self.capacity)
        page.write(self.wanted.page, head(self.programs, self.sides, self.wanted), sections)
        if "mixed" in self.found.sides:
            self.wanted.page.with_name("chain_mixed.svg").write_text(
                page.mixed_chart(self.found.sides["mixed"]), encoding="utf-8")


def brief(result):
    parts = []
    for key, value in result.items():
        if isinstance(value, dict):
            for share, cell in value.items():
                parts.append(f"{share:g}: p50 {cell['p50']:.0f} p95 {cell['p95']:.0f} "
                             f"p99 {cell['p99']:.0f} failed {cell['failed']}")
        elif value is not None and value != 0:
            parts.append(f"{key} {value:.4g}")
    return ", ".join(parts)


def prepared(path):
    """The converted file that this server uses in place of `path`, if it made one."""
    base = os.environ.get("XDG_CACHE_HOME", "") or Path.home() / ".cache"
    found = sorted(Path(base, "zerohop/prepared").glob(f"{path.stem}-*/*.gguf"))
    return [("prepared for this machine", found[-1])] if found else []


def sections_of(found, capacity):
    """{title: text} in the order of the page."""
    texts = {}
    sides = found.sides
    if "fixed" in sides:
        texts["fixed cost"] = page.fixed_section(scenarios.FAKE["fixed"].section, sides["fixed"])
    if found.policy:
        texts[scenarios.POLICY.title] = page.policy_section(scenarios.POLICY.section, found.policy)
    if "mixed" in sides:
        texts["mixed load"] = page.mixed_section(scenarios.REAL["mixed"].section, sides["mixed"],
                                                 capacity)
    if all(name in sides for name in PARTS_OF_CLASSIC):
        texts["the classic four"] = page.classic_section(scenarios.CLASSIC, sides)
    for name, scenario in {**scenarios.FAKE, **scenarios.REAL}.items():
        if name in sides and name not in ("fixed", "mixed"):
            names = page.FAKE_NAMES if name in scenarios.FAKE else page.NAMES
            texts[scenario.title or name] = page.simple(scenario.section, sides[name], names)
    if "streams8" in sides:
        texts["memory and processor"] = page.use_section(sides["streams8"])
    if found.traced:
        texts["system calls and body copies"] = page.traced_section(found.traced)
    if found.bare:
        texts["ceiling"] = page.bare_section(found.bare, sides)
    return texts


def head(programs, sides, wanted):
    lines = [HEAD, "", f"- machine: {machine()}, {os.cpu_count()} cores, kernel "
             f"{platform.release()}", f"- model: {programs.model.name}",
             f"- {first_line([programs.zerohop, '--version'])}",
             f"- llama-server {version_of_llama_server(programs.llama_server)}"]
    if programs.litellm:
        lines.append(f"- LiteLLM {proxies.litellm_version(programs.litellm)}")
    if programs.portkey:
        lines.append(f"- Portkey gateway {proxies.portkey_version(programs.portkey)}, Node.js "
                     f"{first_line([programs.node, '--version'])}")
    lines += ["", "```", *(f"{name}: {text}" for name, text in sides.command_lines()), "```"]
    if wanted.programs:
        lines.append(f"\nThe programs were taken from `{wanted.programs.name}`.")
    return "\n".join(lines)


def first_line(words):
    return (run_quiet(words).strip().splitlines() or ["unknown"])[0]


def version_of_llama_server(program):
    text = run_quiet(["sh", "-c", f"'{program}' --version 2>&1"])
    return next((line for line in text.splitlines() if line.startswith("version")), "unknown")


def gather(args, sources, wanted):
    """Everything that runs, built or downloaded where it is not there."""
    model.ModelDownload(sources).start().wait()
    if wanted.programs:
        folder = wanted.programs
    else:
        sysdeps.require(["build", "bench"], args.yes)
        folder = build.build("bench", args.llama, sources, TARGETS)
    programs = Programs(zerohop=folder / "zerohop", fake=folder / "zh_fake_server",
                        load=folder / "bench/chain/zh_chain_load",
                        bare=folder / "bench/chain/zh_chain_bare",
                        llama_server=peer.ensure(args.peer, args.llama, sources),
                        model=model.path())
    if "litellm" in wanted.sides:
        programs.litellm = proxies.litellm(sources)
    if "portkey" in wanted.sides:
        programs.node, programs.portkey = proxies.portkey(sources)
    return programs


def run(args, sources):
    wanted = parse(args.rest)
    programs = gather(args, sources, wanted)
    with tempfile.TemporaryDirectory(prefix="zerohop-chain-") as name, \
            Sides(programs, Path(name)) as sides:
        Run(wanted, programs, sides, Path(name)).all_rounds()
    say(f"wrote {wanted.page}")
    return 0
