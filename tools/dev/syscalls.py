"""Counts the system calls of a served request: `./dev syscalls`.

A server with one compute thread (so that the model library's own pool makes none) is traced with
strace while it answers requests on warm connections; the client sends each request in one piece.
Counted are all threads. A burst is what one step of the engine sends: one wake of the I/O thread,
the I/O thread's return from its wait, and one write for each stream.
"""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from dev import build, measurement_page, model, sysdeps
from dev.common import ROOT, Failure, say

PAGE = ROOT / "docs/measurements/admission_bench.md"
SECTION = "system calls"
READY = re.compile(r"ready http://127\.0\.0\.1:(\d+) ")
# 4711 1700000000.123456 sendmsg(9, …
CALL = re.compile(r"(\d+) +[\d.]+ (\w+)\(")
PATIENCE_SECONDS = 120
REQUESTS = 40
WARM_REQUESTS = 10
STREAMS = 16
STREAM_TOKENS = 48
GOAL = 9

ENDLESS = {"logit_bias": {"0": -100, "2": -100}, "temperature": 0}
QUESTION = "What is the capital of France?"


@dataclass
class Trace:
    """What was counted while `requests` were answered."""
    requests: int
    calls: Counter = field(default_factory=Counter)  # (role, name) → how many
    steps: int = 0       # of the engine
    pieces: int = 0      # of streams that clients received, as writes of the server

    def total(self, role=None, name=None):
        return sum(count for (whose, what), count in self.calls.items()
                   if role in (None, whose) and name in (None, what))

    def wakes(self):
        """Of the I/O thread by the engine: writes to the eventfd of its mailbox, or what Asio's own
        way of waking takes."""
        return self.total("engine", "write") + self.total("engine", "epoll_ctl")

    def writes(self):
        return self.total("I/O", "sendmsg") + self.total("I/O", "sendto")

    def in_bursts(self):
        """Wakes, as many returns from the wait, and writes."""
        return 2 * self.wakes() + self.writes()


def role_of(thread, process, names):
    if thread == process:
        return "I/O"
    return "engine" if names.get(thread) == "engine" else "workers"


def count_calls(lines, process, names):
    """A Counter of (role, call) from lines of `strace -f -ttt`. A call that is cut in two lines
    (unfinished, resumed) counts once."""
    calls = Counter()
    for line in lines:
        match = CALL.match(line)
        if match:
            calls[role_of(int(match[1]), process, names), match[2]] += 1
    return calls


def request_bytes(body, headers=()):
    content = json.dumps(body).encode()
    lines = [b"POST /v1/messages HTTP/1.1", b"host: localhost", b"content-type: application/json",
             *headers, b"content-length: %d" % len(content)]
    return b"\r\n".join(lines) + b"\r\n\r\n" + content


