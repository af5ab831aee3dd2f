"""What the scripted model says (tests/fake_server/script.h has the format).

A test writes `case:NAME` into its prompt. Answers to the later turns of a case stand in front of
its first one, because the first rule that fits wins.
"""
import json


def call(name, **arguments):
    """A tool call as the model writes it."""
    body = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
    return f"<tool_call>\n{body}\n</tool_call>"


def case(name, reply, last="", **more):
    return {"anywhere": f"case:{name}", "last": last, "reply": reply, **more}


THOUGHT = "The user asks about Oslo."
THINKING = f"<think>\n{THOUGHT}\n</think>\n\n"
OSLO = call("get_weather", city="Oslo")
ROME = call("get_weather", city="Rome")
# Everything that is hard to carry in JSON inside of JSON.
HARD_ARGUMENTS = {"text": "Grüße 🙂 \"quoted\" \\ back\nline </tool_call",
                  "list": [1, 2.5, None, True], "nested": {"empty": {}, "none": []}}
WORDS = "All work and no play makes Jack a dull boy. "

RULES = [
    case("plain", "Hello from the script."),
    case("one-tool", OSLO),
    case("text-and-tool", "I will look.\n" + OSLO),
    case("two-tools", f"I will look.\n{OSLO}\n{ROME}"),
    # Slow enough that no two fragments of the arguments leave together.
    case("slow-tools", f"I will look.\n{OSLO}\n{ROME}", delay_ms=2),
    case("hard-arguments", call("record", **HARD_ARGUMENTS)),
    case("no-arguments", call("get_time")),
    case("round-trip", "It snows in Oslo.", last="snow, -3"),
    case("round-trip", OSLO),
    case("two-rounds", "Snow and sun.", last="sun, 20"),
    case("two-rounds", ROME, last="snow, -3"),
    case("two-rounds", OSLO),
    case("picture", "I see a note about an image.", last="image"),
    case("picture", call("screenshot")),
    case("thinking-tool", "It snows in Oslo.", last="snow, -3"),
    case("thinking-tool", THINKING + OSLO),
    case("thinking", THINKING + "It snows in Oslo."),
    case("thinks-twice", THINKING + "First." + THINKING + "Second."),
    case("text-then-thinking", "First." + THINKING + "Second."),
    case("call-inside-thinking", f"<think>\nPerhaps {OSLO}\n</think>\n\nNo call."),
    case("structured", json.dumps({"city": "Oslo", "degrees": -3})),
    case("json-tool", call("json", city="Oslo", degrees=-3)),
    case("stop", "one two STOP three"),
    case("unhurried", WORDS, repeat=4, delay_ms=10),
    case("slow", WORDS, repeat=200, delay_ms=15),
    case("creeping", WORDS, repeat=200, delay_ms=100),
    # Late enough that a stream has begun.
    case("breaks-down", WORDS, repeat=20, fail_at=100, delay_ms=2),
    case("empty", ""),
]
