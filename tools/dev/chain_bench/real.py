"""Scenarios around the real model. Each measures one side in one round and says what it found."""
import contextlib
import json
import subprocess
import sys
import threading
from dataclasses import dataclass

from dev.chain_bench import figures, plans
from dev.chain_bench.sides import SEQUENCES, THREADS

SINGLE_QUESTION = 40
SINGLE_ANSWER = 32
SINGLE_REQUESTS = 6
REPEATS = 8
LONG_PROMPT = 1500
LONG_ANSWER = 16
STREAM_ANSWER = 48
STREAM_QUESTION = 40
SHARED_SYSTEM = 500
SHARED_REQUESTS = 12
JSON_REQUESTS = 4
CANCELLED_PROMPT = 1200
CANCEL_SECONDS = 0.7
CANCEL_REPETITIONS = 2
STALL_STREAMS = 4
STALL_PROMPT = 1200
STALL_SECONDS = 1.5
STALL_SECONDS_MAX = 10
NEIGHBOUR_FROM = 2.5
NEIGHBOUR_SECONDS = 4.0
REACTION_SECONDS = 1.0
MIX_SHARES = (0.5, 1.0, 1.3)
OVERLOAD_TIMES = 10
OVERLOAD_SECONDS = 5
DEADLINE_SECONDS = 5

PERSON = {"type": "object", "additionalProperties": False,
          "required": ["name", "age", "city", "likes"],
          "properties": {"name": {"type": "string", "maxLength": 20},
                         "age": {"type": "integer", "minimum": 0, "maximum": 120},
                         "city": {"enum": ["Oslo", "Paris", "Rome"]},
                         "likes": {"type": "array", "minItems": 1, "maxItems": 2,
                                   "items": {"type": "string", "maxLength": 12}}}}


@dataclass
class Setting:
    """What a run has settled before it measures."""
    round: int
    capacity: float   # requests of the mixed load a second that LiteLLM + llama-server answers
    seconds: float    # of one rate of the mixed load


def single(side, setting):
    rows = side.load(plans.closed(plans.questions(f"single{setting.round}", SINGLE_REQUESTS,
                                                  SINGLE_QUESTION, max_tokens=SINGLE_ANSWER)),
                     clients=1).rows
    return {"total": figures.percentile(figures.totals(rows), 0.5),
            "first": figures.percentile(figures.firsts(rows), 0.5),
            "failed": figures.failures(rows)}


def repeat(side, setting):
    asks = plans.questions(f"repeat{setting.round}", 1, 400, max_tokens=1)
    side.load(plans.closed(asks), clients=1)
    rows = side.load(plans.closed(asks * REPEATS), clients=1).rows
    return {"total": figures.percentile(figures.totals(rows), 0.5),
            "cached": figures.cached_share(rows), "failed": figures.failures(rows)}


def long(side, setting):
    asks = plans.questions(f"long{setting.round}", 1, LONG_PROMPT, max_tokens=LONG_ANSWER)
    rows = side.load(plans.closed(asks), clients=1).rows
    return {"total": figures.percentile(figures.totals(rows), 0.5),
            "first": figures.percentile(figures.firsts(rows), 0.5),
            "failed": figures.failures(rows)}


def shared(side, setting):
    text = plans.Text(f"shared{setting.round}")
    system = text.text(SHARED_SYSTEM)
    asks = [plans.Ask(text.text(20), 16, system=system) for _ in range(SHARED_REQUESTS)]
    loaded = side.load(plans.closed(asks), clients=SHARED_REQUESTS)
    return {"p50": figures.percentile(figures.firsts(loaded.rows), 0.5),
            "p95": figures.percentile(figures.firsts(loaded.rows), 0.95),
            "cached": figures.cached_share(loaded.rows), "failed": figures.failures(loaded.rows)}


