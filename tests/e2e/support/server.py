"""One `zerohop serve` process."""
import ctypes
import http.client
import re
import select
import signal
import socket
import subprocess

from support.http import Reply, exchange
from support.prometheus import parse_metrics
from support.waiting import PATIENCE_SECONDS, wait_until

READY = re.compile(r"ready (https?://(\[.+\]|[^:]+):(\d+)|unix:\S+|\S+) instance=(\S+) model=(\S+)\n")
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def die_with_parent():
    """In the child: a runner that is killed leaves no server behind. (The system means the thread
    that started the child, so servers are started by the main thread.)"""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def core_limits(process="self"):
    """[soft, hard] of core files, as the kernel writes them."""
    with open(f"/proc/{process}/limits", encoding="ascii") as lines:
        row = next(line for line in lines if line.startswith("Max core file size"))
    return row.split()[4:6]


class ServerProcess:
    """Starts on construction; `wait_ready` before use; `kill` at the end."""

    def __init__(self, command, environment, log):
        self.log = log
        self.host, self.port, self.url, self.instance, self.model = "", 0, "", "", ""
        self.ready_line = ""
        self.rest_of_stdout = ""
        with open(log, "wb") as handle:
            self.process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=handle, text=True, preexec_fn=die_with_parent)

    def wait_ready(self):
        """Reads the ready line. Raises with the log's end when the program stops instead."""
        readable, _, _ = select.select([self.process.stdout], [], [], PATIENCE_SECONDS)
        line = self.process.stdout.readline() if readable else ""
        match = READY.fullmatch(line)
        if not match:
            self.kill()
            raise AssertionError(f"no ready line but {line!r}; exit code "
                                 f"{self.process.returncode}; log: {self.log_text()[-1500:]}")
        self.ready_line = line
        self.url, host, port, self.instance, self.model = match.groups()
        self.host = (host or "").strip("[]")
        self.port = int(port or 0)
        return self

    # ---- Requests ----

    def connect(self):
        """A bare TCP connection."""
        return socket.create_connection((self.host, self.port), timeout=PATIENCE_SECONDS)

    def request(self, method, path, body=None, headers=None) -> Reply:
        """One request on a connection of its own; the whole answer."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE_SECONDS)
        try:
            return exchange(connection, method, path, body, headers)
        finally:
            connection.close()

    def messages(self, body, headers=None):
        """POST /v1/messages; the message of a 200."""
        reply = self.request("POST", "/v1/messages", body, headers)
        assert reply.status == 200, f"{reply.status} {reply.body[:500]!r}"
        return reply.json()

    def text(self, body):
        """The text of the answer."""
        return "".join(block["text"] for block in self.messages(body)["content"])

    def count_tokens(self, body):
        reply = self.request("POST", "/v1/messages/count_tokens", body)
        assert reply.status == 200, f"{reply.status} {reply.body[:500]!r}"
        return reply.json()["input_tokens"]

    def health(self):
        return self.request("GET", "/healthz").json()

    def metrics(self):
        reply = self.request("GET", "/metrics")
        assert reply.status == 200, reply
        return parse_metrics(reply.body.decode())

    # ---- State ----

    def is_idle(self):
        health = self.health()
        return all(health[name] == 0 for name in
                   ("requests_in_flight", "queued", "prefilling", "decoding", "paused"))

    def wait_idle(self):
        """Until no request is left anywhere in the server."""
        wait_until(self.is_idle, lambda: f"work remains: {self.health()}")

    def wait_connections(self, number):
        """Until so many connections are open, that of the asking scrape included."""
        def read():
            return self.metrics().value("zerohop_http_connections")
        wait_until(lambda: read() == number, lambda: f"{read()} connections, not {number}")

    def cells_reserved(self):
        return self.health()["kv_cells"]["reserved"]

    def log_text(self):
        return self.log.read_text(errors="replace")

    # ---- The end ----

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def wait_exit(self):
        """The exit code; what else came on standard output is kept."""
        self.rest_of_stdout, _ = self.process.communicate(timeout=PATIENCE_SECONDS)
        return self.process.returncode

    def alive(self):
        return self.process.poll() is None

    def kill(self):
        """At once, if it still runs."""
        if self.alive():
            self.process.kill()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
