"""Bytes on the wire, as curl and other strict clients see them."""
import http.client
import io
import json
import re

from support.http import check_common_headers, check_error, exchange
from support.prompts import MODEL, assistant, body, capital, endless, user
from support.sse import prompt_tokens, read_stream
from support.stream import OpenStream
from support.waiting import PATIENCE_SECONDS, wait_until

SEQUENCE = re.compile("message_start (ping )*content_block_start (ping |content_block_delta )*"
                      "content_block_delta (ping )*content_block_stop (ping )*message_delta "
                      "message_stop")


def test_curl_gets_a_message(context):
    reply = context.curl_messages(capital())
    assert reply.status == 200, reply
    assert reply.headers["content-type"] == "application/json", reply.headers
    check_common_headers(reply.headers)
    message = reply.json()
    assert message["type"] == "message" and message["role"] == "assistant", message
    assert "Paris" in message["content"][0]["text"], message
    assert message["content"][0]["type"] == "text", message
    assert "citations" not in message["content"][0], message
    assert message["stop_reason"] == "end_turn" and message["stop_sequence"] is None, message


def test_a_stream_is_exactly_the_sequence_of_the_protocol(context):
    reply = context.curl_messages(capital(stream=True), "--no-buffer")
    assert reply.status == 200, reply
    assert reply.headers["content-type"].split(";")[0] == "text/event-stream", reply.headers
    check_common_headers(reply.headers)
    reading = read_stream(io.BytesIO(reply.body))
    assert SEQUENCE.fullmatch(" ".join(reading.names)), reading.names
    whole = context.server.messages(capital())
    assert reading.text == whole["content"][0]["text"], (reading.text, whole)
    assert reading.stop_reason == whole["stop_reason"], reading
    assert reading.usage["output_tokens"] == whole["usage"]["output_tokens"], reading.usage
    assert reading.prompt_tokens() == prompt_tokens(whole["usage"]), (reading.usage, whole)
    assert reading.message["model"] == MODEL, reading.message


def test_a_streams_characters_are_never_cut(context):
    begun = "Grüße, 你好, 🙂, Grüße, 你好, 🙂, Grüße,"  # most of its tokens are parts of characters
    request = body([user("Please write: Grüße, 你好, 🙂"), assistant(begun)], stream=True)
    reading = read_stream(io.BytesIO(context.curl_messages(request).body))
    assert "\ufffd" not in reading.text, reading.text
    assert "你好" in reading.text and "🙂" in reading.text, reading.text


def test_a_stream_that_hits_a_stop_sequence_names_it(context):
    request = capital(stream=True, stop_sequences=["Par"])
    reading = read_stream(io.BytesIO(context.curl_messages(request).body))
    assert reading.stop_reason == "stop_sequence", reading
    assert reading.stop_sequence == "Par" and "Par" not in reading.text, reading


def test_max_tokens_zero_computes_the_prompt_and_says_nothing(context):
    for stream in (False, True):
        reply = context.curl_messages(capital(max_tokens=0, stream=stream))
        assert reply.status == 200, reply
        if stream:
            reading = read_stream(io.BytesIO(reply.body))
            assert reading.texts == {} and reading.stop_reason == "max_tokens", reading
        else:
            message = reply.json()
            assert message["content"] == [] and message["stop_reason"] == "max_tokens", message
            assert message["usage"]["output_tokens"] == 0, message


def test_a_fault_before_a_stream_begins_is_a_plain_error(context):
    reply = context.curl_messages({"model": MODEL, "stream": True, "messages": []})
    check_error(reply, 400, "invalid_request_error")


def test_an_unknown_path_is_a_404_in_json(context):
    for path in ("/v1/nothing", "/favicon.ico", "/v1/messages/", "/v1/complete"):
        reply = context.curl(context.server.url + path, "--path-as-is")
        if path == "/v1/messages/":
            assert reply.status in (404, 405), reply
        else:
            check_error(reply, 404, "not_found_error")


def test_a_wrong_method_is_a_405_with_allow(context):
    for path, method, allowed in (("/v1/messages", "GET", "POST"), ("/healthz", "POST", "GET"),
                                  ("/v1/messages", "DELETE", "POST")):
        reply = context.curl(context.server.url + path, "-X", method)
        check_error(reply, 405, "invalid_request_error")
        assert allowed in reply.headers["allow"].split(", "), reply.headers
        assert method not in reply.headers["allow"].split(", "), reply.headers


def test_deterministic_faults_forbid_a_retry(context):
    reply = context.curl_messages({"model": MODEL, "messages": "Hi"})
    message = check_error(reply, 400, "invalid_request_error")  # x-should-retry among the rest
    assert message.startswith("messages: "), message
    assert reply.headers["x-should-retry"] == "false", reply.headers


def test_a_chunked_request_body_is_read(context):
    reply = context.curl_messages(capital(), "-H", "Transfer-Encoding: chunked")
    assert "Paris" in reply.json()["content"][0]["text"], reply


