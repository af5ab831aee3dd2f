"""SIGKILL at any moment: what was spent stays spent, and nothing that was reserved is stuck."""
import json
import random
import signal
import sqlite3
import sys
import threading
import time

from support.budgets import left, spent
from support.parallel import in_parallel
from support.prompts import capital, endless
from support.stream import OpenStream
from support.waiting import wait_until

SEED = 20260219
KILLS = 3
CLIENTS = 6
BUDGET = 6_000  # less than the window, so that one request can ask for all of it
LEASE = BUDGET // 1_000
# Of one request at most: the prompt, where nothing of it is in the cache, and the answer.
REQUEST_TOKENS = 60 + 8
# Written behind every 0.1 s (docs/CONFIG.md, limits.usage_folder); with room for a machine on which
# other work keeps a thread from running.
WINDOW_SECONDS = 5
LIMITS = f"limits:\n  key_defaults:\n    tokens_per_day: {BUDGET}\n"


def in_ledger(folder):
    """Tokens that count, of all rows in the ledger; read as another process may at any time."""
    with sqlite3.connect(f"file:{folder / 'ledger.sqlite'}?mode=ro", uri=True) as file:
        rows = file.execute("SELECT uncached_input + output FROM usage").fetchall()
    file.close()
    return sum(tokens for tokens, in rows)


class Load:
    """Clients that ask again and again until the server is gone; what they were answered."""

    def __init__(self, server):
        self.server = server
        self.answers = []  # (time, tokens)
        self.asked = 0
        self.lock = threading.Lock()
        self.stopping = False
        self.threads = [threading.Thread(target=self.run, args=(i,), daemon=True)
                        for i in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def run(self, number):
        chance = random.Random(SEED + number)
        while not self.stopping:
            body = capital(max_tokens=chance.randrange(1, 8), stream=chance.random() < 0.5)
            with self.lock:
                self.asked += 1
            try:
                self.ask(body)
            except (OSError, ValueError, AssertionError, EOFError):
                return  # the server was killed
            except Exception as fault:  # http.client's own, such as RemoteDisconnected
                if self.stopping:
                    return
                raise fault

    def ask(self, body):
        if body["stream"]:
            with OpenStream(self.server, body) as stream:
                usage = stream.finish().usage
        else:
            usage = self.server.messages(body)["usage"]
        with self.lock:
            self.answers.append((time.monotonic(), spent(usage)))

    def end(self):
        for thread in self.threads:
            thread.join()

    def tokens(self, before=float("inf")):
        return sum(tokens for at, tokens in self.answers if at <= before)


def kill_under_load(server, answers):
    """SIGKILL once so many were answered. Returns the load and the time of the kill."""
    load = Load(server)
    wait_until(lambda: len(load.answers) >= answers, lambda: f"{len(load.answers)} answers")
    load.stopping = True
    server.process.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    server.process.wait()
    load.end()
    return load, killed


def test_a_kill_at_any_moment_loses_no_more_spending_than_the_window(context):
    folder = context.sandbox.path("-usage")
    chance = random.Random(SEED)
    print(f"seed {SEED}", file=sys.stderr)
    rows = 0

    def start():
        return context.start_server("--threads", "1", "--usage-folder", str(folder),
                                    config=LIMITS)

    server = start()
    for kill in range(KILLS):
        before = left(server)
        load, killed = kill_under_load(server, chance.randrange(5, 40))
        # Not less than was served but for the window; not more than was served and what still ran.
        least = load.tokens(before=killed - WINDOW_SECONDS)
        most = load.tokens() + CLIENTS * REQUEST_TOKENS
        written = in_ledger(folder) - rows
        assert least <= written <= most, (kill, least, written, most)
        rows += written
        server = start()
        taken = before - left(server)
        assert least <= taken <= most + LEASE, (kill, least, taken, most)
    check_whole_rest_can_be_asked_for(server)


def check_whole_rest_can_be_asked_for(server):
    """No reservation of an earlier process holds any of it: all that is left can be reserved, and
    not one token more."""
    rest = left(server)
    body = endless(1)
    prompt = server.count_tokens({name: body[name] for name in ("messages", "system", "model")})
    # Nothing of this prompt is in the cache, so all of it counts.
    refused = server.request("POST", "/v1/messages", {**body, "max_tokens": rest - prompt + 1})
    assert refused.status == 429, (rest, prompt, refused)
    with OpenStream(server, {**body, "max_tokens": rest - prompt}) as stream:
        stream.read_until("content_block_delta")
        # While it holds everything nobody else gets anything.
        assert server.request("POST", "/v1/messages", capital(max_tokens=1)).status == 429
    server.wait_idle()
    assert server.request("POST", "/v1/messages", capital(max_tokens=1)).status == 200


def test_a_kill_leaves_a_ledger_that_is_whole_and_goes_on(context):
    folder = context.sandbox.path("-usage")

    def start():
        return context.start_server("--usage-folder", str(folder))

    server = start()
    replies = in_parallel(lambda i: server.messages(capital(max_tokens=1 + i % 3)), range(12))
    assert len(replies) == 12
    wait_until(lambda: requests_in(context, folder) >= 1, "nothing was written")
    server.kill()
    kept = requests_in(context, folder)
    assert 1 <= kept <= 12, kept
    server = start()
    server.messages(capital(max_tokens=1))
    server.terminate()
    assert server.wait_exit() == 0
    # An orderly end writes everything.
    assert requests_in(context, folder) == kept + 1, requests_in(context, folder)


def requests_in(context, folder):
    done = context.zerohop("usage", "--usage-folder", folder, "--json", "--by", "")
    if done.returncode != 0:
        return 0
    rows = json.loads(done.stdout)["usage"]
    return sum(row["requests"] for row in rows)
