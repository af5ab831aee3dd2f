"""Generations with a structure: which requests are made, what came back, whether it is right.

Everything is drawn from the number of a generation, so that a failure can be asked for again:
schemas and tools from tests/cases, the functions of the Berkeley function-calling leaderboard where
their files lie beside the project, `max_tokens` from 1 up, temperatures up to 1.5 and now and then
one at which nearly every legal token is as likely as every other.
"""
import hashlib
import io
import json
import re
import threading
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from dev.judging import leaderboard
from dev.judging.leaderboard import read_lines
from dev.judging.schema_judge import Unfit, make_judge, parse, write
from support.sse import StreamReading, read_frames
from support.waiting import PATIENCE_SECONDS

CASES = Path(__file__).resolve().parents[2] / "cases"
# Rows with more text than this are left out: their prompts take seconds each.
ROW_BYTES_MAX = 5_000

MAX_TOKENS = (1, 2, 3, 5, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 96, 160, 256)
TEMPERATURES = (0, 0.4, 0.8, 1, 1, 1.2, 1.5, 1.5, 100)
TOO_SHORT = re.compile(r"(\d+) is not enough: the shortest answer .* takes (\d+) tokens")


# ---- Cases ----

def schema_cases():
    return read_lines(CASES / "sampled_schemas.jsonl")


def tool_cases():
    return read_lines(CASES / "sampled_tools.jsonl")


def as_tool(name, description, schema):
    return {"name": name, "description": description, "input_schema": schema}


def leaderboard_cases():
    """Empty where the leaderboard's files are not."""
    cases = [{"prompt": row.question, "tools": [as_tool(*function) for function in row.functions],
              "id": row.id} for row in leaderboard.rows()]
    small = [case for case in cases if len(write(case["tools"])) + len(case["prompt"])
             <= ROW_BYTES_MAX]
    return sorted(small, key=lambda case: hashlib.sha256(case["id"].encode()).digest())


# ---- Requests ----

@dataclass
class Generation:
    number: int
    case: dict        # prompt, and schema or tools
    dialect: str      # "messages" or "chat"
    stream: bool
    choice: str = ""  # auto, any or one; of tools
    settings: dict = field(default_factory=dict)

    @property
    def most(self):
        return self.settings["max_tokens"]

    def with_tokens(self, number):
        """The same with another max_tokens."""
        return replace(self, settings={**self.settings, "max_tokens": number})

    @property
    def name(self):
        return self.case.get("id") or "+".join(tool["name"] for tool in self.case["tools"])[:80]


def pick(number, what, options):
    """One of the options: always the same one for this number."""
    digest = hashlib.sha256(f"{number}/{what}".encode()).digest()
    return options[int.from_bytes(digest[:8], "big") % len(options)]


def plan(number, schemas, tools, tokens_max):
    """The generation of that number: a schema, or tools, in turns."""
    cases = tools if number % 2 else schemas
    settings = {"max_tokens": pick(number, "tokens", [n for n in MAX_TOKENS if n <= tokens_max]),
                "temperature": pick(number, "temperature", TEMPERATURES), "seed": number}
    if pick(number, "truncated", (True, False, False)):
        settings.update(top_p=pick(number, "top_p", (1, 0.9, 0.5)),
                        top_k=pick(number, "top_k", (0, 1, 40)),
                        min_p=pick(number, "min_p", (0, 0.05)))
    if pick(number, "penalised", (True, False, False, False)):
        settings["repetition_penalty"] = 1.3
    return Generation(number, cases[number // 2 % len(cases)],
                      pick(number, "dialect", ("messages", "messages", "chat")),
                      pick(number, "stream", (True, False)),
                      pick(number, "choice", ("auto", "any", "any", "one")) if number % 2 else "",
                      settings)


def request_of(generation):
    """(path, body text)."""
    case = generation.case
    body = {"messages": [{"role": "user", "content": case["prompt"]}], **generation.settings,
            "stream": generation.stream}
    if generation.dialect == "messages":
        body.update(messages_fields(generation))
        return "/v1/messages", write(body)
    body.update(chat_fields(generation))
    return "/v1/chat/completions", write(body)


def messages_fields(generation):
    case = generation.case
    if "schema" in case:
        return {"output_config": {"format": {"type": "json_schema", "schema": case["schema"]}}}
    choice = {"auto": {"type": "auto"}, "any": {"type": "any"},
              "one": {"type": "tool", "name": case["tools"][0]["name"]}}[generation.choice]
    if pick(generation.number, "parallel", (True, False)):
        choice["disable_parallel_tool_use"] = True
    return {"tools": case["tools"], "tool_choice": choice}


def chat_fields(generation):
    case = generation.case
    if "schema" in case:
        named = {"name": "answer", "strict": True, "schema": case["schema"]}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    tools = [{"type": "function", "function": {"name": tool["name"], "strict": True,
                                               "description": tool["description"],
                                               "parameters": tool["input_schema"]}}
             for tool in case["tools"]]
    choice = {"auto": "auto", "any": "required",
              "one": {"type": "function", "function": {"name": case["tools"][0]["name"]}}}
    return {"tools": tools, "tool_choice": choice[generation.choice],
            "parallel_tool_calls": not pick(generation.number, "parallel", (True, False))}


# ---- Answers ----

@dataclass
class Answer:
    text: str = ""
    calls: list = field(default_factory=list)  # (name, text of the arguments)
    stop: str = ""                             # as the Messages API names it
    tokens: int = 0
    error: str = ""                            # of a 400


STOPS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}