def streams(count):
    """Streams at the same time, and what all processes of the side use meanwhile."""

    def measure(side, setting):
        asks = plans.questions(f"streams{count}-{setting.round}", count, STREAM_QUESTION,
                               max_tokens=STREAM_ANSWER)
        before = usage(side)
        loaded = side.load(plans.closed(asks), clients=count)
        after = usage(side)
        found = {"rate": figures.tokens(loaded.rows) / loaded.seconds,
                 "p95": figures.percentile(figures.firsts(loaded.rows), 0.95),
                 "failed": figures.failures(loaded.rows)}
        for name, use in after.items():
            found[f"memory {name}"] = use["peak"]
            found[f"cpu {name}"] = (use["cpu"] - before[name]["cpu"]) / loaded.seconds
            spent = outside(before[name], use, compute=name != "proxy")
            found[f"outside {name}"] = spent / loaded.seconds / THREADS
        return found

    return measure


def usage(side):
    return {name: {**process.use(), "threads": process.threads()}
            for name, process in side.processes().items()}


def outside(before, after, compute=True):
    """Processor seconds of the threads that compute no matrices. Those that do are by far the
    busiest, because they wait for each other by spinning; a proxy has none (`compute`)."""
    spent = [seconds - before["threads"].get(thread, ("", 0.0))[1]
             for thread, (_, seconds) in after["threads"].items()]
    if not compute:
        return after["cpu"] - before["cpu"]
    busiest = max(spent)
    return sum(seconds for seconds in spent if seconds <= busiest / 3)


def constrained(side, setting):
    form = {"response_format": {"type": "json_schema",
                                "json_schema": {"name": "person", "schema": PERSON,
                                                "strict": True}}}
    text = plans.Text(f"json{setting.round}")
    asks = [plans.Ask(f"Describe a person as JSON: {text.text(12)}", 120, stream=False,
                      endless=False, more=form) for _ in range(JSON_REQUESTS)]
    rows = side.load(plans.closed(asks), clients=1).rows
    ended = [row for row in figures.whole(rows) if row["finish_reason"] == "stop"]
    free = [plans.Ask(ask.question, 40, stream=False) for ask in asks]
    free_rows = side.load(plans.closed(free), clients=1).rows
    return {"valid": sum(is_person(row["text"]) for row in ended) / len(rows) if rows else None,
            "cut": len(figures.whole(rows)) - len(ended),
            "token": per_token(rows), "free": per_token(free_rows),
            "failed": figures.failures(rows)}


def per_token(rows):
    """Milliseconds of a request for each token of its answer."""
    count = figures.tokens(figures.whole(rows))
    return sum(figures.totals(rows)) / count if count else None


def is_person(text):
    """Whether the text is what PERSON asks for."""
    try:
        value = json.loads(text)
    except ValueError:
        return False
    if not isinstance(value, dict) or set(value) != set(PERSON["required"]):
        return False
    likes = value["likes"]
    return (isinstance(value["name"], str) and len(value["name"]) <= 20
            and type(value["age"]) is int and 0 <= value["age"] <= 120
            and value["city"] in PERSON["properties"]["city"]["enum"]
            and isinstance(likes, list) and 1 <= len(likes) <= 2
            and all(isinstance(like, str) and len(like) <= 12 for like in likes))


def cancel(side, setting):
    """The client of a long prompt leaves; what a short request right behind it has to wait."""
    text = plans.Text(f"cancel{setting.round}")
    idle, behind = [], []
    for _ in range(CANCEL_REPETITIONS):
        rows = side.load(plans.closed([plans.Ask(text.text(12), 8)]), clients=1).rows
        idle += figures.totals(rows)
        gone = plans.line(plans.Ask(text.text(CANCELLED_PROMPT)), "gone", 0, CANCEL_SECONDS)
        short = plans.line(plans.Ask(text.text(12), 8), "short", CANCEL_SECONDS + 0.01)
        rows = side.load([gone, short], warm=2).rows
        behind += figures.totals([row for row in rows if row["kind"] == "short"])
    return {"idle": figures.percentile(idle, 0.5), "behind": figures.percentile(behind, 0.5)}


