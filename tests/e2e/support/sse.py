"""Reads the bytes of a Messages stream as the strictest client would.

Sources: the protocol's event sequence, and what the official accumulators require of it. Frames
that hold only comments are allowed anywhere; everything else that a client could trip over is not.
"""
import json
from dataclasses import dataclass, field

from support import anthropic_shapes, audit

DELTA_OF_BLOCK = {"text": ("text_delta", "text"), "thinking": ("thinking_delta", "thinking"),
                  "tool_use": ("input_json_delta", "partial_json")}


@dataclass
class Frame:
    event: str
    data: dict


@dataclass
class StreamReading:
    """What one stream said. `failure` is the body of a final `error` event."""
    names: list = field(default_factory=list)
    texts: dict = field(default_factory=dict)   # block index → text so far
    message: dict = None
    stop_reason: str = None
    stop_sequence: str = None
    usage: dict = field(default_factory=dict)
    failure: dict = None
    stopped: bool = False
    open_block: dict = None
    deltas: int = 0

    @property
    def text(self):
        return "".join(self.texts[index] for index in sorted(self.texts))

    @property
    def ended(self):
        return self.stopped or self.failure is not None

    # ---- One frame after the other ----

    def add(self, frame):
        """Raises AssertionError on the first rule that the stream breaks."""
        assert not self.ended, f"{frame.event} after the end"
        assert frame.data.get("type") == frame.event, f"event {frame.event}, data {frame.data}"
        self.names.append(frame.event)
        audit.check_shape(anthropic_shapes.EVENT, frame.data, frame.event)
        step = getattr(self, "on_" + frame.event, None)
        assert step, f"unknown event {frame.event}"
        if frame.event not in ("message_start", "error"):
            assert self.message, f"{frame.event} before message_start"
        step(frame.data)

    def on_message_start(self, data):
        assert self.message is None, "message_start twice"
        message = data["message"]
        assert message["id"].startswith("msg_"), message
        assert message["type"] == "message" and message["role"] == "assistant", message
        assert isinstance(message["model"], str) and message["model"], message
        assert message["content"] == [], message
        assert message["stop_reason"] is None and message["stop_sequence"] is None, message
        self.message = message
        self.merge_usage(message["usage"])
        assert self.prompt_tokens() > 0, message["usage"]

    def on_ping(self, data):
        assert set(data) == {"type"}, data

    def on_content_block_start(self, data):
        assert self.open_block is None, "a block begins inside another"
        assert self.stop_reason is None, "a block begins after message_delta"
        index, block = data["index"], data["content_block"]
        assert index == len(self.texts), f"index {index}, expected {len(self.texts)}"
        assert block["type"] in DELTA_OF_BLOCK, block
        if block["type"] == "text":
            assert block["text"] == "", block
            assert block.get("citations", []) is not None, block
        self.open_block = {"index": index, "type": block["type"], "signed": False}
        self.texts[index] = ""
        self.deltas = 0

    def on_content_block_delta(self, data):
        assert self.open_block, "a delta outside of a block"
        assert data["index"] == self.open_block["index"], data
        kind, key = DELTA_OF_BLOCK[self.open_block["type"]]
        assert not self.open_block["signed"], f"a delta behind the signature: {data}"
        if data["delta"]["type"] == "signature_delta" and kind == "thinking_delta":
            self.open_block["signed"] = True
            self.deltas += 1
            return
        assert data["delta"]["type"] == kind, data
        assert data["delta"][key], f"an empty delta: {data}"
        self.texts[data["index"]] += data["delta"][key]
        self.deltas += 1

    def on_content_block_stop(self, data):
        assert self.open_block and data["index"] == self.open_block["index"], data
        assert self.deltas > 0 or self.open_block["type"] == "tool_use", "a block without a delta"
        thinking = self.open_block["type"] == "thinking"
        assert self.open_block["signed"] == thinking, "thinking ends with its signature"
        self.open_block = None

    def on_message_delta(self, data):
        assert self.open_block is None, "message_delta inside a block"
        assert self.stop_reason is None, "message_delta twice"
        delta = data["delta"]
        assert isinstance(delta["stop_reason"], str), data
        self.stop_reason = delta["stop_reason"]
        self.stop_sequence = delta["stop_sequence"]
        assert (self.stop_sequence is not None) == (self.stop_reason == "stop_sequence"), data
        assert isinstance(data["usage"]["output_tokens"], int), data
        self.merge_usage(data["usage"])

    def on_message_stop(self, data):
        assert set(data) == {"type"}, data
        assert self.stop_reason is not None, "message_stop without message_delta"
        self.stopped = True

    def on_error(self, data):
        error = data["error"]
        assert isinstance(error["type"], str) and error["type"], data
        assert isinstance(error["message"], str) and error["message"], data
        self.failure = error

    # ---- Usage ----

    def merge_usage(self, usage):
        for name, value in usage.items():
            if name.endswith("tokens") and value is not None:
                assert type(value) is int and value >= 0, usage
                if name in self.usage and "input" in name:
                    assert value == self.usage[name], f"{name} changed: {self.usage} {usage}"
                self.usage[name] = value
        needed = {"input_tokens", "output_tokens", "cache_read_input_tokens"}
        assert needed <= set(self.usage), usage

    def prompt_tokens(self):
        return prompt_tokens(self.usage)


def prompt_tokens(usage):
    """All tokens of the prompt: the three input counters are disjoint."""
    return (usage["input_tokens"] + (usage.get("cache_read_input_tokens") or 0)
            + (usage.get("cache_creation_input_tokens") or 0))


def parse_frame(lines):
    """A frame without its blank line; None when it holds only comments."""
    fields = [line for line in lines if not line.startswith(":")]
    if not fields:
        assert lines, "an empty frame"
        return None
    assert len(fields) == 2, f"not one event and one data line: {lines}"
    assert fields[0].startswith("event: ") and fields[1].startswith("data: "), lines
    return Frame(fields[0].removeprefix("event: "), json.loads(fields[1].removeprefix("data: ")))


def read_frames(handle):
    """Yields frames from a binary file until it ends; a frame that is cut off is an error."""
    lines = []
    while raw := handle.readline():
        assert raw.endswith(b"\n"), f"the stream ends inside a line: {raw!r}"
        line = raw.decode("utf-8").rstrip("\r\n")
        if line:
            lines.append(line)
            continue
        frame = parse_frame(lines)
        lines = []
        if frame:
            yield frame
    assert not lines, f"the stream ends inside a frame: {lines}"


def read_stream(handle):
    """The whole stream, which must have come to its proper end."""
    reading = StreamReading()
    for frame in read_frames(handle):
        reading.add(frame)
    assert reading.ended, f"the stream ends after {reading.names[-1:]}"
    return reading
