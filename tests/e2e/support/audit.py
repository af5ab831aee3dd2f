"""Every answer that any test sees is held against the published shapes.

Tests read answers in many ways (curl, sockets, client libraries in this process and in others), so
what does not fit is collected here, and the runner adds it to the verdict of the running test.
"""
import json
import re
import threading

from support import anthropic_shapes, openai_shapes
from support.schema import Misfit, each

OPENAI_PATHS = ("chat/completions", "completions", "embeddings", "responses")
ANTHROPIC = {"messages": anthropic_shapes.message,
             "messages/count_tokens": anthropic_shapes.TOKEN_COUNT,
             "models": anthropic_shapes.MODELS, "models/*": anthropic_shapes.MODEL,
             "messages/batches": None, "messages/batches/*": None,
             "messages/batches/*/cancel": anthropic_shapes.BATCH,
             "messages/batches/*/results": None}
OPENAI = {"chat/completions": openai_shapes.CHAT, "completions": openai_shapes.COMPLETION,
          "embeddings": openai_shapes.EMBEDDINGS, "responses": openai_shapes.response}
# Answers about the server itself; their own tests read them.
OPERATIONS = re.compile(
    r"(healthz|livez|health|metrics|api/hello|v1/health|system_info|instances|cache/misses|"
    r"console|console/data|requests|requests/\w+|)")

_complaints = []
_lock = threading.Lock()
counted = {"json": 0, "events": 0}


def drain():
    """What did not fit since the last call."""
    with _lock:
        found = list(_complaints)
        _complaints.clear()
    return found


def complain(text):
    with _lock:
        _complaints.append(text)


def route_of(path):
    """The route under /v1 of a request's path: aliases and identifiers taken out."""
    path = re.sub("/+", "/", path.split("?")[0].split("#")[0]).strip("/")
    while path.startswith("v1/"):
        path = path.removeprefix("v1/")
    path = re.sub("^models/.+", "models/*", path)
    return re.sub(r"^messages/batches/[^/]+", "messages/batches/*", path)


def check_shape(shape, value, name):
    """One value. Never raises."""
    try:
        shape(value, name)
    except Misfit as fault:
        complain(str(fault))


def check_answer(method, path, status, content_type, body):
    """One answer, whole or cut off by a client that left. Never raises."""
    kind = (content_type or "").split(";")[0].strip()
    route = route_of(path)
    try:
        if kind == "text/event-stream":
            check_stream(route, body)
        elif method == "HEAD" or not body:
            return
        elif kind == "application/json":
            check_json(method, route, status, body)
        elif route == "messages/batches/*/results":
            each(anthropic_shapes.BATCH_RESULT)([json.loads(line) for line in body.splitlines()],
                                                "results")
        elif not OPERATIONS.fullmatch(route):
            raise Misfit(f"content type {kind!r}")
    except (Misfit, ValueError) as fault:
        complain(f"{method} {path} {status}: {fault}")


def check_json(method, route, status, body):
    value = json.loads(body)
    with _lock:
        counted["json"] += 1
    if route == "healthz" and status in (200, 503):
        return  # not ready is an answer about health, not an error of the request
    if status >= 400:
        shape = openai_shapes.ERROR if route in OPENAI_PATHS else anthropic_shapes.ERROR
        shape(value, "error")
        return
    if OPERATIONS.fullmatch(route):
        return
    shape = shape_of(method, route)
    if shape is None:
        raise Misfit(f"nothing is known to answer {method} {route} with JSON")
    shape(value, "body")


def shape_of(method, route):
    if route == "messages/batches":
        return anthropic_shapes.BATCH if method == "POST" else anthropic_shapes.BATCHES
    if route == "messages/batches/*":
        deleted = method == "DELETE"
        return anthropic_shapes.BATCH_DELETED if deleted else anthropic_shapes.BATCH
    return ANTHROPIC.get(route) or OPENAI.get(route)


def frames_of(body):
    """(event name or None, data) of the whole frames; the last one may be cut off."""
    text = body.decode("utf-8", errors="replace").replace("\r\n", "\n")
    for frame in text.split("\n\n")[:-1]:
        lines = [line for line in frame.split("\n") if line and not line.startswith(":")]
        if not lines:
            continue
        fields = {}
        for line in lines:
            name, _, value = line.partition(":")
            if name in fields or name not in ("event", "data"):
                raise Misfit(f"a frame with the lines {lines}")
            fields[name] = value.removeprefix(" ")
        yield fields.get("event"), fields.get("data")


def check_stream(route, body):
    for name, data in frames_of(body):
        with _lock:
            counted["events"] += 1
        if route in OPENAI_PATHS and route != "responses":
            check_chunk(route, name, data)
            continue
        value = json.loads(data)
        if value.get("type") != name:
            raise Misfit(f"event {name} with type {value.get('type')}")
        if route == "responses":
            openai_shapes.response_event(value, name)
        else:
            anthropic_shapes.EVENT(value, name)


def check_chunk(route, name, data):
    if name is not None:
        raise Misfit(f"a chunk with the name {name}")
    if data == "[DONE]":
        return
    value = json.loads(data)
    if "error" in value:
        openai_shapes.ERROR(value, "error")
    elif route == "completions":
        openai_shapes.COMPLETION(value, "chunk")
    else:
        openai_shapes.CHUNK(value, "chunk")


def check_response(request, response, body):
    """What a recording transport has seen of an answer."""
    if not response.headers.get("content-encoding"):
        check_answer(request.method, request.url.raw_path.decode(), response.status_code,
                     response.headers.get("content-type"), body)
