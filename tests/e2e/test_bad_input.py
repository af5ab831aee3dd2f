"""Input that no client should send. Every test ends with a server that still knows Paris."""
import json
import struct
import socket as sockets

from support.http import check_error, post_bytes, read_reply
from support.prompts import capital, user
from support.waiting import wait_until

HI = [user("Hi")]
PATH = "/v1/messages"

# Body → the beginning of the message of the 400.
BAD_VALUES = [
    ({}, "messages"),
    ({"max_tokens": 5}, "messages"),
    ({"messages": None}, "messages"),
    ({"messages": "Hi"}, "messages"),
    ({"messages": {}}, "messages"),
    ({"messages": []}, "messages"),
    ({"messages": ["Hi"]}, "messages[0]"),
    ({"messages": [None]}, "messages[0]"),
    ({"messages": [{"content": "Hi"}]}, "messages[0].role"),
    ({"messages": [{"role": "user"}]}, "messages[0].content"),
    ({"messages": [{"role": "robot", "content": "Hi"}]}, "messages[0].role"),
    ({"messages": [{"role": "", "content": "Hi"}]}, "messages[0].role"),
    ({"messages": [{"role": ["user"], "content": "Hi"}]}, "messages[0].role"),
    ({"messages": [*HI, user(7)]}, "messages[1].content"),
    ({"messages": [user({"type": "text", "text": "Hi"})]}, "messages[0].content"),
    ({"messages": [user(["Hi"])]}, "messages[0].content[0]"),
    ({"messages": [user([{"text": "Hi"}])]}, "messages[0].content[0].type"),
    ({"messages": [user([{"type": "video", "url": "x"}])]}, "messages[0].content[0].type"),
    ({"messages": [user([{"type": "text"}])]}, "messages[0].content[0].text"),
    ({"messages": [user([{"type": "text", "text": ["Hi"]}])]}, "messages[0].content[0].text"),
    ({"messages": HI, "max_tokens": "ten"}, "max_tokens"),
    ({"messages": HI, "max_tokens": -1}, "max_tokens"),
    ({"messages": HI, "max_tokens": 1.5}, "max_tokens"),
    ({"messages": HI, "max_tokens": 2**63}, "max_tokens"),
    ({"messages": HI, "max_tokens": 2**80}, "max_tokens"),
    ({"messages": HI, "max_tokens": [1]}, "max_tokens"),
    ({"messages": HI, "model": 5}, "model"),
    ({"messages": HI, "model": "m" * 100_000}, "model"),
    ({"messages": HI, "system": 5}, "system"),
    ({"messages": HI, "system": [{"type": "image"}]}, "system[0]"),
    ({"messages": HI, "stream": "yes"}, "stream"),
    ({"messages": HI, "stop_sequences": {"a": 1}}, "stop_sequences"),
    ({"messages": HI, "stop_sequences": [1]}, "stop_sequences[0]"),
    ({"messages": HI, "stop_sequences": [""]}, "stop_sequences[0]"),
    ({"messages": HI, "stop_sequences": ["a"] * 10_000}, "stop_sequences"),
    ({"messages": HI, "stop_sequences": ["a" * 100_000]}, "stop_sequences[0]"),
    ({"messages": HI, "temperature": "hot"}, "temperature"),
    ({"messages": HI, "temperature": -1}, "temperature"),
    ({"messages": HI, "top_p": 7}, "top_p"),
    ({"messages": HI, "top_k": -5}, "top_k"),
    ({"messages": HI, "logit_bias": {"x": 1}}, "logit_bias"),
]

# Bodies that are no JSON objects at all.
NOT_OBJECTS = [
    b"", b" ", b"{", b"}", b"[]", b"null", b"5", b'"text"', b"{\"messages\":", b"{'messages': []}",
    b'{"messages":[]', b'{"messages":[],}', b'{"messages":[]} trailing', b"\x00", b"\xff\xfe{}",
    b"\xef\xbb\xbf\xef\xbb\xbf{}", b"{" * 10_000, b"[" * 10_000, b'{"a":' * 10_000,
    b"NaN", b"nul", b'{"a":01}', b'{"a":"\x01"}', b"-", b'{"\\ud800', b"GET / HTTP/1.1\r\n\r\n",
]

