"""Bugs that other servers and gateways had with these clients, each seen from the wire here.

The numbers are those of a list of reports that the project keeps; the first line of each test says
what went wrong elsewhere.
"""
import base64
import io
import json

from support.http import check_error
from support.prompts import SYSTEM, assistant, body, endless, fresh, long_text, user
from support.script import HARD_ARGUMENTS, THOUGHT, case, call
from support.sse import prompt_tokens, read_stream
from support.stream import OpenStream
from support.images import PIXEL
from support.waiting import wait_until

TOOLS = [{"name": "get_weather", "description": "The weather.", "input_schema": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}]
THINKING = {"type": "enabled", "budget_tokens": 1024}
CALL_ID = "toolu_0123456789abcdef"


def request(name, **fields):
    return {"max_tokens": 4000, "messages": [user(f"case:{name}")], **fields}


def both(server, fields):
    """The answer whole and as a stream, which must agree; the whole one."""
    whole = server.messages(fields)
    reply = server.request("POST", "/v1/messages", {**fields, "stream": True})
    reading = read_stream(io.BytesIO(reply.body))
    kinds = [block["type"] for block in whole["content"]]
    texts = ["".join(block.get(key, "") for key in ("text", "thinking"))
             if block["type"] != "tool_use" else block["input"] for block in whole["content"]]
    streamed = [json.loads(reading.texts[index] or "{}") if kind == "tool_use"
                else reading.texts[index] for index, kind in enumerate(kinds)]
    assert streamed == texts, (streamed, texts)
    assert len(reading.texts) == len(kinds), (reading.texts, kinds)
    assert reading.stop_reason == whole["stop_reason"], (reading.stop_reason, whole)
    return whole


def kinds_of(message):
    return [block["type"] for block in message["content"]]


def text_of(message):
    return "".join(block["text"] for block in message["content"] if block["type"] == "text")


def both_templates(context):
    """A model whose template shows tools and thinking, and one that knows roles and texts alone."""
    return context.scripted, context.start_scripted("--plain-template")


def answered_call(result, name="get_weather"):
    """An earlier call with its result."""
    return [assistant([{"type": "tool_use", "id": CALL_ID, "name": name,
                        "input": {"city": "Oslo"}}]),
            user([{"type": "tool_result", "tool_use_id": CALL_ID, "content": result}])]


def test_row_01_the_role_system_inside_messages_is_no_error(context):
    for server in (context.server, *both_templates(context)):
        for entry in ("A rule.", [{"type": "text", "text": "A rule.",
                                   "cache_control": {"type": "ephemeral"}}]):
            message = server.messages({"max_tokens": 4, "messages": [
                user("case:plain"), {"role": "system", "content": entry}]})
            assert message["content"], message


def test_row_02_a_system_entry_behind_the_first_turn_is_no_template_failure(context):
    for server in (context.server, *both_templates(context)):
        message = server.messages({"max_tokens": 30, "system": "One.", "messages": [
            {"role": "system", "content": "Two."}, user("Hi"), assistant("Hello."),
            {"role": "system", "content": "Three."}, user("case:plain"),
            {"role": "system", "content": "Four."}, {"role": "system", "content": "Five."}]})
        assert message["usage"]["output_tokens"] > 0, message


def test_row_04_thinking_behind_text_closes_the_text_block(context):
    message = both(context.scripted, request("text-then-thinking", thinking=THINKING))
    assert kinds_of(message) == ["text", "thinking", "text"], message
    assert [block.get("text", THOUGHT) for block in message["content"]] \
        == ["First.", THOUGHT, "Second."], message


def test_row_05_a_call_without_text_before_it_has_index_0(context):
    for server in both_templates(context):
        message = both(server, request("one-tool", tools=TOOLS))
        assert kinds_of(message) == ["tool_use"], message


def test_row_07_indices_are_contiguous_over_text_and_several_calls(context):
    for server in both_templates(context):
        message = both(server, request("two-tools", tools=TOOLS))
        assert kinds_of(message) == ["text", "tool_use", "tool_use"], message
        assert [block["input"] for block in message["content"][1:]] \
            == [{"city": "Oslo"}, {"city": "Rome"}], message


def test_row_08_thinking_twice_makes_two_blocks(context):
    message = both(context.scripted, request("thinks-twice", thinking=THINKING))
    assert kinds_of(message) == ["thinking", "text", "thinking", "text"], message
    assert text_of(message) == "First.Second.", message


