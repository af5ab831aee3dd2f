"""Answers that must have a form: whatever the model would like to say, only that can be sampled.

Sampled at a high temperature, so that a small model left to itself would get it wrong.
"""
import itertools
import json
import re

from support.http import check_error
from support.parallel import in_parallel
from support.prompts import MODEL, SYSTEM, assistant, fresh, user

CITY = {"type": "object", "additionalProperties": False, "required": ["city", "degrees", "sky"],
        "properties": {"city": {"type": "string", "minLength": 2, "maxLength": 12},
                       "degrees": {"type": "integer", "minimum": -40, "maximum": 45},
                       "sky": {"enum": ["clear", "cloudy", "rain"]}}}
TIMER = {"type": "object", "additionalProperties": False, "required": ["seconds"],
         "properties": {"seconds": {"type": "integer", "minimum": 1, "maximum": 999},
                        "name": {"type": "string", "maxLength": 20}}}
TOOLS = [{"name": "get_weather", "description": "Reports the weather.", "input_schema": CITY},
         {"name": "set_timer", "description": "Sets a timer.", "input_schema": TIMER}]
BACKWARD = {"type": "object", "properties": {"a": {"type": "string", "pattern": "(x)\\1"}}}
WILD = {"temperature": 1.4, "seed": 7}


def request(text="What is the weather in Oslo?", **fields):
    return {"model": MODEL, "max_tokens": 200, "system": SYSTEM, "messages": [user(fresh(text))],
            **WILD, **fields}


def schema_format(schema):
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


def check_city(value):
    assert list(value) == ["city", "degrees", "sky"], value
    assert isinstance(value["city"], str) and 2 <= len(value["city"]) <= 12, value
    assert type(value["degrees"]) is int and -40 <= value["degrees"] <= 45, value
    assert value["sky"] in ("clear", "cloudy", "rain"), value


def check_timer(value):
    assert set(value) <= {"seconds", "name"} and "seconds" in value, value
    assert type(value["seconds"]) is int and 1 <= value["seconds"] <= 999, value
    assert len(value.get("name", "")) <= 20, value


CHECKS = {"get_weather": check_city, "set_timer": check_timer}


def text_of(message):
    return "".join(block["text"] for block in message["content"] if block["type"] == "text")


def calls_of(message):
    return [block for block in message["content"] if block["type"] == "tool_use"]


def test_answers_match_their_schema_at_any_temperature(context):
    def one(seed):
        return context.server.messages(request(seed=seed, **schema_format(CITY)))
    context.server.messages(request(max_tokens=1))  # the server is up
    for message in in_parallel(one, range(6)):
        check_city(json.loads(text_of(message)))
        assert message["stop_reason"] == "end_turn", message


def test_an_answer_that_is_cut_off_is_whole_all_the_same(context):
    for tokens in (40, 25):
        cities = {"type": "array", "minItems": 1, "items": CITY}
        message = context.server.messages(request(max_tokens=tokens, **schema_format(cities)))
        for city in json.loads(text_of(message)):
            check_city(city)


def test_an_answer_that_cannot_be_finished_is_refused(context):
    reply = context.server.request("POST", "/v1/messages",
                                   request(max_tokens=3, **schema_format(CITY)))
    check_error(reply, 400, "invalid_request_error")
    assert "max_tokens" in reply.json()["error"]["message"], reply


def chat(context, **fields):
    body = {"model": MODEL, "max_tokens": 200, "messages": [user("Go ahead.")], **WILD, **fields}
    reply = context.server.request("POST", "/v1/chat/completions", body)
    assert reply.status == 200, reply
    return reply


def test_a_schema_as_openais_clients_send_it(context):
    wanted = {"type": "json_schema",
              "json_schema": {"name": "city", "strict": True, "schema": CITY}}
    for choice in chat(context, n=2, response_format=wanted).json()["choices"]:
        assert choice["finish_reason"] == "stop", choice
        check_city(json.loads(choice["message"]["content"]))
    streamed = chat(context, stream=True, response_format={"type": "json_object"}).body.decode()
    chunks = [json.loads(line[6:]) for line in streamed.splitlines()
              if line.startswith("data: {")]
    text = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks
                   if chunk["choices"])
    assert isinstance(json.loads(text), dict), text