# Bytes that are no request → the status of the answer.
BAD_HEADS = [
    (b"\x00\x01\x02\x03\r\n\r\n", 400),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),  # a TLS hello
    (b"GET\r\n\r\n", 400),
    (b"GET /\r\n\r\n", 400),
    (b"GET / HTTP/9.9\r\n\r\n", 400),
    (b"get / HTTP/1.1 extra\r\nhost: a\r\n\r\n", 400),
    (b"GET / HTTP/1.1\nhost: a\n\n", 400),
    (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nhost: a\r\n folded\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nhost: a\r\nx: \x00\r\n\r\n", 400),
    (b"GET /%zz HTTP/1.1\r\nhost: a\r\n\r\n", 400),
    (b"POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n", 400),
    (b"POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: 5x\r\n\r\n", 400),
    (b"POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",
     400),
    (b"POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n"
     b"transfer-encoding: chunked\r\n\r\n{}", 400),
    (b"POST /v1/messages HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip\r\n\r\n", 400),
    (b"POST /v1/messages HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"
     b"zz\r\n{}\r\n", 400),
    (b"POST /v1/messages HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"
     b"ffffffffffffffffff\r\n{}\r\n", 400),
]


def send(server, data):
    """The answer to these bytes, the sender still there."""
    with server.connect() as socket:
        socket.sendall(data)
        return read_reply(socket)


def drop(server, data):
    """Sends these bytes and resets the connection."""
    with server.connect() as socket:
        socket.sendall(data)
        socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, struct.pack("ii", 1, 0))


def post(server, content):
    return send(server, post_bytes(PATH, content))


def check_alive(server):
    """Nothing is left of the bad request, and the next good one is answered."""
    assert server.alive(), server.log_text()[-2000:]
    server.wait_idle()
    assert "Paris" in server.text(capital())


def test_values_of_a_wrong_type_or_size_are_named_by_their_path(context):
    for content, path in BAD_VALUES:
        message = check_error(post(context.server, content), 400, "invalid_request_error")
        found = message.split(":")[0]
        assert found == path or found.startswith((path + ".", path + "[")), (content, message)
        assert len(message) < 2000, f"a message of {len(message)} bytes"
    check_alive(context.server)


def test_values_of_a_wrong_type_are_named_by_count_tokens_too(context):
    for content, path in BAD_VALUES[:20]:
        reply = send(context.server, post_bytes(PATH + "/count_tokens", content))
        message = check_error(reply, 400, "invalid_request_error")
        assert message.startswith(path), (content, message)
    check_alive(context.server)


def test_bodies_that_are_not_json_objects_are_refused(context):
    for content in NOT_OBJECTS:
        for path in (PATH, PATH + "/count_tokens"):
            reply = send(context.server, post_bytes(path, content))
            assert reply is not None, content[:40]
            check_error(reply, 400, "invalid_request_error")
    check_alive(context.server)


def test_numbers_that_overflow_are_refused(context):
    for number in ("1e400", "-1e400", "1e99999999999999999999", "9" * 5000):
        for field in ("temperature", "max_tokens", "top_p", "seed"):
            content = f'{{"{field}":{number},"messages":[{{"role":"user","content":"Hi"}}]}}'
            check_error(post(context.server, content), 400, "invalid_request_error")
    check_alive(context.server)


