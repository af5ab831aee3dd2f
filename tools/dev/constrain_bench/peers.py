"""Measures another engine the way bench/constrain/measure.h measures this one.

    python -m dev.constrain_bench.peers ENGINE CORPUS VOCABULARY OUT [SKIP]

Runs in an environment of its own, one engine a process. Results are appended to OUT, one JSON
object a line, the last one about the whole run; the first SKIP cases are left out. A case at which
an engine raises what engines raise (`faults`) is lost. An engine that ends its process (or is ended
because it takes too long) is started again behind the case at which that happened; see run.py.
Anything else that goes wrong is a fault of this file and ends the run.
"""
import importlib.metadata
import json
import resource
import sys
import time
import types
from pathlib import Path

import numpy

from dev.constrain_bench import vocabulary as vocabularies

cpu = time.thread_time_ns
steady = time.perf_counter_ns

MASKS_MAX_NS = 4_000_000_000  # for all masks of a case
CASE_SECONDS_MAX = 20         # then the process ends


class Refused(Exception):
    """The engine does not take the schema."""


def need_no_torch():
    """XGrammar imports two large packages for types and bitmasks; numpy's arrays do as well."""
    import tvm_ffi  # noqa: F401; asks for the real torch, so it comes first
    torch = types.ModuleType("torch")
    torch.int32 = numpy.int32
    torch.tensor = lambda value, dtype=None: numpy.array(value, dtype=dtype)
    torch.full = lambda shape, value, dtype=None: numpy.full(shape, value, dtype=dtype)
    torch.__getattr__ = lambda name: object
    transformers = types.ModuleType("transformers")
    transformers.__getattr__ = lambda name: object
    sys.modules.update({"torch": torch, "transformers": transformers})


class XGrammar:
    """Open objects and any white space: what the schemas say. One thread, caches as they come."""

    name = "xgrammar"
    faults = (RuntimeError,)

    def __init__(self, vocabulary):
        need_no_torch()
        import xgrammar
        self.module = xgrammar
        padding = [b""] * (vocabulary.width - len(vocabulary.tokens))
        self.info = xgrammar.TokenizerInfo(
            [*vocabulary.tokens, *padding], vocab_type=xgrammar.VocabType.RAW,
            vocab_size=vocabulary.width, stop_token_ids=vocabulary.ends)
        self.compiler = xgrammar.GrammarCompiler(self.info, max_threads=1)
        self.bits = xgrammar.allocate_token_bitmask(1, vocabulary.width)
        self.compiled = None

    def compile(self, subject):
        try:
            if "tools" in subject:
                self.compiled = self.compiler.compile_structural_tag(self.tags(subject["tools"]))
            else:
                self.compiled = self.compiler.compile_json_schema(
                    subject["schema"], any_whitespace=True, strict_mode=False)
        except RuntimeError as error:
            raise Refused(str(error)) from None

    @staticmethod
    def tags(tools):
        tags = [{"type": "tag",
                 "begin": f'<tool_call>\n{{"name": "{tool["name"]}", "arguments": ',
                 "content": {"type": "json_schema", "json_schema": json.loads(tool["parameters"])},
                 "end": "}\n</tool_call>"} for tool in tools]
        return {"type": "structural_tag",
                "format": {"type": "triggered_tags", "triggers": ["<tool_call>"], "tags": tags,
                           "at_least_one": True, "stop_after_first": False}}

    def begin(self):
        matcher = self.module.GrammarMatcher(self.compiled)
        bits = self.bits
        return (matcher.accept_token, lambda: matcher.fill_next_token_bitmask(bits, 0),
                matcher.is_completed)