def test_expect_100_continue_is_answered_before_the_body(context):
    output = context.curl_output(context.server.url + "/v1/messages", "--json",
                                 json.dumps(capital()), "-H", "Expect: 100-continue")
    assert output.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"), output[:200]
    assert b"Paris" in output, output


def test_heads_of_the_probes_are_answered(context):
    for path in ("/", "/api/hello", "/v1/api/hello"):
        reply = context.curl(context.server.url + path, "--head")
        assert reply.status == 200 and reply.body == b"", reply
        check_common_headers(reply.headers)
        assert context.curl(context.server.url + path).status == 200, path


def test_common_spellings_of_the_path_lead_to_the_same_handler(context):
    for path in ("//v1//messages", "/v1/v1/messages", "/messages", "/v1/messages?beta=true",
                 "/v1/messages?a=b&c=%20", "/v1/messages?"):
        reply = context.curl(context.server.url + path, "--path-as-is", "--json",
                             '{"max_tokens":1,"messages":[{"role":"user","content":"Hi"}]}')
        assert reply.status == 200 and reply.json()["type"] == "message", (path, reply)
    for path in ("/v1/v1/messages/count_tokens", "/messages/count_tokens"):
        reply = context.curl(context.server.url + path, "--json",
                             '{"messages":[{"role":"user","content":"Hi"}]}')
        assert reply.json()["input_tokens"] > 0, (path, reply)
    for path in ("/models", "/v1/v1/models", "/v1/models?limit=1000"):
        assert context.curl(context.server.url + path).json()["data"][0]["id"] == MODEL, path


def test_the_list_of_models_has_both_shapes(context):
    listed = context.curl(context.server.url + "/v1/models").json()
    assert listed["object"] == "list" and listed["has_more"] is False, listed
    assert listed["first_id"] == listed["last_id"] == MODEL, listed
    model = listed["data"][0]
    assert model["type"] == "model" and model["object"] == "model", model
    assert isinstance(model["created"], int) and model["created_at"].endswith("Z"), model


def test_the_clients_request_id_is_echoed_beside_ours(context):
    reply = context.curl_messages(body("Hi", max_tokens=1),
                                  "-H", "x-anthropic-request-id: my-id:1.2_3")
    assert reply.headers["x-anthropic-request-id"] == "my-id:1.2_3", reply.headers
    check_common_headers(reply.headers)
    assert reply.headers["request-id"] != "my-id:1.2_3", reply.headers
    failed = context.curl(context.server.url + "/nowhere", "-H", "x-anthropic-request-id: other")
    assert failed.headers["x-anthropic-request-id"] == "other", failed.headers


def test_a_pinned_instance_serves_itself_and_refuses_others(context):
    own = f"x-anthropic-instance-id: {context.server.instance}"
    reply = context.curl_messages(body("Hi", max_tokens=1), "-H", own)
    assert reply.status == 200, reply
    assert reply.headers["x-anthropic-instance-id"] == context.server.instance, reply.headers
    reply = context.curl_messages(body("Hi", max_tokens=1),
                                  "-H", "x-anthropic-instance-id: somebody-else")
    check_error(reply, 421, "invalid_request_error")
    assert reply.headers["x-should-retry"] == "false", reply.headers
    assert reply.headers["x-anthropic-instance-id"] == context.server.instance, reply.headers


def test_headers_of_every_kind_of_answer_are_complete(context):
    url = context.server.url
    answers = [context.curl(url + path) for path in ("/healthz", "/metrics", "/livez", "/",
                                                     "/v1/models", "/nowhere", "/v1/messages")]
    answers += [context.curl_messages(request) for request in (
        body("Hi", max_tokens=1), body("Hi", max_tokens=1, stream=True), {"messages": 5})]
    for reply in answers:
        check_common_headers(reply.headers)
    ids = [reply.headers["request-id"] for reply in answers]
    assert len(set(ids)) == len(ids), ids


def test_many_requests_share_one_connection(context):
    server = context.server
    connection = http.client.HTTPConnection(server.host, server.port, timeout=PATIENCE_SECONDS)
    try:
        connection.connect()
        socket = connection.sock
        for method, path, request, status in (
                ("GET", "/healthz", None, 200), ("POST", "/v1/messages", capital(), 200),
                ("POST", "/v1/messages", capital(stream=True), 200),
                ("POST", "/v1/messages", {"messages": 5}, 400), ("GET", "/nowhere", None, 404),
                ("POST", "/v1/messages", capital(), 200)):
            reply = exchange(connection, method, path, request)
            assert reply.status == status, (path, reply)
            assert connection.sock is socket, f"closed after {method} {path}"
    finally:
        connection.close()


