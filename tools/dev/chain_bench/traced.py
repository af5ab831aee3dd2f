"""System calls of a request, and how often its body crosses the border of a process: strace on all
processes of a side, around the model without weights."""
import re
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

from dev.chain_bench import plans
from dev.common import Failure

# 71 recvmsg(9<socket:[40]>, {…}, 0) = 300      or, cut in two, with lines of others between:
# 71 recvmsg(9<socket:[40]>,  <unfinished ...>  and  71 <... recvmsg resumed>{…}, 0) = 300
CALL = re.compile(r"^(\d+) +(\w+)\((?:\d+<(\w+):)?")
RESUMED = re.compile(r"^(\d+) +<\.\.\. \w+ resumed>")
RESULT = re.compile(r"= (\d+)\s*$")
INTO = {"read", "readv", "recvfrom", "recvmsg"}
OUT_OF = {"write", "writev", "sendto", "sendmsg"}
REQUESTS = 30
BODY_TOKENS = 6000
BODIES = 5
PATIENCE_SECONDS = 60


class Traced:
    """Traces processes while the context is open."""

    def __init__(self, pids, out):
        self.pids = pids
        self.out = Path(out)
        self.tracer = None

    def __enter__(self):
        words = ["strace", "-f", "-y", "-o", str(self.out)]
        for pid in self.pids:
            words += ["-p", str(pid)]
        self.tracer = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        # It says so once for each process, when all threads of it are attached.
        for _ in self.pids:
            line = self.tracer.stderr.readline()
            if "attached" not in line:
                self.__exit__()
                raise Failure("strace cannot trace here: " + line.strip(), 2)
        time.sleep(0.3)
        return self

    def __exit__(self, *_):
        self.tracer.send_signal(signal.SIGINT)
        try:
            self.tracer.communicate(timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.tracer.kill()
            self.tracer.communicate()

    def lines(self):
        return self.out.read_text(encoding="utf-8", errors="replace").splitlines()


def count_calls(lines):
    """{call: how many}. One that is cut in two lines counts once."""
    return Counter(match[2] for match in map(CALL.match, lines) if match)


def count_bytes(lines):
    """(bytes that came into processes, bytes that left them) through sockets."""
    into = out_of = 0
    cut = {}  # thread → the call that it is in
    for line in lines:
        match = CALL.match(line)
        resumed = RESUMED.match(line)
        if match and line.endswith("<unfinished ...>"):
            cut[match[1]] = match
        call = match or (resumed and cut.pop(resumed[1], None))
        result = RESULT.search(line)
        if call and result and call[3] == "socket":
            into += int(result[1]) if call[2] in INTO else 0
            out_of += int(result[1]) if call[2] in OUT_OF else 0
    return into, out_of


def measure(side, folder):
    """Calls of a request, and how many times the bytes of a large body come in and go out."""
    asks = plans.questions("traced", REQUESTS, 12, max_tokens=1, stream=False, model=side.model)
    side.load(plans.closed(asks[:5]), clients=1)
    pids = [process.pid() for process in side.processes().values()]
    with Traced(pids, folder / "strace.txt") as calls:
        side.load(plans.closed(asks), clients=1)
    total = sum(count_calls(calls.lines()).values()) / REQUESTS
    large = plans.questions("body", BODIES, BODY_TOKENS, max_tokens=1, stream=False,
                            model=side.model)
    side.load(plans.closed(large[:1]), clients=1)
    with Traced(pids, folder / "strace.txt") as crossings:
        side.load(plans.closed(large), clients=1)
    into, out_of = count_bytes(crossings.lines())
    sent = sum(len(ask.body()) for ask in large)
    return {"calls": total, "into": into / sent, "out of": out_of / sent}
