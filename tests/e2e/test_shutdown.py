"""SIGTERM: finish what runs, refuse what is new, and leave."""
import signal

from support.http import check_error, read_reply, post_bytes
from support.prompts import capital, endless
from support.stream import OpenStream
from support.waiting import wait_until

# Long enough that the answer still runs when the refusal has been seen.
DRAINED_TOKENS = 150
PATIENT = "server:\n  drain_seconds: 600\n"


def start_draining(server):
    server.terminate()
    wait_until(lambda: server.request("GET", "/healthz").status == 503, "it does not drain")


def test_a_running_stream_is_finished_while_new_requests_are_refused(context):
    server = context.start_server(config=PATIENT)
    with OpenStream(server, endless(DRAINED_TOKENS)) as stream:
        stream.read_until("content_block_delta")
        start_draining(server)
        health = server.health()
        assert health["status"] == "draining" and health["requests_in_flight"] == 1, health
        reply = server.request("POST", "/v1/messages", capital())
        check_error(reply, 503, "api_error")
        assert reply.headers["x-should-retry"] == "true", reply.headers
        assert int(reply.headers["retry-after-ms"]) > 0, reply.headers
        assert int(reply.headers["retry-after"]) > 0, reply.headers
        reading = stream.finish()
    assert reading.stopped and reading.stop_reason == "max_tokens", reading
    assert reading.usage["output_tokens"] == DRAINED_TOKENS, reading.usage
    assert server.wait_exit() == 0, server.log_text()[-2000:]
    assert server.rest_of_stdout == "", server.rest_of_stdout


def test_a_running_whole_answer_is_finished_too(context):
    server = context.start_server(config=PATIENT)
    with server.connect() as socket:
        socket.sendall(post_bytes("/v1/messages", endless(24)))
        wait_until(lambda: server.health()["decoding"] == 1, "nothing is decoded")
        server.terminate()
        message = read_reply(socket).json()
    assert message["usage"]["output_tokens"] == 24, message
    assert server.wait_exit() == 0, server.log_text()[-2000:]


def test_a_second_signal_ends_streams_with_a_typed_error(context):
    server = context.start_server(config=PATIENT)
    with OpenStream(server, endless(8000)) as stream:
        stream.read_until("content_block_delta")
        start_draining(server)
        server.terminate()
        reading = stream.finish()
    assert reading.failure["type"] == "api_error", reading.failure
    assert reading.stop_reason is None, reading
    assert server.wait_exit() == 0, server.log_text()[-2000:]


def test_the_drain_time_has_an_end(context):
    server = context.start_server(config="server:\n  drain_seconds: 1\n")
    with OpenStream(server, endless(8000)) as stream:
        stream.read_until("content_block_delta")
        server.terminate()
        assert stream.finish().failure["type"] == "api_error", stream.reading.failure
    assert server.wait_exit() == 0, server.log_text()[-2000:]


def test_an_idle_server_ends_at_once_also_with_open_connections(context):
    for number in (signal.SIGTERM, signal.SIGINT):
        server = context.start_server()
        with server.connect() as idle, server.connect() as half:
            half.sendall(b"GET / HT")
            assert server.request("GET", "/livez").status == 200
            server.process.send_signal(number)
            assert server.wait_exit() == 0, server.log_text()[-2000:]
            assert idle.recv(100) == b"", "the idle connection is not closed"
