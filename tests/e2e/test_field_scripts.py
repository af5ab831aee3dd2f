"""Requests as scripts in the field write them: fields missing, odd headers and odd paths."""
import http.client
import json

from support.http import check_common_headers, check_error
from support.parallel import in_parallel
from support.prompts import capital, endless, user
from support.sse import prompt_tokens
from support.stream import OpenStream
from support.waiting import wait_until

HELLO = {"messages": [{"role": "user", "content": "case:plain"}]}
WEATHER = {"name": "get_weather", "input_schema": {
    "type": "object", "properties": {"city": {"type": "string"}}}}


def scripted(context, request, headers=None, path="/v1/messages"):
    reply = context.scripted.request("POST", path, request, headers)
    assert reply.status == 200, reply
    return reply.json()


def text_of(message):
    return "".join(block["text"] for block in message["content"] if block["type"] == "text")


def test_the_shortest_body_is_served(context):
    message = scripted(context, HELLO)
    assert text_of(message) == "Hello from the script.", message
    assert message["model"] == "fake", message


def test_without_max_tokens_an_answer_has_a_limit_of_its_own(context):
    request = endless(1)
    del request["max_tokens"]
    server = context.start_server(config="limits: {default_max_tokens: 6}\n")
    message = server.messages(request)
    assert message["stop_reason"] == "max_tokens", message
    assert message["usage"]["output_tokens"] == 6, message


def test_curl_with_data_alone_is_served(context):
    url = context.scripted.url + "/v1/messages"
    reply = context.curl(url, "-d", json.dumps(HELLO))  # application/x-www-form-urlencoded
    assert text_of(reply.json()) == "Hello from the script.", reply


def test_any_content_type_or_none_is_read_as_json(context):
    for kind in ("text/plain", "application/json; charset=utf-8", "application/octet-stream",
                 "nonsense", ""):
        assert text_of(scripted(context, HELLO, {"content-type": kind})), kind
    reply = context.curl(context.scripted.url + "/v1/messages", "-d", json.dumps(HELLO),
                         "-H", "content-type:")
    assert reply.status == 200, reply


def test_a_tool_choice_may_be_a_word(context):
    request = {"messages": [user("case:one-tool")], "tools": [WEATHER]}
    for choice in ("auto", "any", "required"):
        message = scripted(context, {**request, "tool_choice": choice})
        assert [block["name"] for block in message["content"]] == ["get_weather"], (choice, message)
    message = scripted(context, {**request, "tool_choice": "none"})
    assert all(block["type"] == "text" for block in message["content"]), message


def test_openai_fields_are_understood_by_the_messages_endpoint(context):
    tool = {"type": "function", "function": {"name": "get_weather",
                                             "parameters": WEATHER["input_schema"]}}
    message = scripted(context, {"messages": [user("case:one-tool")], "tools": [tool],
                                 "max_completion_tokens": 1000})
    assert message["content"][0]["input"] == {"city": "Oslo"}, message
    message = scripted(context, {"messages": [user("case:stop")], "stop": "STOP"})
    assert message["stop_sequence"] == "STOP" and text_of(message) == "one two ", message
    message = scripted(context, {"messages": [user("case:plain")], "max_completion_tokens": 3})
    assert message["stop_reason"] == "max_tokens", message
    assert message["usage"]["output_tokens"] == 3, message


def test_credentials_of_all_generations_are_accepted(context):
    for headers in ({"x-api-key": "k", "anthropic-version": "2023-06-01"},
                    {"authorization": "Bearer k", "anthropic-version": "2026-10-21"},
                    {"authorization": "bearer k"},
                    {"x-api-key": "one", "authorization": "Bearer another"}, {}):
        assert text_of(scripted(context, HELLO, headers)), headers


def test_every_version_and_beta_is_served(context):
    for headers in ({"anthropic-version": "2023-06-01"}, {"anthropic-version": "2026-10-21"},
                    {"anthropic-version": "2099-01-01"}, {"anthropic-version": "latest"},
                    {"anthropic-beta": "no-such-beta-2031-01-01, , x"}, {"anthropic-beta": ""},
                    {"anthropic-beta": "a" * 4000}):
        assert text_of(scripted(context, HELLO, headers)), headers
    vertex = {**HELLO, "anthropic_version": "vertex-2023-10-16"}
    assert text_of(scripted(context, vertex)), vertex


def test_repeated_beta_headers_are_accepted(context):
    reply = context.curl(context.scripted.url + "/v1/messages?beta=true", "-d", json.dumps(HELLO),
                         "-H", "anthropic-beta: one", "-H", "anthropic-beta: two")
    assert reply.status == 200, reply


