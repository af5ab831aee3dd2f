"""Requests, and when they are due: what bench/chain/plan.h reads."""
import json
import random
from dataclasses import dataclass, field

# One token each in the default model's vocabulary.
WORDS = ("the water between both people house when a machine reports its state to light river "
         "number of letter money within three days unless field system music history every second "
         "and nobody north market garden school paper small green often before under city world "
         "story answer window road never always table with morning good long").split()
SENTENCE = 12

REAL_MODEL = "smollm2-135m"
FAKE_MODEL = "fake"

# The kinds of the mixed load: how many of a hundred, tokens of the question, of the answer.
MIX = (("short", 50, 20, 8), ("middle", 30, 60, 24), ("shared", 15, 20, 16), ("long", 5, 400, 8))
SHARED_SYSTEM_TOKENS = 400


class Text:
    """English-like text, the same for the same seed. Needs no escaping."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def text(self, tokens):
        words = []
        for place in range(tokens):
            if place % (SENTENCE + 1) == SENTENCE:
                words[-1] += "."
            else:
                words.append(self.random.choice(WORDS))
        return " ".join(words)


@dataclass
class Ask:
    """One chat request."""
    question: str
    max_tokens: int = 16
    system: str = ""
    stream: bool = True
    model: str = REAL_MODEL
    endless: bool = True  # ends of turn banned, so that every answer has its full length
    more: dict = field(default_factory=dict)

    def body(self):
        messages = [{"role": "system", "content": self.system}] if self.system else []
        messages.append({"role": "user", "content": self.question})
        body = {"model": self.model, "temperature": 0, "max_tokens": self.max_tokens}
        if self.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        if self.endless:
            body["logit_bias"] = {"0": -100, "2": -100}
        return json.dumps({**body, **self.more, "messages": messages}, separators=(",", ":"))


def line(ask, kind="", due=0.0, give_up=0.0):
    return f"{due:.6f}\t{give_up:g}\t{kind or 'request'}\t{ask.body()}"


def questions(seed, count, tokens, **settings):
    """Different questions, all at once."""
    text = Text(seed)
    return [Ask(text.text(tokens), **settings) for _ in range(count)]


def arrivals(rate, seconds, seed):
    """Times with exponential gaps (a Poisson process): `rate` a second on average, and exactly so
    many in all, so that rounds differ in when and not in how much."""
    chance = random.Random(seed)
    count = max(1, round(rate * seconds))
    return sorted(chance.uniform(0, seconds) for _ in range(count))


def kinds(count, seed):
    """`count` kinds of the mix in its proportions, shuffled."""
    chosen = []
    for name, share, *_ in MIX:
        chosen += [name] * round(count * share / 100)
    chosen = (chosen + ["short"] * count)[:count]
    random.Random(seed).shuffle(chosen)
    return chosen


def mixed_asks(count, seed, **settings):
    """(kind, request) of a mixed load. The shared system prompt is the seed's."""
    text = Text(seed)
    system = text.text(SHARED_SYSTEM_TOKENS)
    sizes = {name: (prompt, answer) for name, _, prompt, answer in MIX}
    asks = []
    for kind in kinds(count, seed):
        prompt, answer = sizes[kind]
        asks.append((kind, Ask(text.text(prompt), answer,
                               system=system if kind == "shared" else "", **settings)))
    return asks


def mixed_open(rate, seconds, seed, **settings):
    """The lines of a mixed open loop."""
    times = arrivals(rate, seconds, seed)
    return [line(ask, kind, due)
            for due, (kind, ask) in zip(times, mixed_asks(len(times), seed, **settings))]


def closed(asks, kind="", give_up=0.0):
    return [line(ask, kind, 0, give_up) for ask in asks]