def test_row_10_thinking_is_not_lost_nor_shown_as_text(context):
    message = both(context.scripted, request("thinking", thinking=THINKING))
    assert kinds_of(message) == ["thinking", "text"], message
    assert message["content"][0]["thinking"] == THOUGHT, message
    assert "think" not in text_of(message) and message["content"][0]["signature"], message
    hidden = context.scripted.messages(request("thinking", thinking={
        "type": "adaptive", "display": "omitted"}))
    assert kinds_of(hidden) == ["thinking", "text"], hidden
    assert hidden["content"][0]["thinking"] == "" and hidden["content"][0]["signature"], hidden


def test_row_11_thinking_of_earlier_turns_reaches_the_model(context):
    server = context.scripted
    thought = {"type": "thinking", "thinking": "A thought of some length.", "signature": ""}
    calls, results = answered_call("snow, -3")
    turns = [user("case:thinking-tool"), assistant([thought, *calls["content"]]), results]
    without = [turns[0], calls, results]
    counts = [server.count_tokens({"messages": messages, "tools": TOOLS, "thinking": THINKING})
              for messages in (turns, without)]
    assert counts[0] >= counts[1] + len("A thought of some length."), counts
    answer = server.messages({"max_tokens": 200, "messages": turns, "tools": TOOLS,
                              "thinking": THINKING})
    assert text_of(answer) == "It snows in Oslo.", answer


def test_row_13_message_start_has_the_true_input_count(context):
    for server in (context.server, context.scripted):
        fields = {"messages": [user(fresh("Hi"))], "system": "Be brief.", "max_tokens": 2}
        counted = server.count_tokens({key: fields[key] for key in ("messages", "system")})
        with OpenStream(server, fields) as stream:
            usage = stream.read_until("message_start").data["message"]["usage"]
            assert prompt_tokens(usage) == counted, (usage, counted)


def test_row_14_cached_tokens_are_counted_once(context):
    fields = body(fresh(long_text(120)), max_tokens=1)
    first, second = (context.server.messages(fields)["usage"] for _ in range(2))
    assert second["cache_read_input_tokens"] > 100, second
    assert second["input_tokens"] < 100, second
    assert prompt_tokens(first) == prompt_tokens(second), (first, second)


def test_row_16_cache_counters_are_in_both_events_of_a_stream(context):
    fields = body(fresh(long_text(120)), max_tokens=2)
    context.server.messages(fields)
    with OpenStream(context.server, fields) as stream:
        start = stream.read_until("message_start").data["message"]["usage"]
        end = stream.read_until("message_delta").data["usage"]
    assert start["cache_read_input_tokens"] > 100, start
    for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"):
        assert end[name] == start[name], (name, start, end)


def test_row_17_a_streamed_call_ends_with_tool_use_and_no_empty_text(context):
    for name, kinds in (("one-tool", ["tool_use"]), ("text-and-tool", ["text", "tool_use"]),
                        ("no-arguments", ["tool_use"])):
        tools = [*TOOLS, {"name": "get_time", "input_schema": {"type": "object"}}]
        message = both(context.scripted, request(name, tools=tools))
        assert message["stop_reason"] == "tool_use", message
        assert kinds_of(message) == kinds, message


def test_row_19_tokens_are_counted_by_an_endpoint_of_their_own(context):
    reply = context.server.request("POST", "/v1/messages/count_tokens",
                                   {"messages": [user("Hi")], "tools": []},
                                   {"anthropic-beta": "token-counting-2024-11-01"})
    assert reply.status == 200 and set(reply.json()) >= {"input_tokens"}, reply
    check_error(context.server.request("POST", "/v1/messages/count_tokens", {"messages": []}),
                400, "invalid_request_error")


def test_row_20_counted_tokens_include_system_and_tools(context):
    for server in (context.server, *both_templates(context)):
        bare = {"messages": [user("Hi")], "system": SYSTEM}
        counts = [server.count_tokens(fields) for fields in (
            bare, {**bare, "system": SYSTEM + " " + long_text(40)}, {**bare, "tools": TOOLS})]
        assert counts[1] > counts[0] + 30 and counts[2] > counts[0] + 20, counts
        usage = server.messages({**bare, "tools": TOOLS, "max_tokens": 1})["usage"]
        assert counts[2] == prompt_tokens(usage), (counts, usage)


