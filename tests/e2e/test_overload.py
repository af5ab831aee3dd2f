"""More requests than the server can compute: everybody gets an answer, most a refusal that says
when to come back, and what is computed is worth about as much as without the crowd."""
import sys
import threading
import time

from support.parallel import in_parallel
from support.prompts import body, fresh

SECONDS = 6
LOAD = 4
WAIT_MAX = 2
TOKENS = 12
CONFIG = f"queue:\n  class_wait_max_seconds: [{WAIT_MAX}, {WAIT_MAX}, {WAIT_MAX}]\n"


def question():
    return body(fresh("What is the capital of France?"), max_tokens=TOKENS)


class Tally:
    """What came of requests, from many threads."""

    def __init__(self):
        self.lock = threading.Lock()
        self.sent = 0
        self.replies = []

    def ask(self, server):
        with self.lock:
            self.sent += 1
        began = time.monotonic()
        reply = server.request("POST", "/v1/messages", question())
        with self.lock:
            self.replies.append((reply, time.monotonic() - began))

    def tokens(self):
        return sum(reply.json()["usage"]["output_tokens"]
                   for reply, _ in self.replies if reply.status == 200)


def closed_loop(server, clients, seconds):
    """Clients who ask again when they have their answer; tokens and requests a second."""
    tally = Tally()
    end = time.monotonic() + seconds

    def client(_):
        while time.monotonic() < end:
            tally.ask(server)

    began = time.monotonic()
    in_parallel(client, range(clients))
    took = time.monotonic() - began
    return tally, tally.tokens() / took, len(tally.replies) / took


def open_loop(server, rate, seconds):
    """`rate` requests a second, whatever comes of them."""
    tally = Tally()
    threads = []
    began = time.monotonic()
    for index in range(int(rate * seconds)):
        pause = began + index / rate - time.monotonic()
        if pause > 0:
            time.sleep(pause)
        threads.append(threading.Thread(target=tally.ask, args=(server,), daemon=True))
        threads[-1].start()
    for thread in threads:
        thread.join()
    return tally, tally.tokens() / (time.monotonic() - began)


def check_refusal(reply):
    assert reply.status == 529, reply
    fault = reply.json()["error"]
    assert fault["type"] == "overloaded_error", reply
    milliseconds = int(reply.headers["retry-after-ms"])
    assert 1 <= milliseconds <= 60_000, reply.headers
    seconds = int(reply.headers["retry-after"])
    assert seconds == -(-milliseconds // 1000), reply.headers
    assert f"try again in {seconds} s" in fault["message"], reply
    assert reply.headers["x-should-retry"] == "true", reply.headers


def test_everybody_gets_an_answer_under_a_crowd(context):
    server = context.start_server(config=CONFIG)
    closed_loop(server, 4, 1)  # rates are learned
    calm, peak, capacity = closed_loop(server, 8, SECONDS)
    assert all(reply.status == 200 for reply, _ in calm.replies), calm.replies
    crowd, goodput = open_loop(server, LOAD * capacity, SECONDS)
    assert len(crowd.replies) == crowd.sent, (len(crowd.replies), crowd.sent)
    refused = [(reply, took) for reply, took in crowd.replies if reply.status != 200]
    for reply, _ in refused:
        check_refusal(reply)
    assert refused, "nobody was refused"
    assert any(reply.status == 200 for reply, _ in crowd.replies), "nobody was served"
    print(f"overload: {capacity:.1f} requests/s at peak, {LOAD} times as many sent, "
          f"{len(refused)} of {crowd.sent} refused, goodput {goodput / peak:.2f} of the peak",
          file=sys.stderr)
    server.wait_idle()
    metrics = server.metrics()
    assert metrics.value("zerohop_queue_refusals_total") == len(refused)
    assert metrics.value("zerohop_ttft_predicted_seconds_count") > 0
    reply = server.request("POST", "/v1/messages", question())
    assert reply.status == 200, reply


def test_the_status_of_an_overload_can_be_503(context):
    server = context.start_server("--sequences", "1",
                                  config="limits:\n  requests_max: 1\n"
                                         "queue:\n  overload_status: 503\n")
    tally = Tally()
    in_parallel(lambda _: tally.ask(server), range(8))
    statuses = {reply.status for reply, _ in tally.replies}
    assert statuses == {200, 503}, statuses
    for reply, _ in tally.replies:
        if reply.status == 503:
            assert reply.json()["error"]["type"] == "overloaded_error", reply
