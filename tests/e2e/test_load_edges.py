"""Edges of load: an orderly end while everything is busy, thousands of connections that say
nothing, and clients that send as slowly as they may."""
import resource
import socket as sockets
import struct
import sys
import threading
import time

from support.http import check_error, read_reply
from support.parallel import in_parallel
from support.prompts import capital, endless
from support.stream import OpenStream
from support.waiting import wait_until

STREAMS = 8
DRAINED_TOKENS = 60
IDLE_CONNECTIONS = 10_000
SPARE_DESCRIPTORS = 300
SLOW_CLIENTS = 24
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


def test_a_drain_under_load_loses_no_stream_and_tells_new_work_to_go(context):
    server = context.start_server("--threads", "1", config="server:\n  drain_seconds: 600\n")
    begun = threading.Barrier(STREAMS + 1)

    def stream_to_its_end(_):
        with OpenStream(server, endless(DRAINED_TOKENS)) as stream:
            stream.read_until("content_block_delta")
            begun.wait(240)
            return stream.finish()

    refusals = []

    def drain(_):
        begun.wait(240)
        server.terminate()
        wait_until(lambda: server.request("GET", "/healthz").status == 503, "it does not drain")
        for path in ("/v1/messages", "/v1/messages/count_tokens", "/v1/chat/completions"):
            refusals.append((path, server.request("POST", path, capital())))
        return None

    *readings, _ = in_parallel(lambda work: work(None), [stream_to_its_end] * STREAMS + [drain])
    for reading in readings:
        assert reading.stopped and reading.stop_reason == "max_tokens", reading
        assert reading.usage["output_tokens"] == DRAINED_TOKENS, reading.usage
    for path, reply in refusals:
        assert reply.status == 503, (path, reply)
        assert int(reply.headers["retry-after-ms"]) > 0, reply.headers
        assert reply.headers["x-should-retry"] == "true", reply.headers
    check_error(refusals[0][1], 503, "api_error")
    assert server.wait_exit() == 0, server.log_text()[-2000:]


class Descriptors:
    """As many open files as the machine allows, for this process and those that it starts."""

    def __enter__(self):
        self.before = resource.getrlimit(resource.RLIMIT_NOFILE)
        hard = self.before[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        return hard

    def __exit__(self, *_):
        resource.setrlimit(resource.RLIMIT_NOFILE, self.before)


def test_ten_thousand_idle_connections_do_not_hinder_a_request(context):
    with Descriptors() as allowed:
        number = min(IDLE_CONNECTIONS, allowed - SPARE_DESCRIPTORS)
        if number < IDLE_CONNECTIONS:
            print(f"{number} connections: the machine allows {allowed} open files",
                  file=sys.stderr)
        server = context.start_server(config=f"server:\n  connections_max: {number + 50}\n"
                                      "  idle_timeout_seconds: 3600\n"
                                      "  address_connections_max: off\n")
        idle = []
        try:
            for _ in range(number):
                idle.append(server.connect())
            server.wait_connections(number + 1)  # with the scrape's own
            assert "Paris" in server.text(capital())
            # Each of them is still served.
            for socket in (idle[0], idle[number // 2], idle[-1]):
                socket.sendall(b"GET /livez HTTP/1.1\r\nhost: a\r\n\r\n")
                assert read_reply(socket, "GET").status == 200
        finally:
            for socket in idle:
                socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, RESET_ON_CLOSE)
                socket.close()
        server.wait_connections(1)


HEAD = b"POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\nx-padding: "
WHOLE_HEAD = b"POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n"


class SlowClients:
    """Each has sent `begin` and goes on with a byte now and then, until the server closes."""

    def __init__(self, server, begin):
        self.sockets = [server.connect() for _ in range(SLOW_CLIENTS)]
        self.closed = [False] * SLOW_CLIENTS
        self.answers = [b""] * SLOW_CLIENTS
        for socket in self.sockets:
            socket.sendall(begin)
            socket.setblocking(False)

    def drip(self):
        """One more byte from everybody. True when the server has closed all of them."""
        for i, socket in enumerate(self.sockets):
            if not self.closed[i]:
                self.closed[i] = not self.drip_one(i, socket)
        return all(self.closed)

    def drip_one(self, i, socket):
        try:
            part = socket.recv(65536)
            self.answers[i] += part
            if not part:
                return False
        except BlockingIOError:
            pass
        except OSError:
            return False
        try:
            socket.send(b"a")
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True

    def close(self):
        for socket in self.sockets:
            socket.close()


def test_clients_that_drip_are_closed_and_nobody_else_notices(context):
    server = context.start_server(
        config="server:\n  head_timeout_seconds: 1\n  body_timeout_seconds: 1\n")
    for begin in (HEAD, WHOLE_HEAD):
        slow = SlowClients(server, begin)
        try:
            wait_until(lambda: server.metrics().value("zerohop_http_connections") > SLOW_CLIENTS,
                       "the slow ones are not connected")
            assert "Paris" in server.text(capital())
            deadline = time.monotonic() + 120
            while not slow.drip():
                assert time.monotonic() < deadline, f"{slow.closed.count(False)} are still open"
                time.sleep(0.1)
            told = [answer for answer in slow.answers if answer]
            # A reset can overtake the answer, so not everybody reads his.
            assert told and all(answer.startswith(b"HTTP/1.1 408 ") for answer in told), told[:2]
        finally:
            slow.close()
    server.wait_idle()
    assert "Paris" in server.text(capital())