def stall(side, setting):
    """Running streams while a long prompt arrives."""
    text = plans.Text(f"stall{setting.round}")
    lines = [plans.line(plans.Ask(text.text(20), 400), "stream", 0, STALL_SECONDS_MAX)
             for _ in range(STALL_STREAMS)]
    lines.append(plans.line(plans.Ask(text.text(STALL_PROMPT), 1), "long", STALL_SECONDS,
                            STALL_SECONDS_MAX))
    rows = side.load(lines, warm=STALL_STREAMS + 1).rows
    late = rows[-1]
    if not late["text_times"]:
        return {"gap": None, "first": None}
    return {"gap": figures.longest_gap(rows[:-1], STALL_SECONDS, late["text_times"][0]),
            "first": (late["text_times"][0] - late["due"]) * 1e3}


@contextlib.contextmanager
def neighbour_after(seconds):
    """Another process that keeps a core busy, in a session of its own, from then on."""
    found = []

    def begin():
        found.append(subprocess.Popen([sys.executable, "-c", "while True: pass"],
                                      start_new_session=True))

    timer = threading.Timer(seconds, begin)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for process in found:
            process.kill()
            process.wait()


def neighbour(side, setting):
    text = plans.Text(f"neighbour{setting.round}")
    end = NEIGHBOUR_FROM + NEIGHBOUR_SECONDS
    lines = [plans.line(plans.Ask(text.text(20), 1000), "stream", 0, end)
             for _ in range(SEQUENCES)]
    with neighbour_after(NEIGHBOUR_FROM):
        rows = side.load(lines).rows
    before = figures.rate(rows, REACTION_SECONDS, NEIGHBOUR_FROM)
    beside = figures.rate(rows, NEIGHBOUR_FROM + REACTION_SECONDS, end)
    return {"alone": before, "kept": figures.ratio(beside, before)}


def capacity(side):
    """Requests of the mixed load a second that a side answers when all its places are taken."""
    asks = [plans.line(ask, kind) for kind, ask in plans.mixed_asks(24, "capacity")]
    loaded = side.load(asks, clients=SEQUENCES)
    return len(figures.whole(loaded.rows)) / loaded.seconds


def mixed(side, setting):
    """An open loop at rising rates. {rate: figures} under `rates`."""
    found = {}
    for share in MIX_SHARES:
        rate = share * setting.capacity
        seed = f"mixed{setting.round}-{share}"
        loaded = side.load(plans.mixed_open(rate, setting.seconds, seed), drain=40)
        longest = (setting.seconds + 40) * 1e3
        totals = figures.with_failures(loaded.rows, longest)
        found[share] = {"offered": len(loaded.rows) / setting.seconds,
                        **{f"p{part}": figures.percentile(totals, part / 100)
                           for part in (50, 95, 99)},
                        "first95": figures.percentile(figures.firsts(loaded.rows), 0.95),
                        "failed": figures.failures(loaded.rows),
                        "late": max((row["sent"] - row["due"]) * 1e3 for row in loaded.rows)}
    return {"rates": found}


def overload(side, setting):
    """Ten times as many short requests as the chain can answer; who waits too long leaves."""
    asks = plans.questions(f"peak{setting.round}", 32, 20, max_tokens=16)
    peak = side.load(plans.closed(asks), clients=2 * SEQUENCES)
    at_peak = len(figures.whole(peak.rows)) / peak.seconds
    times = plans.arrivals(OVERLOAD_TIMES * at_peak, OVERLOAD_SECONDS, setting.round)
    asks = plans.questions(f"overload{setting.round}", len(times), 20, max_tokens=16)
    lines = [plans.line(ask, "", due, DEADLINE_SECONDS) for due, ask in zip(times, asks)]
    loaded = side.load(lines, warm=256, drain=DEADLINE_SECONDS + 1)
    refused = [(row["ended"] - row["due"]) * 1e3 for row in loaded.rows if row["end"] == "refused"]
    return {"peak": at_peak, "good": len(figures.whole(loaded.rows)) / loaded.seconds,
            "offered": len(times) / OVERLOAD_SECONDS,
            "refused": len(refused), "refusal": figures.percentile(refused, 0.5),
            "silent": sum(row["end"] in ("given_up", "broken") for row in loaded.rows)}
