"""All scenarios: what is measured, how often, and how it is told."""
from dataclasses import dataclass, field

from dev.chain_bench import fake, real
from dev.chain_bench.page import CHAIN, OURS, Row, Section
from dev.chain_bench.sides import SEQUENCES, WINDOW

MANY = 1000  # as many rounds as were asked for
COMPARED = (OURS, CHAIN)


@dataclass
class Scenario:
    measure: object
    section: Section
    rounds: int = MANY       # of the two sides that are compared
    side_rounds: int = 1     # of the sides beside them
    title: str = ""

    def runs_in(self, number, side):
        return number < (self.rounds if side in COMPARED else self.side_rounds)


def milliseconds(**labels):
    return [Row(key, label, "ms") for key, label in labels.items()]


FAILED = Row("failed", "requests that failed")

# In the order of a turn: what fills the cache with most comes last.
REAL = {
    "single": Scenario(real.single, Section(
        f"One client, one request at a time: questions of {real.SINGLE_QUESTION} tokens that were "
        f"never asked before, streamed answers of {real.SINGLE_ANSWER}; the median of "
        f"{real.SINGLE_REQUESTS} in each round.",
        [*milliseconds(total="total", first="first text"), FAILED])),
    "repeat": Scenario(real.repeat, Section(
        "The same prompt of 400 tokens again and again, answers of one token: what a cached "
        "prompt costs.",
        [*milliseconds(total="total, p50"), Row("cached", "share of the prompt found in the "
                                                          "cache"), FAILED]), rounds=3),
    "long": Scenario(real.long, Section(
        f"One prompt of {real.LONG_PROMPT} tokens (the window is {WINDOW}) that was never "
        f"sent before, an answer of {real.LONG_ANSWER}.",
        [*milliseconds(total="total", first="first text"), FAILED]), rounds=3),
    "shared": Scenario(real.shared, Section(
        f"{real.SHARED_REQUESTS} requests at once on {SEQUENCES} sequences (slots) behind one "
        f"new system prompt of {real.SHARED_SYSTEM} tokens.",
        [*milliseconds(p50="first text, p50", p95="first text, p95"),
         Row("cached", "share of prompts found in the cache"), FAILED]), rounds=1,
        title="shared system prompt"),
    "streams8": Scenario(real.streams(8), Section(
        f"8 streams of {real.STREAM_ANSWER} tokens at once, questions of {real.STREAM_QUESTION} "
        "tokens, from the first request to the last answer.",
        [Row("rate", "all streams", "tokens/s"), *milliseconds(p95="first text, p95"), FAILED]),
        rounds=2, title="8 streams"),
    "streams16": Scenario(real.streams(16), Section(
        f"The same with 16 streams on {SEQUENCES} sequences (slots).",
        [Row("rate", "all streams", "tokens/s"), *milliseconds(p95="first text, p95"), FAILED]),
        rounds=1, title="16 streams"),
    "json": Scenario(real.constrained, Section(
        "Answers that a JSON schema constrains (`response_format`), whole, and free answers to the "
        "same questions. What was cut by `max_tokens` says so and is counted by itself.",
        [Row("valid", "share of answers that are valid"), Row("cut", "cut by max_tokens"),
         *milliseconds(token="a request's time for each token", free="… of a free answer"),
         FAILED]), rounds=1, title="constrained JSON"),
    "mixed": Scenario(real.mixed, Section(
        "Open loop, arrivals at random times, the same ones for every side: half of the requests "
        "have a question of 20 tokens and an answer of 8, three in ten 60 and 24, three in twenty "
        "20 and 16 behind a shared system prompt of 400, one in twenty 400 and 8. Total times, "
        "from when a request was due."), side_rounds=2),
    "cancel": Scenario(real.cancel, Section(
        f"The client of a {real.CANCELLED_PROMPT}-token prompt closes its connection "
        f"{real.CANCEL_SECONDS} s into it; a short request follows at once.",
        milliseconds(idle="short request, idle", behind="short request behind the cancelled one")),
        rounds=1),
    "stall": Scenario(real.stall, Section(
        f"{real.STALL_STREAMS} streams run while a prompt of {real.STALL_PROMPT} tokens arrives.",
        milliseconds(gap="longest gap of a stream", first="first text of the long prompt")),
        rounds=1, title="long-prompt stall"),
    "neighbour": Scenario(real.neighbour, Section(
        f"{SEQUENCES} streams; after {real.NEIGHBOUR_FROM} s another process keeps one of "
        "the cores busy.",
        [Row("alone", "alone", "tokens/s"), Row("kept", "share kept beside the neighbour")]),
        rounds=1, title="busy neighbour"),
    "overload": Scenario(real.overload, Section(
        f"{real.OVERLOAD_TIMES} times as many requests as each side answers at its best, for "
        f"{real.OVERLOAD_SECONDS} s; clients leave after {real.DEADLINE_SECONDS} s.",
        [Row("peak", "answers at capacity", "/s"), Row("offered", "requests offered", "/s"),
         Row("good", "answers in time", "/s"), Row("refused", "told that it is too much"),
         Row("refusal", "… after, p50", "ms"), Row("silent", "without an answer")]),
        rounds=1),
}

FAKE = {
    "fixed": Scenario(fake.fixed, Section(
        "A model without weights, whose tokens cost next to nothing: one client, one request at a "
        f"time, {fake.ONE_TOKEN_REQUESTS} whole answers of one token and {fake.STREAM_REQUESTS} "
        f"streams of {fake.STREAM_ANSWER} tokens in a round. This server asks for a key and keeps "
        "limits, usage and budgets; behind the proxies it runs without them, so that their figures "
        "are their own cost and the least that a server behind them can have. Portkey's gateway "
        "waits 25 ms before it passes on the first event of a stream; so it stands in its code.",
        [*milliseconds(p50="one token, p50", p99="one token, p99",
                       first="stream, first text, p50", stream="stream, whole, p50"),
         Row("cpu zerohop", "processor time of the server for one token", "ms"),
         Row("cpu proxy", "processor time of the proxy for one token", "ms"),
         Row("memory proxy", "resident memory of the proxy", "MiB"), FAILED]),
        side_rounds=MANY, title="fixed cost"),
    "hundred": Scenario(fake.hundred, Section(
        f"{fake.HUNDRED} requests a second for {fake.HUNDRED_SECONDS} s, mixed as below, the same "
        "model.",
        [*milliseconds(p50="total, p50", p95="total, p95", p99="total, p99"), FAILED]),
        rounds=3, side_rounds=3, title="100 requests a second"),
}

POLICY = Scenario(fake.policy, Section(
    "Two processes of this server take turns, block by block: one with a key, seven limits, usage "
    "and budgets, one without; one token each, the model without weights.",
    [Row("on p50", "on, p50", "µs"), Row("off p50", "off, p50", "µs"),
     Row("cost p50", "difference of p50", "µs"), Row("cost p99", "difference of p99", "µs")]),
    title="policy on, less off")

CLASSIC = Section(
    "The four cases of the text that this project began with, and what it says to have gained by "
    "taking its layer away; beside them this machine's chain and this server. Its machine and "
    "model were others, so only the ratios compare.")


@dataclass
class Found:
    """What a run has found: {scenario: {side: [result of each round]}}."""
    sides: dict = field(default_factory=dict)
    policy: list = field(default_factory=list)
    traced: dict = field(default_factory=dict)
    bare: list = field(default_factory=list)

    def note(self, scenario, side, result):
        self.sides.setdefault(scenario, {}).setdefault(side, []).append(result)
