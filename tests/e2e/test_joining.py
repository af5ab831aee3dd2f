"""Repetitions of a request that runs join it: one computation, the same bytes for everybody."""
import socket

from support.http import begin_response, header_dict, post_bytes
from support.prompts import MODEL, body, endless, fresh, user
from support.stream import OpenStream
from support.waiting import wait_until

TOKENS = 24


class RawAnswer:
    """Sends a request at once; read() gives status, headers and every byte of the body."""

    def __init__(self, server, path, request, headers=None):
        self.socket = server.connect()
        self.socket.sendall(post_bytes(path, request, headers))

    def read(self):
        response = begin_response(self.socket)
        return response.status, header_dict(response.getheaders()), response.read()

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def generations(server):
    """Requests and tokens that the engine has computed."""
    metrics = server.metrics()
    return (metrics.value("zerohop_requests_joined_total"),
            metrics.value("zerohop_output_tokens_total"))


def running(server, count):
    return lambda: server.metrics().value("zerohop_requests_in_flight") == count


def named(name):
    return {"x-anthropic-request-id": name}


def requests():
    """The same question in both dialects, streamed and whole."""
    question = {"model": MODEL, "max_tokens": TOKENS, "logit_bias": {"0": -1000, "2": -1000}}
    for path in ("/v1/messages", "/v1/chat/completions"):
        for stream in (True, False):
            content = fresh("Tell me a long story.")
            yield path, {**question, "stream": stream, "messages": [user(content)],
                         "temperature": 0}


def test_a_repetition_gets_the_same_bytes_of_one_computation(context):
    server = context.start_server()
    for index, (path, request) in enumerate(requests()):
        name = named(f"repeated-{index}")
        joined, tokens = generations(server)
        first = RawAnswer(server, path, request, name)
        wait_until(lambda: server.metrics().value("zerohop_engine_decoding") == 1,
                   "nothing is computed")
        second = RawAnswer(server, path, request, name)
        one, two = first.read(), second.read()
        assert one[0] == two[0] == 200, (one, two)
        assert one[2] == two[2], (path, one[2][-300:], two[2][-300:])
        assert one[1]["request-id"] != two[1]["request-id"], (one[1], two[1])
        server.wait_idle()
        assert generations(server) == (joined + 1, tokens + TOKENS), generations(server)
        for answer in (first, second):
            answer.close()


def test_the_answer_goes_on_while_one_reader_is_left(context):
    server = context.start_server()
    request = endless(200)
    with OpenStream(server, request, named("left")) as first:
        first.read_until("content_block_delta")
        with OpenStream(server, request, named("left")) as second:
            second.read_until("content_block_delta")
            first.close()
            wait_until(running(server, 1), "the first is still there")
            reading = second.finish()
    assert reading.usage["output_tokens"] == 200, reading.usage
    server.wait_idle()
    assert generations(server) == (1, 200), generations(server)
    # When both go, it ends.
    with OpenStream(server, endless(4000), named("both")) as first:
        first.read_until("content_block_delta")
    server.wait_idle()
    assert generations(server)[1] < 2000, generations(server)


def test_the_same_id_with_another_body_or_key_is_another_request(context):
    server = context.start_server()
    with OpenStream(server, endless(300), named("many")) as first:
        first.read_until("content_block_delta")
        other = server.request("POST", "/v1/messages", body("Hi", max_tokens=4), named("many"))
        assert other.status == 200, other
        wanted = endless(20)
        with OpenStream(server, wanted, {**named("keys"), "x-api-key": "a"}) as one:
            with OpenStream(server, wanted, {**named("keys"), "x-api-key": "b"}) as two:
                assert one.finish().message["id"] != two.finish().message["id"]
    assert generations(server)[0] == 0, generations(server)