def send(server, path, body):
    """The reply. A server that has too much to do is asked again, as its clients would."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        reply = server.request("POST", path, body)
        if reply.status not in (503, 529) or time.monotonic() > deadline:
            return reply
        time.sleep(1)


def ask(server, generation):
    path, body = request_of(generation)
    reply = send(server, path, body)
    if reply.status == 400:
        return Answer(error=reply.json()["error"]["message"])
    assert reply.status == 200, f"{reply.status} {reply.body[:300]!r}"
    if generation.dialect == "messages":
        read = read_messages_stream if generation.stream else read_message
    else:
        read = read_chat_stream if generation.stream else read_chat
    return read(reply.body)


def read_message(body):
    message = parse(body)
    answer = Answer(stop=message["stop_reason"], tokens=message["usage"]["output_tokens"])
    for block in message["content"]:
        if block["type"] == "tool_use":
            answer.calls.append((block["name"], write(block["input"])))
        else:
            answer.text += block["text"]
    return answer


def read_messages_stream(body):
    reading, names = StreamReading(), {}
    for frame in read_frames(io.BytesIO(body)):
        reading.add(frame)
        block = frame.data.get("content_block") or {}
        if block.get("type") == "tool_use":
            names[frame.data["index"]] = block["name"]
    assert reading.failure is None, reading.failure
    answer = Answer(stop=reading.stop_reason, tokens=reading.usage["output_tokens"])
    for index, text in reading.texts.items():
        if index in names:
            answer.calls.append((names[index], text or "{}"))
        else:
            answer.text += text
    return answer


def read_chat(body):
    completion = parse(body)
    choice = completion["choices"][0]
    calls = choice["message"].get("tool_calls") or []
    return Answer(choice["message"]["content"] or "",
                  [(call["function"]["name"], call["function"]["arguments"]) for call in calls],
                  STOPS[choice["finish_reason"]], completion["usage"]["completion_tokens"])


def read_chat_stream(body):
    answer, calls = Answer(), {}
    for line in body.decode().split("\n"):
        if not line.startswith("data: ") or line == "data: [DONE]":
            continue
        chunk = json.loads(line.removeprefix("data: "))
        assert "error" not in chunk, chunk
        for choice in chunk["choices"]:
            answer.text += choice["delta"].get("content") or ""
            for part in choice["delta"].get("tool_calls") or []:
                call = calls.setdefault(part["index"], ["", ""])
                call[0] += part["function"].get("name") or ""
                call[1] += part["function"].get("arguments") or ""
            if choice["finish_reason"]:
                answer.stop = STOPS[choice["finish_reason"]]
    answer.calls = [(name, arguments) for name, arguments in calls.values()]
    return answer


# ---- Judgement ----

class Tally:
    """Counts of outcomes, and the failures with all that is needed to see them again. Several
    threads may run generations.
    """

    def __init__(self):
        self.lock = threading.Lock()
        self.counts = Counter()
        self.failures = []
        self.valid_cases = set()  # names of the cases that got a valid answer
        self.judges = {}

    def count(self, what, number=1):
        with self.lock:
            self.counts[what] += number

    def run(self, server, generation):
        """Asks and judges one generation."""
        self.count("generations")
        try:
            self._judge(server, generation, ask(server, generation))
        except (AssertionError, Unfit, KeyError) as fault:
            self._fail(generation, f"{type(fault).__name__}: {fault}", "")

    def _judge(self, server, generation, answer):
        if answer.error:
            self._judge_refusal(server, generation, answer)
            return
        complaint = self._complaint(generation, answer)
        if complaint:
            self._fail(generation, complaint, answer)
            return
        self._count_valid(generation, answer)

    def _count_valid(self, generation, answer):
        self.valid_cases.add(generation.name)
        self.count("calls", len(answer.calls))
        self.count("parsed and valid, cut by max_tokens" if answer.stop == "max_tokens" else
                   "parsed and valid, ended by itself")

    def _complaint(self, generation, answer):
        """None, or what is wrong with an answer."""
        if answer.tokens > generation.most:
            return f"{answer.tokens} tokens"
        if "schema" in generation.case:
            if answer.stop not in ("end_turn", "max_tokens"):
                return f"stop reason {answer.stop}"
            return self._fault(generation.name, generation.case["schema"], answer.text)
        return self._complaint_of_calls(generation, answer)

    def _complaint_of_calls(self, generation, answer):
        schemas = {tool["name"]: tool["input_schema"] for tool in generation.case["tools"]}
        for name, arguments in answer.calls:
            if name not in schemas:
                return f"a call of {name}"
            fault = self._fault(generation.name + "/" + name, schemas[name], arguments)
            if fault:
                return f"{name}: {fault}"
        if answer.stop not in ("end_turn", "max_tokens", "tool_use"):
            return f"stop reason {answer.stop}"
        if answer.stop == "tool_use" and not answer.calls:
            return "tool_use without a call"
        if generation.choice != "auto" and not answer.calls:
            return "no call, though one was asked for"
        if generation.choice == "one" and answer.calls[0][0] != generation.case["tools"][0]["name"]:
            return "a call of another tool than the one asked for"
        if pick(generation.number, "parallel", (True, False)) and len(answer.calls) > 1:
            return f"{len(answer.calls)} calls, though one at most was allowed"
        return None

    def _fault(self, key, schema, text):
        try:
            value = parse(text)
        except Unfit as fault:
            return f"does not parse: {fault}"
        if key not in self.judges:
            self.judges[key] = make_judge(schema)
        return self.judges[key](value)

    def _judge_refusal(self, server, generation, answer):
        """Right where no document fits: with the number of tokens that it names, one does."""
        found = TOO_SHORT.search(answer.error)
        if not found or int(found[1]) != generation.most:
            self._fail(generation, "refused: " + answer.error, "")
            return
        needed = int(found[2])
        if needed <= generation.most:
            self._fail(generation, "refused, and yet it fits: " + answer.error, "")
            return
        self.count("refused with 400")
        self._judge_shortest(server, generation.with_tokens(needed))

    def _judge_shortest(self, server, generation):
        answer = ask(server, generation)
        complaint = answer.error or self._complaint(generation, answer)
        if complaint:
            self._fail(generation, f"with the {generation.most} tokens that it asks for: "
                                   f"{complaint}", answer)
            return
        self.valid_cases.add(generation.name)
        self.count("asked again with the tokens that a refusal named, and valid")

    def _fail(self, generation, complaint, answer):
        self.count("failures")
        self.failures.append({"number": generation.number, "case": generation.name,
                              "complaint": complaint, "answer": str(answer)[:2_000],
                              "request": request_of(generation)[1][:6_000]})

    def summary(self):
        lines = [f"{count} {what}" for what, count in self.counts.items()]
        by_case = Counter(failure["case"] for failure in self.failures)
        lines += [f"  {count} failures of {case}" for case, count in by_case.most_common()]
        return "\n".join(lines)