def test_tools_are_called_as_their_schemas_say(context):
    for choice in ({"type": "any"}, {"type": "tool", "name": "set_timer"}):
        with context.client() as client:
            message = client.messages.create(
                model=MODEL, max_tokens=300, messages=[user("Wake me in five minutes.")],
                tools=TOOLS, tool_choice={**choice, "disable_parallel_tool_use": True},
                extra_body=WILD)
        assert message.stop_reason == "tool_use", message
        call, = message.content
        CHECKS[call.name](call.input)
        assert choice["type"] == "any" or call.name == "set_timer", message


def timers(seconds):
    """A conversation in which a timer was set for each question but the last one, so that even a
    small model goes on like that without being made to."""
    turns = [user(f"Set a timer of {seconds[0]} seconds.")]
    for number, (now, then) in enumerate(itertools.pairwise(seconds)):
        call_id = f"toolu_{number:020}"
        turns.append(assistant([{"type": "tool_use", "id": call_id, "name": "set_timer",
                                 "input": {"seconds": now}}]))
        turns.append(user([
            {"type": "tool_result", "tool_use_id": call_id, "content": "done"},
            {"type": "text", "text": f"Set a timer of {then} seconds."}]))
    return turns


HABIT = timers((30, 45, 50, 60, 75, 20, 25, 90))


def test_calls_that_the_model_may_make_match_too(context):
    made = []
    for seed, temperature in enumerate((0, 0.7, 1, 1.4, 1.4)):
        message = context.server.messages(request(messages=HABIT, tools=TOOLS, seed=seed,
                                                  temperature=temperature))
        made += calls_of(message)
    for call in made:
        CHECKS[call["name"]](call["input"])
    assert made, "the model never chose to call, so nothing was tested"


def test_a_format_and_tools_leave_the_choice_between_both(context):
    made, written = [], []
    for seed in range(8):
        habit = {"messages": HABIT} if seed < 2 else {}
        message = context.server.messages(request(tools=TOOLS, seed=seed, **habit,
                                                  **schema_format(CITY)))
        made += calls_of(message)
        if not calls_of(message):
            written.append(json.loads(text_of(message)))
    for call in made:
        CHECKS[call["name"]](call["input"])
    for city in written:
        check_city(city)
    assert made and written, (made, written)


def test_texts_that_match_a_pattern_a_grammar_or_a_list(context):
    def answer(**fields):
        return chat(context, max_tokens=60, **fields).json()["choices"][0]["message"]["content"]
    pattern = r"(\d{1,3}\.){3}\d{1,3}\n"
    assert re.fullmatch(pattern, answer(guided_regex=pattern))
    assert answer(guided_choice=["north ", " south"]) in ("north ", " south")
    text = answer(guided_grammar='root ::= "(" root ")" | "x"')
    depth = text.count("(")
    assert text == "(" * depth + "x" + ")" * depth, text


def test_the_hosted_apis_prefill_goes_on_where_it_left_off(context):
    body = request(**schema_format(CITY))
    body["messages"].append({"role": "assistant", "content": '{"city": "Oslo",'})
    message = context.server.messages(body)
    check_city(json.loads('{"city": "Oslo",' + text_of(message)))
    body["messages"][-1]["content"] = '{"town":'
    reply = context.server.request("POST", "/v1/messages", body)
    check_error(reply, 400, "invalid_request_error")


def test_schemas_that_cannot_be_enforced_are_refused_or_relaxed_visibly(context):
    strict = {"name": "odd", "strict": True, "input_schema": BACKWARD}
    for fields, path in ((schema_format(BACKWARD), "output_config.format.schema"),
                         ({"tools": [strict]}, "tools[0].input_schema")):
        reply = context.server.request("POST", "/v1/messages", request(**fields))
        check_error(reply, 400, "invalid_request_error")
        text = reply.json()["error"]["message"]
        assert path in text and "/properties/a" in text and "pattern" in text, text
    reply = context.server.request("POST", "/v1/messages", request(
        tools=[{**strict, "strict": False}], tool_choice={"type": "any"}))
    assert reply.status == 200, reply
    header = reply.headers["anthropic-kernel-constraint-relaxed"]
    assert header == "odd /properties/a pattern", header