def test_row_22_an_image_in_a_tool_result_becomes_a_note(context):
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                                         "data": base64.b64encode(PIXEL).decode()}}
    for server in both_templates(context):
        turns = [user("case:picture"), *answered_call([image], "screenshot")]
        message = server.messages({"max_tokens": 200, "messages": turns, "tools": [
            {"name": "screenshot", "input_schema": {"type": "object"}}]})
        assert text_of(message) == "I see a note about an image.", message


def test_row_23_deferred_tools_and_references_to_them_are_understood(context):
    hidden = {**TOOLS[0], "name": "rare_tool", "description": "Rarely of use.",
              "defer_loading": True}
    search = {"name": "search", "input_schema": {"type": "object"}}
    reference = [{"type": "tool_reference", "tool_name": "rare_tool"}]
    server = context.scripted
    bare = {"messages": [user("Hi")], "tools": [search]}
    with_hidden = {"messages": [user("Hi")], "tools": [search, hidden]}
    assert server.count_tokens(bare) == server.count_tokens(with_hidden), "it is shown at once"
    shown = {"messages": [user("Hi"), *answered_call(reference, "search")],
             "tools": [search, hidden]}
    plain = {**shown, "messages": [user("Hi"), *answered_call("none", "search")]}
    grown = server.count_tokens(shown) - server.count_tokens(plain)
    assert grown > len("rare_tool Rarely of use."), grown
    assert server.messages({**shown, "max_tokens": 4})["content"], shown


def test_row_25_both_headers_of_a_key_are_accepted(context):
    for headers in ({"x-api-key": "k"}, {"authorization": "Bearer k"},
                    {"x-api-key": "one", "authorization": "Bearer two"}):
        reply = context.scripted.request("POST", "/v1/messages", request("plain"), headers)
        assert reply.status == 200, (headers, reply)


def test_row_26_a_failure_is_never_an_empty_200(context):
    server = context.scripted
    reply = server.request("POST", "/v1/messages", request("breaks-down"))
    check_error(reply, 500, "api_error")
    reply = server.request("POST", "/v1/messages", request("breaks-down", stream=True))
    reading = read_stream(io.BytesIO(reply.body))
    assert reading.failure["type"] == "api_error" and not reading.stopped, reading
    silent = server.messages(request("empty"))
    assert silent["content"] == [] and silent["stop_reason"] == "end_turn", silent


def test_row_28_both_dialects_show_the_model_the_same_prompt(context):
    for server in (context.server, *both_templates(context)):
        system = {"role": "system", "content": SYSTEM}
        calls, results = answered_call("snow, -3")
        native = {"system": SYSTEM, "tools": TOOLS, "max_tokens": 1,
                  "messages": [user("case:round-trip"), calls, results]}
        foreign = {"max_tokens": 1, "tools": [{"type": "function", "function": {
            "name": "get_weather", "description": "The weather.",
            "parameters": TOOLS[0]["input_schema"]}}], "messages": [
                system, user("case:round-trip"),
                {"role": "assistant", "content": None, "tool_calls": [
                    {"id": CALL_ID, "type": "function", "function": {
                        "name": "get_weather", "arguments": '{"city":"Oslo"}'}}]},
                {"role": "tool", "tool_call_id": CALL_ID, "content": "snow, -3"}]}
        used = prompt_tokens(server.messages(native)["usage"])
        reply = server.request("POST", "/v1/chat/completions", foreign)
        assert reply.json()["usage"]["prompt_tokens"] == used, (server.model, used, reply.json())


def test_row_29_several_turns_with_calls_and_empty_texts_are_rendered(context):
    calls, results = answered_call("snow, -3")
    calls["content"].insert(0, {"type": "text", "text": ""})
    turns = [user("case:two-rounds"), calls, results,
             assistant([{"type": "tool_use", "id": "call_9", "name": "get_weather",
                         "input": {"city": "Rome"}}]),
             user([{"type": "text", "text": "(no content)"},
                   {"type": "tool_result", "tool_use_id": "call_9", "content": [
                       {"type": "text", "text": "sun, 20"}]}])]
    for server in (context.server, *both_templates(context)):
        message = server.messages({"max_tokens": 100, "messages": turns, "tools": TOOLS})
        if server is not context.server:
            assert text_of(message) == "Snow and sun.", message


