"""What the Python client programs share: arguments, a record of what they saw, and a runner that
prints `ok FEATURE` or `FAIL FEATURE: reason`."""
import argparse
import base64
import json
import os
import sys
import time
import traceback
import urllib.request

from recording import recording_transport

MODEL = "smollm2-135m"
SYSTEM = "Answer in English."
CAPITAL = "What is the capital of France?"
LONG = " ".join(f"word{i % 10}" for i in range(6000))
PIXEL = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5E"
         "rkJggg==")
WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FORECAST = {"type": "object", "additionalProperties": False, "required": ["city", "degrees"],
            "properties": {"city": {"type": "string"}, "degrees": {"type": "integer"}}}
FORECAST_VALUE = {"city": "Oslo", "degrees": -3}


def options():
    parser = argparse.ArgumentParser()
    for name in ("scripted", "served", "record"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--dialect", default="")
    return parser.parse_args()


OPTIONS = options()


def record(method, path, status, kind, body):
    line = {"method": method, "path": path, "status": status, "type": kind,
            "body": base64.b64encode(body).decode()}
    with open(OPTIONS.record, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def recording_client(library):
    """A client of httpx (or its successor) that writes down every answer when it is closed."""
    transport = recording_transport(library, lambda request, response, body: record(
        request.method, request.url.path, response.status_code,
        response.headers.get("content-type", ""), body))
    return library.Client(transport=transport, timeout=240)


def idle():
    """Returns when the scripted server has nothing left to do."""
    for _ in range(600):
        with urllib.request.urlopen(OPTIONS.scripted + "/healthz") as reply:
            health = json.load(reply)
        if health["requests_in_flight"] == 0 and health["decoding"] == 0:
            return
        time.sleep(0.05)
    raise AssertionError("the server still works on an answer that nobody reads")


def fresh(text):
    """The text behind words that no other prompt begins with."""
    return f"Note {os.getpid()}-{time.monotonic_ns()}. {text}"


def raised(kind, call):
    """The exception of that class that `call` raises."""
    try:
        result = call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__} but {result}")


def run(features):
    """Each function under the name of its feature."""
    for name, function in features.items():
        try:
            function()
            print(f"ok {name}", flush=True)
        except Exception as fault:  # whatever a feature raises is its failure
            traceback.print_exc(file=sys.stderr)
            reason = " ".join(f"{type(fault).__name__}: {fault}".split())[:300]
            print(f"FAIL {name}: {reason}", flush=True)