class LlGuidance:
    """With its slices for JSON; white space as it comes."""

    name = "llguidance"
    faults = (RuntimeError, ValueError)

    def __init__(self, vocabulary):
        import llguidance
        self.module = llguidance
        tokens = [word or b"\xff<%d>" % number for number, word in enumerate(vocabulary.tokens)]
        tokens += [b"\xff<%d>" % number for number in range(len(tokens), vocabulary.width)]
        special = [number for number, word in enumerate(tokens) if word.startswith(b"\xff<")]

        class Tokenizer:
            eos_token_id = vocabulary.ends[0]
            bos_token_id = None
            special_token_ids = special

            def __init__(self):
                self.tokens = tokens

            def __call__(self, text):
                return []

        self.tokenizer = llguidance.LLTokenizer(
            llguidance.TokenizerWrapper(Tokenizer()), n_vocab=vocabulary.width,
            eos_token=vocabulary.ends, slices=llguidance.LLTokenizer.json_slices())
        self.bits = numpy.zeros((vocabulary.width + 31) // 32, dtype=numpy.int32)
        self.grammar = None

    def compile(self, subject):
        if "tools" in subject:
            tags = [self.module.StructTag(
                trigger="<tool_call>",
                begin=f'<tool_call>\n{{"name": "{tool["name"]}", "arguments": ',
                grammar=json.loads(tool["parameters"]), end="}\n</tool_call>")
                for tool in subject["tools"]]
            self.grammar = self.module.StructTag.to_grammar(tags, assume_special=False)
        else:
            try:
                self.grammar = self.module.LLMatcher.grammar_from_json_schema(subject["schema"])
            except ValueError as error:
                raise Refused(str(error)) from None
        self.begin()

    def begin(self):
        matcher = self.module.LLMatcher(self.tokenizer, self.grammar, log_level=0)
        if matcher.is_error():
            raise Refused(matcher.get_error())
        place, size = self.bits.ctypes.data, self.bits.nbytes
        return (matcher.consume_token, lambda: matcher.unsafe_compute_mask_ptr(place, size),
                matcher.is_accepting)


ENGINES = {engine.name: engine for engine in (XGrammar, LlGuidance)}


def median(values):
    return sorted(values)[len(values) // 2]


def cost(clock, action=None):
    """What a call of `action` costs, with the reading of the clock."""
    times = []
    for _ in range(2000):
        begin = clock()
        if action:
            action()
        times.append(clock() - begin)
    return median(times)


def is_from_engine(fault, engine):
    """Whether the engine raised it. A panic of Rust has a class of its own in each library."""
    return isinstance(fault, engine.faults) or type(fault).__name__ == "PanicException"


class Meter:
    """Times are those of the engine: what the clocks and Python's calls cost is taken away."""

    def __init__(self, engine):
        self.engine = engine
        self.cpu_cost = cost(cpu)
        self.steady_cost = cost(steady)
        self.call_cost = cost(steady, "".isalpha) - self.steady_cost
        self.compute_only = None

    def measure(self, subject):
        """The row of a case. What the engine itself raises is part of it; all else is raised."""
        row = {"set": subject["set"], "name": subject["name"], "outcome": "ok", "reason": ""}
        try:
            self.measure_into(row, subject)
        except Refused as refusal:
            row.update(outcome="refused", reason=str(refusal)[:300])
        except BaseException as fault:
            if not is_from_engine(fault, self.engine):
                raise
            # Counts of half a case would look like those of a whole one.
            row = {"set": subject["set"], "name": subject["name"], "outcome": "lost",
                   "reason": f"{type(fault).__name__}: {fault}"[:300]}
        return row

    def measure_into(self, row, subject):
        begin = cpu()
        self.engine.compile(subject)
        row["compile_ns"] = cpu() - begin - self.cpu_cost
        self.engine.begin()[1]()
        row["first_mask_ns"] = cpu() - begin - self.cpu_cost
        self.masks(subject, row)
        self.checks(subject, row)

    def masks(self, subject, row):
        times = []
        taken = self.cpu_cost + self.call_cost
        spent = 0
        for text in subject["texts"]:
            if not text["valid"]:
                continue
            accept, mask, _ = self.engine.begin()
            for token in [*text["tokens"], None]:
                begin = cpu()
                mask()
                times.append(max(0, cpu() - begin - taken))
                spent += times[-1]
                if token is None or not accept(token) or spent > MASKS_MAX_NS:
                    break
        row["masks_ns"] = times

    def checks(self, subject, row):
        times = []
        counts = {"right": 0, "wrongly_accepted": 0, "wrongly_rejected": 0}
        taken = self.steady_cost + self.call_cost
        total = 0
        for text in subject["texts"]:
            accept, _, may_end = self.engine.begin()
            alive = True
            cpu_begin = cpu()
            for token in text["tokens"]:
                begin = steady()
                alive = accept(token)
                times.append(max(0, steady() - begin - taken))
                if not alive:
                    break
            total += cpu() - cpu_begin
            accepted = alive and may_end()
            counts["right" if accepted == text["valid"] else
                   "wrongly_accepted" if accepted else "wrongly_rejected"] += 1
        row.update(counts, checks_ns=times, checks_cpu_ns=total)


def memory_kib(key):
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(key):
            return int(line.split()[1])
    return 0


def main(engine_name, corpus, vocabulary_file, out, skip="0"):
    vocabulary = vocabularies.decode(Path(vocabulary_file).read_bytes())
    before = memory_kib("VmRSS")
    begin = cpu()
    engine = ENGINES[engine_name](vocabulary)
    prepare_ns = cpu() - begin
    prepared = memory_kib("VmRSS")
    meter = Meter(engine)
    with open(corpus, encoding="utf-8") as lines, open(out, "a", encoding="utf-8") as results:
        for number, line in enumerate(lines):
            if number < int(skip):
                continue
            used = resource.getrusage(resource.RUSAGE_SELF)
            limit = int(used.ru_utime + used.ru_stime) + CASE_SECONDS_MAX + 1
            resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
            results.write(json.dumps(meter.measure(json.loads(line))) + "\n")
            results.flush()
        results.write(json.dumps({
            "engine": engine_name, "version": importlib.metadata.version(engine_name),
            "prepare_ns": prepare_ns, "prepared_kib": prepared - before,
            "peak_kib": memory_kib("VmHWM") - before,
            "call_ns": meter.call_cost, "total_ns": cpu() - begin}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