def test_odd_paths_lead_to_the_same_place(context):
    for path in ("/v1/messages?beta=true", "/v1/v1/messages", "//v1//messages", "/messages",
                 "/v1/messages?limit=1000&x=%20&y", "/v1//messages?beta=true"):
        assert text_of(scripted(context, HELLO, path=path)), path


def test_odd_paths_of_the_other_endpoints(context):
    for path in ("/v1/v1/chat/completions", "/chat/completions", "//v1/chat//completions"):
        reply = context.scripted.request("POST", path, HELLO)
        assert reply.json()["object"] == "chat.completion", (path, reply)
    for path in ("/models", "/v1/v1/models", "/v1/models?limit=1000", "//v1/models"):
        assert context.scripted.request("GET", path).json()["data"], path
    for path in ("/messages/count_tokens", "/v1/v1/messages/count_tokens?beta=true"):
        assert context.scripted.request("POST", path, HELLO).json()["input_tokens"] > 0, path


def test_probes_are_answered(context):
    for path in ("/", "/api/hello", "/v1/api/hello"):
        reply = context.curl(context.scripted.url + path, "--head")
        assert reply.status == 200 and reply.body == b"", (path, reply)
    for path in ("/", "/health", "/v1/health", "/healthz", "/livez"):
        assert context.curl(context.scripted.url + path).status == 200, path


def test_a_browsers_preflight_allows_what_clients_send(context):
    names = ("anthropic-version,anthropic-beta,x-api-key,authorization,content-type,"
             "anthropic-dangerous-direct-browser-access,x-stainless-retry-count,x-stainless-os")
    for path in ("/v1/messages", "/v1/messages/count_tokens", "/v1/chat/completions", "/v1/models"):
        reply = context.curl(context.scripted.url + path, "-X", "OPTIONS",
                             "-H", "origin: http://example.org",
                             "-H", "access-control-request-method: POST",
                             "-H", f"access-control-request-headers: {names}")
        assert reply.status in (200, 204), (path, reply)
        allowed = reply.headers["access-control-allow-headers"].lower()
        assert allowed == "*" or set(names.split(",")) <= {
            name.strip() for name in allowed.split(",")}, (path, allowed)
        assert reply.headers["access-control-allow-origin"] in ("*", "http://example.org"), reply


def test_model_ids_with_slashes_and_colons_are_found(context):
    config = 'model: {aliases: {"vendor/family:7b": fake, "claude-*": fake}}\n'
    server = context.start_scripted("--config", str(context.sandbox.file(".yaml", config)))
    for path in ("/v1/models/vendor%2Ffamily:7b", "/v1/models/vendor%2Ffamily%3A7b",
                 "/v1/models/vendor/family:7b"):
        reply = server.request("GET", path)
        assert reply.status == 200 and reply.json()["id"] == "vendor/family:7b", (path, reply)
    check_error(server.request("GET", "/v1/models/vendor%2Fother:7b"), 404, "not_found_error")
    message = server.messages({**HELLO, "model": "vendor/family:7b"})
    assert message["model"] == "vendor/family:7b", message


def test_an_unknown_model_name_is_served_by_the_default_tier(context):
    message = scripted(context, {**HELLO, "model": "claude-sonnet-9"})
    assert message["model"] == "fake", message


def test_chunked_bodies_and_expect_are_handled(context):
    url = context.scripted.url + "/v1/messages"
    for header in ("transfer-encoding: chunked", "expect: 100-continue"):
        reply = context.curl(url, "-d", json.dumps(HELLO), "-H", header)
        assert text_of(reply.json()) == "Hello from the script.", (header, reply)


def test_nulls_where_a_field_may_be_left_out(context):
    names = ("system", "stop_sequences", "temperature", "top_p", "top_k", "tools", "tool_choice",
             "thinking", "output_config", "cache_control", "metadata", "service_tier", "container",
             "context_management", "mcp_servers", "stream", "model", "max_tokens", "speed",
             "inference_geo", "diagnostics", "stop", "seed", "response_format")
    message = scripted(context, {**HELLO, **{name: None for name in names}})
    assert text_of(message) == "Hello from the script.", message


