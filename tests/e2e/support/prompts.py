"""Requests that the default model answers well, and bodies around them."""
import itertools
import os

MODEL = "smollm2-135m"
# With its own default system prompt the model takes the capital of France for a reason to speak
# French; with this one the right answers lead by a wide margin (0.6 logits at every token).
SYSTEM = "Answer in English."
CAPITAL = "What is the capital of France?"
CAPITALS = {"France": "Paris", "Germany": "Berlin", "Japan": "Tokyo", "Egypt": "Cairo",
            "Greece": "Athens", "Russia": "Moscow", "England": "London", "China": "Beijing"}
# Every temperature below is 0: the likeliest token, so that an answer can be expected.
GREEDY = {"temperature": 0}
# No end-of-turn token can be chosen: the answer lasts as long as max_tokens says.
ENDLESS = {"logit_bias": {"0": -1000, "2": -1000}}

_numbers = itertools.count(1)


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


def body(content, **fields):
    """A request for a greedy answer to one user message (text) or to `content` (messages)."""
    messages = [user(content)] if isinstance(content, str) else content
    return {"model": MODEL, "max_tokens": 32, "system": SYSTEM, "messages": messages,
            **GREEDY, **fields}


def capital(**fields):
    """Its answer contains Paris."""
    return body(CAPITAL, **fields)


def endless(tokens, **fields):
    """A request whose answer has exactly that many tokens."""
    return body(fresh("Tell me a long story."), max_tokens=tokens, **ENDLESS, **fields)


def fresh(text):
    """The text behind words that no other prompt of this run begins with."""
    return f"Note {os.getpid()}-{next(_numbers)}. {text}"


def long_text(words):
    """About one token a word."""
    return " ".join(f"word{i % 10}" for i in range(words // 2))