def test_row_31_a_client_that_leaves_ends_prefill_and_generation(context):
    server = context.server
    with OpenStream(server, endless(2000)) as stream:
        stream.read_until("content_block_delta")
    server.wait_idle()
    with server.connect() as socket:
        content = json.dumps(body(fresh(long_text(6000)))).encode()
        socket.sendall(b"POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: %d\r\n\r\n%s"
                       % (len(content), content))
        wait_until(lambda: server.health()["prefilling"] == 1, server.health)
    server.wait_idle()
    assert server.cells_reserved() == 0, server.health()


def test_row_32_the_list_of_models_has_both_shapes(context):
    listed = context.server.request("GET", "/v1/models").json()
    assert listed["object"] == "list" and listed["has_more"] is False, listed
    entry = listed["data"][0]
    assert entry["type"] == "model" and entry["object"] == "model", entry
    assert entry["display_name"] and entry["owned_by"], entry


def test_row_34_a_tool_choice_without_tools_means_no_tools(context):
    for tools in ({"tools": []}, {}, {"tools": None}):
        for choice in ({"type": "auto"}, {"type": "any"}, {"type": "tool", "name": "gone"}):
            message = both(context.scripted, request("plain", tool_choice=choice, **tools))
            assert text_of(message) == "Hello from the script.", message


def test_row_35_an_overflow_has_the_words_that_agents_look_for(context):
    server = context.start_scripted("--context", "2048")
    long_prompt = {"messages": [user("x" * 3000)], "max_tokens": 10}
    counted = server.count_tokens({"messages": long_prompt["messages"]})
    for fields in (long_prompt, {**long_prompt, "stream": True}):
        message = check_error(server.request("POST", "/v1/messages", fields), 400,
                              "invalid_request_error")
        assert message == f"prompt is too long: {counted} tokens > 2048 maximum", message
    fits = server.messages({"messages": [user("case:plain")], "max_tokens": 1_000_000})
    assert text_of(fits) == "Hello from the script.", fits


def test_arguments_survive_every_character_that_json_can_hold(context):
    rules = [case("hard", call("record", **HARD_ARGUMENTS), tokens=tokens)
             for tokens in ("pieces", "bytes")]
    for rule in rules:
        for flags in ((), ("--plain-template",)):
            server = context.start_scripted(*flags, rules=[rule])
            message = both(server, request("hard", tools=[
                {"name": "record", "input_schema": {"type": "object"}}]))
            assert message["content"][0]["input"] == HARD_ARGUMENTS, message


def test_a_call_inside_a_thought_ends_it_and_is_made(context):
    """Some models forget to close the thought before they call."""
    message = both(context.scripted, request("call-inside-thinking", thinking=THINKING,
                                             tools=TOOLS))
    assert kinds_of(message) == ["thinking", "tool_use", "text"], message
    assert message["content"][1]["input"] == {"city": "Oslo"}, message
    assert text_of(message) == "No call." and message["stop_reason"] == "tool_use", message


def calls_cut_off(context, limits, **fields):
    """The inputs of the calls in answers that max_tokens ends."""
    inputs = []
    for limit in limits:
        message = both(context.scripted, {**request("one-tool", tools=TOOLS, temperature=0),
                                          **fields, "max_tokens": limit})
        assert message["stop_reason"] == "max_tokens", message
        inputs += [block["input"] for block in message["content"] if block["type"] == "tool_use"]
    return inputs


def test_a_call_that_max_tokens_cuts_off_is_still_an_object(context):
    # Left to itself the model is cut off, and what it had said of the call is handed on.
    inputs = calls_cut_off(context, range(20, 75, 5), constrain_tools=False)
    assert {} in inputs and {"city": "Oslo"} in inputs, inputs
    assert all(isinstance(each, dict) for each in inputs), inputs


def test_a_call_that_is_held_to_its_schema_ends_in_time(context):
    # A call that does not fit is not begun; one that has begun is whole, with what fits in it.
    inputs = calls_cut_off(context, range(60, 80))
    assert [each["city"] for each in inputs] == ["", "O", "Os", "Osl", "Oslo"], inputs
    assert all(set(each) == {"city"} for each in inputs), inputs
