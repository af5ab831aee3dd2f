"""Many clients at once, and clients that go away at any moment."""
import random
import socket as sockets
import struct
import sys

from support.http import begin_response, post_bytes, read_reply
from support.parallel import in_parallel
from support.prompts import (CAPITALS, MODEL, assistant, body, capital, endless, fresh, long_text,
                             user)
from support.stream import OpenStream
from support.waiting import wait_until

DROPPED_CONNECTIONS = 500
SEED = 20260131
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


def long_prompt():
    """Prefill takes at least seconds, and nothing of it is in the cache."""
    return body(fresh(long_text(5000)), max_tokens=4)


def test_eight_parallel_streams_all_answer_rightly(context):
    server = context.server

    def ask(country):
        with OpenStream(server, body(f"What is the capital of {country}?")) as stream:
            return stream.finish()

    readings = in_parallel(ask, CAPITALS)
    for (country, city), reading in zip(CAPITALS.items(), readings):
        assert city in reading.text, (country, reading.text)
        assert reading.stop_reason in ("end_turn", "max_tokens"), (country, reading)
    assert len({reading.message["id"] for reading in readings}) == 8, "ids repeat"
    server.wait_idle()


def test_more_requests_than_sequences_wait_their_turn(context):
    server = context.start_server("--sequences", "2", "--context", "512")

    def ask(country):
        return server.text(body(f"What is the capital of {country}?"))

    for city, text in zip(CAPITALS.values(), in_parallel(ask, CAPITALS)):
        assert city in text, (city, text)
    server.wait_idle()
    assert server.cells_reserved() == 0, server.health()


def test_requests_over_the_limit_are_refused_with_advice(context):
    server = context.start_server(config="limits:\n  requests_max: 2\n")
    with OpenStream(server, endless(2000)) as one, OpenStream(server, endless(2000)) as two:
        one.read_until("content_block_delta")
        two.read_until("content_block_delta")
        reply = server.request("POST", "/v1/messages", capital())
        assert reply.status == 529, reply
        assert reply.json()["error"]["type"] == "overloaded_error", reply
        assert reply.headers["x-should-retry"] == "true", reply.headers
        assert int(reply.headers["retry-after-ms"]) > 0, reply.headers
        assert 0 < int(reply.headers["retry-after"]) <= 60, reply.headers
        assert server.request("GET", "/healthz").status == 200, "probes need no permit"
    server.wait_idle()
    assert "Paris" in server.text(capital())


def test_tokens_are_counted_while_an_answer_is_generated(context):
    request = {"model": MODEL, "messages": [user("Hi"), assistant("Hello!"), user(long_text(50))]}
    expected = context.server.count_tokens(request)
    with OpenStream(context.server, endless(4000)) as stream:
        stream.read_until("content_block_delta")
        counts = in_parallel(lambda _: context.server.count_tokens(request), range(24))
        assert counts == [expected] * 24, counts
        health = context.server.health()
        assert health["decoding"] == 1, f"the counts waited for the generation: {health}"
    context.server.wait_idle()


def test_a_disconnect_in_prefill_frees_the_sequence(context):
    server = context.server
    for stream in (True, False):
        socket = server.connect()
        socket.sendall(post_bytes("/v1/messages", {**long_prompt(), "stream": stream}))
        wait_until(lambda: server.health()["prefilling"] == 1, "nothing is prefilled")
        socket.close()
        server.wait_idle()
        assert server.cells_reserved() == 0, server.health()
    assert "Paris" in server.text(capital())


def test_a_disconnect_in_decode_frees_the_sequence(context):
    server = context.server
    for stream in (True, False):
        socket = server.connect()
        socket.sendall(post_bytes("/v1/messages", endless(4000, stream=stream)))
        wait_until(lambda: server.health()["decoding"] == 1, "nothing is decoded")
        if stream:
            begin_response(socket).readline()
        socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, RESET_ON_CLOSE)
        socket.close()
        server.wait_idle()
        assert server.cells_reserved() == 0, server.health()
    assert "Paris" in server.text(capital())


def test_a_disconnect_in_the_queue_frees_the_place(context):
    server = context.start_server("--sequences", "1", "--context", "1024")
    with OpenStream(server, endless(900)) as running:
        running.read_until("content_block_delta")
        waiting = [server.connect() for _ in range(4)]
        for socket in waiting:
            socket.sendall(post_bytes("/v1/messages", capital(stream=True)))
        wait_until(lambda: server.health()["queued"] == 4, server.health)
        for socket in waiting[1:]:
            socket.close()
        wait_until(lambda: server.health()["queued"] == 1, server.health)
        running.close()
        reply = read_reply(waiting[0])
        assert b"Paris" in reply.body, reply
        waiting[0].close()
    server.wait_idle()


def test_a_cancelled_answer_does_not_disturb_the_others(context):
    server = context.server
    expected = server.text(capital())
    with OpenStream(server, endless(2000)) as leaver:
        leaver.read_until("content_block_delta")
        with OpenStream(server, capital()) as stayer:
            stayer.read_until("content_block_delta")
            leaver.close()
            assert stayer.finish().text == expected, stayer.reading.text
    server.wait_idle()


def test_a_slow_reader_does_not_hinder_another_stream(context):
    server = context.server
    with OpenStream(server, endless(4000)) as slow:
        slow.read_until("content_block_start")  # and not one byte more
        for _ in range(3):
            with OpenStream(server, capital()) as quick:
                assert "Paris" in quick.finish().text, quick.reading.text
        assert server.health()["requests_in_flight"] == 1, server.health()
    server.wait_idle()


def drop_one(server, chance, bytes_of_request):
    """Opens a connection and drops it at a random point, with a FIN or a reset."""
    with server.connect() as socket:
        if chance.random() < 0.5:
            socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, RESET_ON_CLOSE)
        point = chance.random()
        if point < 0.1:
            return  # before a byte
        if point < 0.5:
            socket.sendall(bytes_of_request[:chance.randrange(1, len(bytes_of_request))])
            return  # inside the request
        socket.sendall(bytes_of_request)
        if point < 0.8:
            return  # before the answer
        socket.recv(chance.randrange(1, 2000))  # inside the answer


def test_five_hundred_dropped_connections_leave_nothing_behind(context):
    server = context.server
    print(f"seed {SEED}", file=sys.stderr)
    requests = [
        post_bytes("/v1/messages", capital(stream=True, max_tokens=8)),
        post_bytes("/v1/messages", capital(max_tokens=4)),
        post_bytes("/v1/messages/count_tokens", {"messages": [user(long_text(200))]}),
        post_bytes("/v1/messages", b"{" * 50),
        b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n",
        b"\x00garbage\r\n\r\n",
    ]

    def drop_share(share):
        chance = random.Random(SEED + share)
        for _ in range(DROPPED_CONNECTIONS // 10):
            try:
                drop_one(server, chance, chance.choice(requests))
            except ConnectionError:
                pass  # the server was quicker to close

    in_parallel(drop_share, range(10))
    server.wait_idle()
    server.wait_connections(1)  # the scrape's own
    health = server.health()
    assert health["status"] == "ok" and health["kv_cells"]["reserved"] == 0, health
    assert server.metrics().value("zerohop_requests_in_flight") == 0
    assert "Paris" in server.text(capital())
