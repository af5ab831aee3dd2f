"""Processes under test: how they are started, what they use, how they are held still while it is
another one's turn."""
import http.client
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

from dev.common import Failure

START_SECONDS_MAX = 900  # this server may prepare the model first
END_SECONDS_MAX = 15
POLL_SECONDS = 0.05


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Process:
    """One program. `words` may change between two starts."""

    def __init__(self, name, words, environment=None, log=None):
        self.name = name
        self.words = [str(word) for word in words]
        self.environment = environment or {}
        self.log = log
        self.process = None
        self.started = False  # at least once
        self.port = 0
        self.path = "/"       # that answers with 200 once it is up

    def start(self, port, path):
        """Starts it and waits until a GET of `path` is answered with 200."""
        out = open(self.log, "ab") if self.log else subprocess.DEVNULL
        self.process = subprocess.Popen(self.words, env={**os.environ, **self.environment},
                                        stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        if self.log:
            out.close()
        self.started = True
        self.port, self.path = port, path
        until = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < until and self.process.poll() is None:
            if answers(port, path):
                return self
            time.sleep(POLL_SECONDS)
        self.stop()
        raise Failure(f"{self.name} does not come up; the end of what it says:\n"
                      f"{self.last_words()}")

    def last_words(self):
        if not self.log or not Path(self.log).exists():
            return ""
        return Path(self.log).read_text(encoding="utf-8", errors="replace")[-1500:]

    def stop(self):
        if self.process is None:
            return
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            self.process.wait(END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def signal(self, number):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)

    def hold(self):
        """Whose turn it is not gets no processor at all."""
        self.signal(signal.SIGSTOP)

    def dead(self):
        return self.process is not None and self.process.poll() is not None

    def go_on(self):
        self.signal(signal.SIGCONT)

    def pid(self):
        return self.process.pid

    def use(self):
        return use_of(self.pid())

    def threads(self):
        return thread_seconds(self.pid())


def answers(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def use_of(pid):
    """{cpu: seconds, resident: MiB, peak: MiB} of a process and its threads."""
    found = {"cpu": sum(seconds for _, seconds in thread_seconds(pid).values()),
             "resident": 0.0, "peak": 0.0}
    for text in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        key, _, value = text.partition(":")
        if key in ("VmRSS", "VmHWM"):
            found["resident" if key == "VmRSS" else "peak"] = int(value.split()[0]) / 1024
    return found


def thread_seconds(pid):
    """{thread id: (name, processor seconds)}, to the nanosecond, where stat counts ticks."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            ran = (task / "schedstat").read_text(encoding="utf-8").split()[0]
            found[int(task.name)] = ((task / "comm").read_text(encoding="utf-8").strip(),
                                     int(ran) / 1e9)
        except OSError:
            continue  # it has ended
    return found
