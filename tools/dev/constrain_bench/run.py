"""`./dev bench constrain`: this engine and two others over the same schemas and vocabularies."""
import contextlib
import json
import os
import subprocess
from pathlib import Path

from dev import build, model, sysdeps
from dev.common import ROOT, Failure, cache_dir, run_quiet, say
from dev.constrain_bench import page, schemas, vocabulary
from dev.python_env import environment

PROGRAM = "zh_masks_bench"
REQUIREMENTS = ROOT / "bench/constrain/requirements.txt"
# Without what the packages themselves ask for: two of these are large and not needed.
PYTHON_WORDS = ["--no-deps", str(REQUIREMENTS)]
REPORT = ROOT / "docs/measurements/constrain_bench.md"
ENGINES = ("llguidance", "xgrammar")


class Bench:
    """Its folder in the cache holds what has been found so far."""

    def __init__(self, program, sources):
        self.program = program
        self.folder = cache_dir() / "constrain_bench"
        self.folder.mkdir(parents=True, exist_ok=True)
        folder = environment("constrain-bench", PYTHON_WORDS, sources.wheels)
        self.python = folder / "bin/python"
        self.vocabularies = {"128k": vocabulary.llama3(sources), "49k": self.path("49k.tokens")}

    def path(self, name):
        return self.folder / name

    def own(self, step, **files):
        words = [word for key, path in files.items() for word in (f"--{key}", path)]
        run_quiet([self.program, step, *words])

    def module(self, name, *words):
        """The command line of a module in the other engines' environment."""
        return [str(word) for word in (self.python, "-m", f"dev.constrain_bench.{name}", *words)]

    def environment(self):
        return dict(os.environ, PYTHONPATH=str(ROOT / "tools"))

    def make_corpus(self):
        """Schemas and texts, judged and cut into the tokens of each vocabulary."""
        self.own("vocabulary", model=model.path(), out=self.path("49k.tokens"))
        cases = schemas.all_cases()
        write_lines(self.path("schemas"), [case for case in cases if "schema" in case])
        self.own("walks", corpus=self.path("schemas"), out=self.path("walks"))
        walks = {(row["set"], row["name"]): row["texts"]
                 for row in schemas.read_lines(self.path("walks"))}
        write_lines(self.path("unjudged"), [with_walks(case, walks) for case in cases])
        run_quiet(self.module("judge", self.path("unjudged"), self.path("judged")),
                  env=self.environment())
        judged = schemas.read_lines(self.path("judged"))
        for name, path in self.vocabularies.items():
            cutter = vocabulary.Cutter(vocabulary.decode(path.read_bytes()))
            write_lines(self.path(f"{name}.corpus"), [cut(case, cutter) for case in judged])

    def measure_own(self, name):
        self.own("measure", corpus=self.path(f"{name}.corpus"),
                 vocabulary=self.vocabularies[name], out=self.path(f"{name}.zerohop"))

    def measure_other(self, engine, name):
        """Starts the engine again behind a case at which its process was killed."""
        out = self.path(f"{name}.{engine}")
        corpus = self.path(f"{name}.corpus")
        cases = schemas.read_lines(corpus)
        out.write_text("", encoding="utf-8")
        while True:
            done = len(schemas.read_lines(out))
            words = self.module("peers", engine, corpus, self.vocabularies[name], out, done)
            ended = subprocess.run(words, check=False, env=self.environment(), text=True,
                                   errors="replace", stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
            if ended.returncode == 0:
                return
            rows = schemas.read_lines(out)
            write_lines(out, [*rows, lost_case(cases, rows, engine, ended)])

    def results(self, engine, name):
        return schemas.read_lines(self.path(f"{name}.{engine}"))


def lost_case(cases, rows, engine, ended):
    """The row of the case at which a signal ended the process (a crash, or too much time). An exit
    code says that the measuring itself failed, which is no finding about the engine."""
    if ended.returncode > 0 or len(rows) >= len(cases):
        last = ended.stderr.strip().splitlines()[-1:] or ["it says nothing"]
        raise Failure(f"measuring {engine} failed with {ended.returncode}: {last[0]}")
    case = cases[len(rows)]
    return {"set": case["set"], "name": case["name"], "outcome": "lost",
            "reason": f"its process was ended by signal {-ended.returncode}"}


def with_walks(case, walks):
    """The case with random texts of its schema, and wrong ones made of those it has."""
    if "tools" in case:
        return case
    # A text that has a verdict keeps it: our own cases know dialects that the validator does not.
    known = {text["text"] for text in case["texts"]}
    texts = case["texts"] + [schemas.unjudged(text)
                             for text in walks.get((case["set"], case["name"]), [])
                             if text not in known]
    values = []
    for text in texts:
        if text["valid"] is not False:
            with contextlib.suppress(ValueError):
                values.append(schemas.value_of(text["text"]))
    if values:
        wrong = schemas.wrong_texts(values, case["name"])
        texts = texts + [schemas.unjudged(text) for text in wrong if text not in known]
    return {**case, "texts": texts}


def cut(case, cutter):
    texts = []
    for text in case["texts"]:
        tokens = cutter.cut(text["text"])
        if tokens is not None:
            texts.append({**text, "tokens": tokens})
    return {**case, "texts": texts}


def write_lines(path, rows):
    with open(path, "w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def run(args, sources):
    """All engines over the same corpus, and the page."""
    schemas.require_data()
    sysdeps.require(["build", "bench"], args.yes)
    model.ModelDownload(sources).start().wait()
    folder = build.build("bench", args.llama, sources, [PROGRAM])
    program = next(folder.rglob(PROGRAM), None)
    if program is None:
        raise Failure(f"the build made no {PROGRAM}")
    bench = Bench(program, sources)
    say("making the corpus")
    bench.make_corpus()
    found = {}
    for name in bench.vocabularies:
        say(f"measuring with the {name} vocabulary")
        bench.measure_own(name)
        found[name] = {"zerohop": bench.results("zerohop", name)}
        for engine in ENGINES:
            if name == "128k" or engine == "llguidance":
                bench.measure_other(engine, name)
                found[name][engine] = bench.results(engine, name)
    Path(REPORT).write_text(page.page(found), encoding="utf-8")
    say(f"wrote {REPORT}")
    return 0