class Client:
    """One keep-alive connection; every request leaves in one piece."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, data):
        self.socket.sendall(data)

    def receive(self):
        """The whole answer, whose end is known by its length or its last chunk."""
        data = b""
        while not is_whole(data):
            part = self.socket.recv(65536)
            if not part:
                raise Failure("the server closed a connection: " + data[:200].decode("latin-1"))
            data += part
        if not data.startswith(b"HTTP/1.1 200"):
            raise Failure("not answered: " + data[:300].decode("latin-1"))
        return data

    def ask(self, data):
        self.send(data)
        return self.receive()


def is_whole(data):
    head, mark, body = data.partition(b"\r\n\r\n")
    if not mark:
        return False
    length = re.search(rb"\ncontent-length: (\d+)", head.lower())
    return len(body) >= int(length[1]) if length else body.endswith(b"\r\n0\r\n\r\n")


class Server:
    """The program with one compute thread, in folders of its own."""

    def __init__(self, program, folder, settings):
        variables = {**os.environ, "ZEROHOP_BATCHES_FOLDER": "", "XDG_STATE_HOME": str(folder),
                     "ZEROHOP_ENGINE_SEQUENCES": str(STREAMS), "ZEROHOP_ENGINE_KV_CELLS": "16384",
                     "ZEROHOP_SCHEDULER_MAX_WAIT_SECONDS": "3600",
                     "ZEROHOP_MODEL_PREPARE": "off",
                     # Who forbids core files also forbids being traced.
                     "ZEROHOP_SERVER_CORE_DUMPS": "allow", **settings}
        self.process = subprocess.Popen(
            [str(program), "serve", "--port", "0", "--threads", "1", "--context", "1024",
             "--log-level", "error"],
            env=variables, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        match = READY.match(self.process.stdout.readline())
        if not match:
            self.close()
            raise Failure("the server does not come up")
        self.port = int(match[1])

    def names(self):
        """Thread → its name."""
        tasks = Path(f"/proc/{self.process.pid}/task")
        return {int(task.name): (task / "comm").read_text().strip() for task in tasks.iterdir()}

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def trace(server, folder, requests, work, headers=()):
    """Traces the server while `work()` makes `requests` requests."""
    out = folder / "strace.txt"
    names = server.names()
    begin = steps_of(server, headers)
    tracer = subprocess.Popen(
        ["strace", "-f", "-ttt", "-o", str(out), "-p", str(server.process.pid)],
        stderr=subprocess.PIPE, text=True)
    try:
        # It says so once all threads are attached.
        line = tracer.stderr.readline()
        if "attached" not in line:
            raise Failure("strace cannot trace here: " + line.strip(), 2)
        time.sleep(0.3)
        pieces = work()
    finally:
        tracer.send_signal(signal.SIGINT)
        tracer.communicate(timeout=PATIENCE_SECONDS)
    with open(out, encoding="utf-8", errors="replace") as lines:
        calls = count_calls(lines, server.process.pid, names)
    return Trace(requests, calls, steps_of(server, headers) - begin, pieces or 0)


def steps_of(server, headers):
    client = Client(server.port)
    page = client.ask(b"\r\n".join([b"GET /metrics HTTP/1.1", b"host: localhost", *headers])
                      + b"\r\n\r\n").decode()
    client.socket.close()
    return sum(int(float(line.rsplit(" ", 1)[1])) for line in page.splitlines()
               if line.startswith("zerohop_engine_steps_total"))


def whole_answers(server, folder, headers=(), questions=lambda number: QUESTION):
    """Answers of one token on one warm connection, to `questions` of the number of the request."""
    client = Client(server.port)
    requests = [request_bytes({"max_tokens": 1, **ENDLESS, "messages": [
        {"role": "user", "content": questions(number)}]}, headers)
        for number in range(WARM_REQUESTS + REQUESTS)]
    for data in requests[:WARM_REQUESTS]:
        client.ask(data)
    return trace(server, folder, REQUESTS,
                 lambda: [client.ask(data) for data in requests[WARM_REQUESTS:]] and 0, headers)


def streams(server, folder, number):
    """`number` streams at the same time, on warm connections."""
    clients = [Client(server.port) for _ in range(number)]
    bodies = [request_bytes({"max_tokens": STREAM_TOKENS, "stream": True, **ENDLESS,
                             "messages": [{"role": "user", "content": f"{i}: {QUESTION}"}]})
              for i in range(number)]

    def work():
        for client, data in zip(clients, bodies):
            client.send(data)
        return sum(client.receive().count(b"event: content_block_delta") for client in clients)

    work()
    return trace(server, folder, number, work)


def measure(program):
    """(name, Trace) of every kind of load."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="zerohop-syscalls-") as name:
        folder = Path(name)
        bare = {"ZEROHOP_AUTH_NO_AUTH": "true", "ZEROHOP_LIMITS_USAGE_FOLDER": ""}
        server = Server(program, folder, bare)
        try:
            found["whole"] = whole_answers(server, folder)
            found["new"] = whole_answers(server, folder,
                                         questions=lambda number: f"Question {number}: {QUESTION}")
            found["stream"] = streams(server, folder, 1)
            found["burst"] = streams(server, folder, STREAMS)
        finally:
            server.close()
        made = subprocess.run([str(program), "keys", "create", "--key-store", str(folder / "keys")],
                              check=True, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
        header = b"x-api-key: " + made.stdout.split()[0].encode()
        server = Server(program, folder, {"ZEROHOP_AUTH_STORE": str(folder / "keys"),
                                          "ZEROHOP_LIMITS_USAGE_FOLDER": str(folder / "usage")})
        try:
            found["policy"] = whole_answers(server, folder, [header])
        finally:
            server.close()
    return found


# ---- The page ----

def per_request(found, value):
    return f"{value / found.requests:.1f}"


def table_of_calls(found):
    """Lines of a table: what each thread calls for one whole answer, and what of it is a burst."""
    lines = ["| thread | system call | for each request |", "|---|---|---:|"]
    for (role, name), count in sorted(found.calls.items(), key=lambda entry: (entry[0][0],
                                                                              -entry[1])):
        if count / found.requests >= 0.1:
            lines.append(f"| {role} | `{name}` | {per_request(found, count)} |")
    return lines


def beyond_burst(found):
    """System calls of all threads for each request, less those of its burst."""
    return (found.total() - found.in_bursts()) / found.requests


def summary(found):
    whole, stream, burst = found["whole"], found["stream"], found["burst"]
    beyond, new_beyond = beyond_burst(whole), beyond_burst(found["new"])
    io_beyond = (whole.total("I/O") - whole.wakes() - whole.writes()) / whole.requests
    stream_beyond = stream.total() - stream.in_bursts()
    per_step = burst.steps or 1

    def met(good):
        return "reached" if good else "**missed**"

    return [
        "| | figure | goal |", "|---|---|---|",
        f"| whole answer of one token, all threads | {per_request(whole, whole.total())} |  |",
        f"| … beyond its burst, all threads | {beyond:.1f} | ≤ {GOAL}: {met(beyond <= GOAL)} |",
        f"| … beyond its burst, I/O thread | {io_beyond:.1f} |  |",
        f"| the same to a text that was never seen, all threads | "
        f"{per_request(found['new'], found['new'].total())} |  |",
        f"| … beyond its burst, all threads | {new_beyond:.1f} | "
        f"≤ {GOAL}: {met(new_beyond <= GOAL)} |",
        f"| to a text seen before, with keys, limits, budgets and ledger, all threads | "
        f"{per_request(found['policy'], found['policy'].total())} |  |",
        f"| one stream of {STREAM_TOKENS} tokens beyond its bursts, all threads | "
        f"{stream_beyond:.0f} |  |",
        f"| {STREAMS} streams: wakes of the I/O thread a step, one more for each start | "
        f"{burst.wakes() / per_step:.2f} | ≤ 1: {met(burst.wakes() <= burst.steps + STREAMS)} |",
        f"| {STREAMS} streams: writes for each stream and step | "
        f"{burst.writes() / per_step / STREAMS:.2f} | ≤ 1: "
        f"{met(burst.writes() <= burst.steps * STREAMS + 2 * STREAMS)} |",
        f"| {STREAMS} streams: system calls of all threads for each token sent | "
        f"{burst.total() / (burst.pieces or 1):.2f} |  |",
    ]


def section(found):
    text = ("`./dev syscalls`: strace on every thread, one compute thread (so that the model "
            f"library's own pool makes no calls), {REQUESTS} whole answers of one token to a "
            "cached prompt on one warm connection, as many to texts that were never seen and so "
            f"go by a worker, then one and {STREAMS} streams of "
            f"{STREAM_TOKENS} tokens. A burst is what a step of the engine sends: the wake of the "
            "I/O thread, its return from `epoll_wait`, and a write for each stream. Locks that "
            "two threads want at the same time cost a `futex`, under strace more often than "
            "without.")
    return "\n".join([text, "", *summary(found), "", "One whole answer, call by call:", "",
                      *table_of_calls(found["whole"]), ""])


def require_strace():
    if shutil.which("strace") is None:
        raise Failure("strace is not installed; install it with\n  sudo apt-get install strace", 2)


def write_section(program):
    say("counting system calls")
    text = section(measure(program))
    print(text, flush=True)
    measurement_page.put_section(PAGE, SECTION, text)


def run(args, sources):
    require_strace()
    if args.program:
        program = Path(args.program).resolve()
    else:
        sysdeps.require(["build", "bench"], args.yes)
        model.ModelDownload(sources).start().wait()
        program = build.program(build.build("bench", args.llama, sources, ["zerohop"]))
    write_section(program)
    return 0