def test_invalid_utf8_is_refused_and_odd_characters_are_not(context):
    for bad in (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xc0\xaf", b"a\x80"):
        content = b'{"max_tokens":1,"messages":[{"role":"user","content":"' + bad + b'"}]}'
        check_error(post(context.server, content), 400, "invalid_request_error")
    for odd in ("\\u0000", "\\ufffe", "\u202e", "🙂" * 50, "<|im_start|>system", "\\n" * 500):
        content = '{"max_tokens":1,"messages":[{"role":"user","content":"%s"}]}' % odd
        reply = post(context.server, content.encode())
        assert reply.status == 200, (odd, reply)
    check_alive(context.server)


def test_lone_surrogates_get_an_answer_in_valid_utf8(context):
    for text in ("\\ud800", "\\udc00\\ud800", "a\\ud83d"):
        content = '{"max_tokens":1,"model":"%s","messages":[{"role":"user","content":"%s"}]}'
        reply = post(context.server, content % (text, text))
        assert reply.status in (200, 400), reply
        json.loads(reply.body.decode("utf-8"))
    check_alive(context.server)


def test_deep_nesting_is_refused_wherever_it_is(context):
    for deep in ("[" * 10_000 + "]" * 10_000, '{"a":' * 10_000 + "1" + "}" * 10_000):
        for content in ('{"messages":%s}' % deep, '{"metadata":%s,"messages":[]}' % deep,
                        '{"unknown":%s,"messages":[{"role":"user","content":"Hi"}]}' % deep):
            check_error(post(context.server, content), 400, "invalid_request_error")
    check_alive(context.server)


def test_garbage_instead_of_a_head_is_refused(context):
    for head, status in BAD_HEADS:
        check_error(send(context.server, head), status, "invalid_request_error")
    check_alive(context.server)


def test_a_bad_head_closes_the_connection(context):
    with context.server.connect() as socket:
        socket.sendall(b"BAD\r\n\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\n")
        received = b"".join(iter(lambda: socket.recv(65536), b""))
    assert received.count(b"HTTP/1.1 ") == 1, received


def test_bodies_that_stop_short_leave_nothing_behind(context):
    server = context.server
    whole = post_bytes(PATH, capital(stream=True))
    split = whole.index(b"\r\n\r\n") + 4
    for length in (1, 10, split - 2, split, split + 1, len(whole) - 1):
        drop(server, whole[:length])
        with server.connect() as socket:
            socket.sendall(whole[:length])
            socket.shutdown(sockets.SHUT_WR)
            reply = read_reply(socket)
            assert reply is None or reply.status == 400, reply
    chunked = b"POST /v1/messages HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"
    drop(server, chunked)
    check_alive(server)
    server.wait_connections(1)


def test_a_body_over_the_limit_is_refused_unread(context):
    head = b"POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: %d\r\n\r\n"
    for length in (40 << 20, (32 << 20) + 1, 1 << 62):
        check_error(send(context.server, head % length), 413, "request_too_large")
    reply = send(context.server, head % (10 ** 30))
    assert reply.status in (400, 413), reply
    check_alive(context.server)


def test_a_chunked_body_over_the_limit_is_refused(context):
    server = context.start_server(config="server:\n  body_bytes_max: 4096\n")
    head = b"POST /v1/messages HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"
    chunk = b"1000\r\n" + b" " * 4096 + b"\r\n"
    check_error(send(server, head + chunk * 2 + b"0\r\n\r\n"), 413, "request_too_large")
    check_error(post(server, b" " * 4097), 413, "request_too_large")
    check_alive(server)


def test_huge_heads_are_refused(context):
    heads = [b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nhost: a\r\n\r\n",
             b"GET / HTTP/1.1\r\nhost: a\r\nx: " + b"a" * 100_000 + b"\r\n\r\n",
             b"GET / HTTP/1.1\r\n" + b"x: a\r\n" * 20_000 + b"\r\n"]
    for head in heads:
        check_error(send(context.server, head), 431, "invalid_request_error")
    check_alive(context.server)


def test_a_compressed_body_is_refused_with_its_code(context):
    reply = context.server.request("POST", PATH, b"\x1f\x8b\x08\x00", {"content-encoding": "gzip"})
    check_error(reply, 400, "invalid_request_error")
    details = reply.json()["error"]["details"]
    assert details["error_code"] == "request_body_encoding_unsupported", details
    check_alive(context.server)


def test_content_that_is_not_supported_is_refused_by_name(context):
    image = {"type": "image",
             "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    reply = post(context.server, {"messages": [user([image])]})
    message = check_error(reply, 400, "invalid_request_error")
    assert message.startswith("messages[0].content[0]") and "image" in message, message
    check_alive(context.server)


def test_a_slow_head_and_a_slow_body_are_given_up(context):
    server = context.start_server(
        config="server:\n  head_timeout_seconds: 1\n  body_timeout_seconds: 1\n")
    check_error(send(server, b"GET / HT"), 408, "timeout_error")
    check_error(send(server, post_bytes(PATH, capital())[:-5]), 408, "timeout_error")
    wait_until(server.is_idle, "a permit is held")
    check_alive(server)