def test_pipelined_requests_are_answered_in_order(context):
    with context.server.connect() as socket:
        socket.sendall(b"GET /livez HTTP/1.1\r\nhost: a\r\n\r\n"
                       b"GET /nowhere HTTP/1.1\r\nhost: a\r\n\r\n"
                       b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
        received = b"".join(iter(lambda: socket.recv(65536), b""))
    statuses = re.findall(rb"HTTP/1\.1 (\d+) ", received)
    assert statuses == [b"200", b"404", b"200"], received


def test_an_old_http_1_0_client_gets_a_stream_that_ends_with_the_connection(context):
    with context.server.connect() as socket:
        request = json.dumps(capital(stream=True)).encode()
        socket.sendall(b"POST /v1/messages HTTP/1.0\r\ncontent-length: %d\r\n\r\n%s"
                       % (len(request), request))
        received = b"".join(iter(lambda: socket.recv(65536), b""))
    head, _, content = received.partition(b"\r\n\r\n")
    assert b" 200 " in head.splitlines()[0], head
    assert b"transfer-encoding" not in head.lower(), head
    assert "Paris" in read_stream(io.BytesIO(content)).text, content


def test_browsers_may_read_every_answer(context):
    reply = context.curl(context.server.url + "/v1/messages", "-X", "OPTIONS",
                         "-H", "origin: http://example.org",
                         "-H", "access-control-request-method: POST",
                         "-H", "access-control-request-headers: x-api-key,x-stainless-lang")
    assert reply.status == 204, reply
    assert "POST" in reply.headers["access-control-allow-methods"], reply.headers
    assert "x-stainless-lang" in reply.headers["access-control-allow-headers"], reply.headers
    reply = context.curl_messages(body("Hi", max_tokens=1), "-H", "origin: http://example.org")
    assert reply.headers["access-control-allow-origin"] == "*", reply.headers


def test_metrics_are_prometheus_text_and_count(context):
    server = context.server
    server.wait_idle()
    reply = context.curl(server.url + "/metrics")
    assert reply.headers["content-type"].startswith("text/plain"), reply.headers

    def served(metrics):
        return metrics.value("zerohop_http_requests_total", route="/v1/messages", status="200")
    before = server.metrics()
    usage = server.messages(capital())["usage"]
    wait_until(lambda: served(server.metrics()) == served(before) + 1, "the request is not counted")
    after = server.metrics()

    def moved(name):
        return after.value(name) - before.value(name)
    assert moved("zerohop_output_tokens_total") == usage["output_tokens"], usage
    assert moved("zerohop_prompt_tokens_total") == prompt_tokens(usage), usage
    cached = usage["cache_read_input_tokens"]
    assert moved("zerohop_prompt_tokens_cached_total") == cached, usage
    assert moved("zerohop_ttft_seconds_count") == 1, "time to first token"
    assert moved("zerohop_e2e_seconds_count") == 1, "end to end"
    assert moved("zerohop_engine_steps_total") > 0, "steps"
    built = [dict(pairs) for name, pairs in after.samples if name == "zerohop_build_info"]
    assert len(built) == 1, f"zerohop_build_info has {len(built)} series"
    assert built[0]["instance_id"] == server.instance and built[0]["pool"] == "cpu", built
    assert built[0]["version"] and built[0]["libllama"], built
    assert after.helped >= set(after.kinds), "a family without HELP"


def test_a_refused_request_is_counted_with_its_cause(context):
    server = context.server

    def refused():
        return server.metrics().value("zerohop_refusals_total", cause="invalid_request")
    before = refused()
    assert server.request("POST", "/v1/messages", {"messages": 5}).status == 400
    wait_until(lambda: refused() == before + 1, "the refusal is not counted")


def test_health_is_json_with_the_load_behind_it(context):
    server = context.server
    server.wait_idle()
    reply = context.curl(server.url + "/healthz")
    assert reply.status == 200, reply
    health = reply.json()
    assert health["status"] == "ok" and health["model"] == MODEL, health
    assert health["instance"] == server.instance, health
    with OpenStream(server, endless(400)) as stream:
        stream.read_until("content_block_delta")
        wait_until(lambda: server.health()["decoding"] == 1, "no sequence decodes")
        health = server.health()
        assert health["requests_in_flight"] == 1, health
        assert health["kv_cells"]["reserved"] > 0, health
    server.wait_idle()
    assert server.cells_reserved() == 0, server.health()
    assert context.curl(server.url + "/livez").json()["status"] == "alive"


def test_a_model_name_that_is_unknown_gets_the_default_tier(context):
    for name in ("claude-sonnet-5", "gpt-4o-mini"):
        message = context.server.messages({"model": name, "max_tokens": 1,
                                           "messages": [user("Hi")]})
        assert message["model"] == MODEL, message


def test_missing_fields_get_the_lenient_defaults(context):
    request = {name: value for name, value in capital().items()
               if name not in ("model", "max_tokens")}
    reply = context.curl(context.server.url + "/v1/messages", "-H", "content-type:", "-d",
                         json.dumps(request))
    assert "Paris" in reply.json()["content"][0]["text"], reply