def test_cache_control_is_accepted_everywhere(context):
    mark = {"type": "ephemeral", "ttl": "1h"}
    request = {
        "cache_control": mark,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": mark}],
        "tools": [{**WEATHER, "cache_control": mark}],
        "messages": [
            user([{"type": "text", "text": "case:round-trip", "cache_control": mark}]),
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_0123456789",
                                               "name": "get_weather", "input": {"city": "Oslo"},
                                               "cache_control": mark}]},
            user([{"type": "tool_result", "tool_use_id": "toolu_0123456789", "cache_control": mark,
                   "content": [{"type": "text", "text": "snow, -3", "cache_control": mark}]}])]}
    assert text_of(scripted(context, request)) == "It snows in Oslo."


def test_many_counts_return_while_an_answer_is_generated(context):
    server = context.server
    with OpenStream(server, endless(1500)) as stream:
        stream.read_until("content_block_delta")
        requests = [{"messages": [user(f"Count {i}.")], "tools": [WEATHER]} for i in range(24)]
        counts = in_parallel(server.count_tokens, requests)
        assert server.health()["decoding"] == 1, "the answer ended before the counts"
    assert len(counts) == 24 and all(count > 20 for count in counts), counts
    server.wait_idle()


def test_counted_tokens_equal_usage_with_tools_system_and_thinking(context):
    requests = [
        {**HELLO, "tools": [WEATHER]}, {**HELLO, "system": "Be brief.", "tools": [WEATHER]},
        {**HELLO, "thinking": {"type": "enabled", "budget_tokens": 1024}},
        {"messages": [user("case:plain"), {"role": "system", "content": "A rule."}]},
        {**HELLO, "tools": [WEATHER], "tool_choice": {"type": "none"}},
        {**HELLO, "tools": [WEATHER], "tool_choice": {"type": "tool", "name": "get_weather"}}]
    for server in (context.scripted, context.server):
        for request in requests:
            counted = server.count_tokens(request)
            usage = server.messages({**request, "max_tokens": 30})["usage"]
            assert counted == prompt_tokens(usage), (server.model, request, counted, usage)


def test_a_client_may_close_its_side_after_the_request(context):
    """Some HTTP/1.0 tools half-close; that is no disconnect."""
    request = json.dumps(capital()).encode()
    connection = http.client.HTTPConnection(context.server.host, context.server.port)
    connection.request("POST", "/v1/messages", request, {"connection": "close"})
    reply = connection.getresponse()
    assert reply.status == 200 and b"Paris" in reply.read()
    connection.close()


def test_ids_are_unique_over_parallel_answers(context):
    server = context.scripted
    messages = in_parallel(server.messages, [{"messages": [user("case:two-tools")],
                                              "tools": [WEATHER]} for _ in range(16)])
    ids = [message["id"] for message in messages]
    ids += [block["id"] for message in messages for block in message["content"]
            if block["type"] == "tool_use"]
    assert len(ids) == 16 * 3 and len(set(ids)) == len(ids), ids


def test_bad_tools_are_refused_with_the_path_of_the_field(context):
    faults = {
        "tools[0].name": {"tools": [{"input_schema": {"type": "object"}}]},
        "tools[0].input_schema": {"tools": [{"name": "a", "input_schema": 5}]},
        "tool_choice.name": {"tools": [WEATHER], "tool_choice": {"type": "tool", "name": "other"}},
        "tools": {"tools": {"name": "a"}},
        "messages[0].content[0].tool_use_id": {"messages": [user([{"type": "tool_result"}])]},
        "messages[1].content[0].input": {"messages": [user("Hi"), {
            "role": "assistant", "content": [{"type": "tool_use", "id": "toolu_01", "name": "a",
                                              "input": "text"}]}]}}
    for path, fields in faults.items():
        reply = context.scripted.request("POST", "/v1/messages", {**HELLO, **fields})
        message = check_error(reply, 400, "invalid_request_error")
        assert message.startswith(path + ": "), (path, message)
        check_common_headers(reply.headers)


def test_an_abandoned_answer_leaves_nothing_behind(context):
    server = context.scripted
    request = {"messages": [user("case:slow")], "max_tokens": 4000}
    for _ in range(3):
        with OpenStream(server, request) as stream:
            stream.read_until("content_block_delta")
    server.wait_idle()
    assert server.cells_reserved() == 0, server.health()


def test_a_stream_begins_before_the_answer_is_known(context):
    """message_start with true counts comes at once; text follows as it is generated."""
    server = context.scripted
    with OpenStream(server, {"messages": [user("case:slow")], "max_tokens": 4000}) as stream:
        stream.read_until("message_start")
        assert stream.reading.prompt_tokens() > 0
        wait_until(lambda: server.health()["decoding"] == 1, server.health)