def test_schemas_that_nothing_satisfies_are_refused(context):
    for schema in ({"type": "integer", "minimum": 3, "maximum": 2},
                   {"type": "object", "required": ["a"], "properties": {"a": False}},
                   {"$ref": "#"}):
        reply = context.server.request("POST", "/v1/messages", request(**schema_format(schema)))
        check_error(reply, 400, "invalid_request_error")


def joined(count, write):
    return ",".join(write(number) for number in range(count))


LONG = '{"type":"object","properties":{"a":{"type":"string","minLength":%d}},"required":["a"]}'


def hostile_schemas():
    """Whose documents are too long, too deep, too many; and one with many alternatives."""
    yield LONG % 1_000_000, 400
    yield '{"$ref":"#/$defs/d3000","$defs":{"d0":{},' + joined(
        3000, lambda n: '"d%d":{"type":"array","minItems":1,"items":{"$ref":"#/$defs/d%d"}}'
                        % (n + 1, n)) + "}}", 400
    yield '{"type":"object","minProperties":1,"dependentRequired":{' + joined(
        24, lambda n: f'"a{n}":["b{n}"]') + "}}", 200
    yield '{"anyOf":[' + joined(60, lambda n: (
        '{"type":"object","properties":{"a":{"type":"string","pattern":"^[a-f]*%d$"},'
        '"z":{"const":%d}},"required":["a","z"]}' % (n, n))) + "]}", 200


def hostile_requests():
    """(path, body, status) of requests whose constraints take ever more time, memory or depth the
    longer one looks.
    """
    chat = {"model": MODEL, "max_tokens": 40, "messages": [user("Go ahead.")], **WILD}
    readings = "root ::= " + " | ".join(f'"a{n:04}xxxxxx"' for n in range(2100)) + ' | "ab"'
    yield "/v1/chat/completions", {**chat, "max_tokens": 1, "guided_grammar": readings}, 200
    crowded = "root ::= " + " | ".join(f"r{n}" for n in range(800)) + "\n" + "".join(
        'r%d ::= [%s%se-h] root "%d" | "q"\n' % (n, "abcd"[n % 4], "ijklmnop"[n // 8 % 8], n)
        for n in range(800))
    yield "/v1/chat/completions", {**chat, "guided_grammar": crowded}, 200
    for schema, status in hostile_schemas():
        yield "/v1/messages", request(max_tokens=40, **schema_format(json.loads(schema))), status
    tools = [{"name": f"t{n}", "input_schema": json.loads(LONG % (900_000 + n))} for n in range(60)]
    yield "/v1/messages", request(max_tokens=40, tools=tools, tool_choice={"type": "any"}), 400


def test_hostile_constraints_end_and_leave_the_others_alone(context):
    context.server.messages(request(max_tokens=1))  # the server is up

    def send(task):
        if isinstance(task, int):
            return context.server.messages(request(seed=task, **schema_format(CITY)))
        return context.server.request("POST", *task[:2])
    hostile = list(hostile_requests())
    replies = in_parallel(send, [*hostile, *range(4)])
    for (_, _, status), reply in zip(hostile, replies):
        assert reply.status == status, reply
    first = replies[0].json()["choices"][0]["message"]["content"]
    assert first == "ab", first
    for message in replies[len(hostile):]:
        check_city(json.loads(text_of(message)))


def test_what_a_deployment_names_is_compiled_before_it_is_ready(context):
    file = context.sandbox.file(".json", json.dumps(TOOLS))
    server = context.start_server(config=f"constraints: {{precompile: ['{file}']}}\n")
    server.messages(request(tools=TOOLS))
    page = server.request("GET", "/metrics").body.decode()
    assert re.search(r'zerohop_constraint_requests_total\{[^}]*cache="hit"[^}]*\} 1', page), page
    broken = context.sandbox.file(".json", json.dumps({"type": "nonsense"}))
    done = context.zerohop("serve", "--port", "0", environment={
        "ZEROHOP_CONSTRAINTS_PRECOMPILE": str(broken)})
    assert done.returncode != 0 and str(broken) in done.stderr, done
