"""The official Python library, in the version that is installed, as its users call it."""
import json
import time

import anthropic
import anthropic._base_client as base
from client_support import (CAPITAL, FORECAST, FORECAST_VALUE, LONG, MODEL, OPTIONS, PIXEL, SYSTEM,
                            WEATHER, fresh, idle, raised, recording_client, run)

HTTP = getattr(base, "httpx2", None) or base.httpx  # what this version is built on
TOOLS = [{"name": "get_weather", "description": "The weather.", "input_schema": WEATHER}]


def client_for(url):
    return anthropic.Anthropic(base_url=url, api_key="none", max_retries=0,
                               http_client=recording_client(HTTP))


fake = client_for(OPTIONS.scripted)
real = client_for(OPTIONS.served)


def user(content):
    return {"role": "user", "content": content}


def question(**fields):
    """To the default model at temperature 0, which newer versions have no parameter for."""
    return {"model": MODEL, "max_tokens": 32, "system": SYSTEM, "messages": [user(CAPITAL)],
            "extra_body": {"temperature": 0}, **fields}


def scene(name, **fields):
    return {"model": "fake", "max_tokens": 4000, "messages": [user(f"case:{name}")], **fields}


def final(client, **request):
    """The message of a stream."""
    with client.messages.stream(**request) as stream:
        return stream.get_final_message()


def text(message):
    return "".join(block.text for block in message.content if block.type == "text")


def calls(message):
    return [block for block in message.content if block.type == "tool_use"]


def prompt_tokens(usage):
    return (usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens)


def with_results(request, message, *results):
    """The next request: the answer verbatim, then a result for each of its calls."""
    content = [{"type": "tool_result", "tool_use_id": call.id, "content": result}
               for call, result in zip(calls(message), results)]
    return {**request, "messages": [*request["messages"],
                                    {"role": "assistant", "content": message.content},
                                    user(content)]}


def assert_oslo(message):
    assert message.stop_reason == "tool_use", message
    assert [(call.name, call.input) for call in calls(message)] == [
        ("get_weather", {"city": "Oslo"})], message


def plain_text():
    message = real.messages.create(**question())
    assert "Paris" in text(message) and message.stop_reason == "end_turn", message
    assert message._request_id.startswith("req_"), message


def system_prompt():
    system = "You are a pirate called Captain Barnacle. Always say your name."
    blocks = [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]
    answers = [real.messages.create(**question(system=each, messages=[user("Who are you?")]))
               for each in (system, blocks)]
    assert all("Barnacle" in text(answer) for answer in answers), answers
    assert len({prompt_tokens(answer.usage) for answer in answers}) == 1, answers


def conversation():
    first = real.messages.create(**question())
    turns = [user(CAPITAL), {"role": "assistant", "content": first.content},
             user("And of Japan?")]
    second = real.messages.create(**question(messages=turns))
    assert "Tokyo" in text(second), second


def streaming():
    whole = real.messages.create(**question())
    with real.messages.stream(**question()) as stream:
        pieces = list(stream.text_stream)
        message = stream.get_final_message()
    assert "".join(pieces) == text(message) == text(whole) and len(pieces) > 1, pieces
    assert message.usage.output_tokens == whole.usage.output_tokens, message
    events = list(real.messages.create(**question(stream=True)))
    assert [events[0].type, events[-1].type] == ["message_start", "message_stop"], events


def one_tool():
    for choice in ({"type": "auto"}, {"type": "any"}, {"type": "tool", "name": "get_weather"}):
        assert_oslo(fake.messages.create(**scene("one-tool", tools=TOOLS, tool_choice=choice)))


def two_parallel_tools():
    message = fake.messages.create(**scene("two-tools", tools=TOOLS))
    assert text(message).strip() == "I will look.", message
    assert [call.input for call in calls(message)] == [{"city": "Oslo"}, {"city": "Rome"}], message
    assert len({call.id for call in calls(message)}) == 2, message
    choice = {"type": "auto", "disable_parallel_tool_use": True}
    assert_oslo(fake.messages.create(**scene("two-tools", tools=TOOLS, tool_choice=choice)))


def tool_result():
    request = scene("two-rounds", tools=TOOLS)
    first = fake.messages.create(**request)
    request = with_results(request, first, "snow, -3")
    second = fake.messages.create(**request)
    assert [call.input for call in calls(second)] == [{"city": "Rome"}], second
    assert calls(first)[0].id != calls(second)[0].id, (first, second)
    third = fake.messages.create(**with_results(request, second,
                                                [{"type": "text", "text": "sun, 20"}]))
    assert text(third) == "Snow and sun." and third.stop_reason == "end_turn", third


def streamed_tool_call():
    with fake.messages.stream(**scene("slow-tools", tools=TOOLS)) as stream:
        fragments = [event.partial_json for event in stream if event.type == "input_json"]
        message = stream.get_final_message()
    assert [call.input for call in calls(message)] == [{"city": "Oslo"}, {"city": "Rome"}], message
    assert message.stop_reason == "tool_use" and len(fragments) > 2, fragments
    tools = [{"name": "record", "input_schema": {"type": "object"}}]
    hard = final(fake, **scene("hard-arguments", tools=tools))
    assert calls(hard)[0].input == {
        "text": "Grüße 🙂 \"quoted\" \\ back\nline </tool_call", "list": [1, 2.5, None, True],
        "nested": {"empty": {}, "none": []}}, hard
    tools = [{"name": "get_time", "input_schema": {"type": "object"}}]
    assert calls(final(fake, **scene("no-arguments", tools=tools)))[0].input == {}


def image_in_tool_result():
    request = scene("picture", tools=[{"name": "screenshot",
                                            "input_schema": {"type": "object"}}])
    first = fake.messages.create(**request)
    image = {"type": "image", "source": {"type": "base64", "data": PIXEL,
                                         "media_type": "image/png"}}
    answer = fake.messages.create(**with_results(
        request, first, [{"type": "text", "text": "Here it is."}, image]))
    assert text(answer) == "I see a note about an image.", answer


def thinking_and_a_tool():
    request = scene("thinking-tool", tools=TOOLS,
                    thinking={"type": "enabled", "budget_tokens": 1024})
    for first in (fake.messages.create(**request), final(fake, **request)):
        assert_oslo(first)
        thought = first.content[0]
        assert thought.type == "thinking" and thought.signature, first
        assert thought.thinking.strip() == "The user asks about Oslo.", first
        second = fake.messages.create(**with_results(request, first, "snow, -3"))
        assert text(second) == "It snows in Oslo.", second


def structured_output():
    config = {"format": {"type": "json_schema", "schema": FORECAST}}
    for request in (scene("structured", output_config=config),
                    scene("structured", extra_body={"output_config": config})):
        message = fake.messages.create(**request)
        assert len(message.content) == 1, message
        assert json.loads(message.content[0].text) == FORECAST_VALUE, message


def token_count():
    for extra in ({}, {"tools": TOOLS}, {"system": "Be brief."}):
        fields = {name: value for name, value in question(**extra).items()
                  if name in ("model", "system", "messages", "tools")}
        counted = real.messages.count_tokens(**fields).input_tokens
        usage = real.messages.create(**fields, max_tokens=1).usage
        assert counted == prompt_tokens(usage), (extra, counted, usage)


def models():
    assert [model.id for model in real.models.list(limit=1000)] == [MODEL]
    assert real.models.retrieve(MODEL).type == "model"


def stop_sequence():
    request = scene("stop", stop_sequences=["never", "STOP"])
    for message in (fake.messages.create(**request), final(fake, **request)):
        assert text(message) == "one two ", message
        assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", "STOP"), message


def errors():
    bad = raised(anthropic.BadRequestError, lambda: real.messages.create(**question(messages=[])))
    assert bad.body["error"]["type"] == "invalid_request_error", bad.body
    assert bad.request_id.startswith("req_"), bad
    none = raised(anthropic.NotFoundError, lambda: real.models.retrieve("vendor/no:such"))
    assert none.body["error"]["type"] == "not_found_error", none.body
    broken = raised(anthropic.APIStatusError, lambda: final(fake, **scene("breaks-down")))
    assert "api_error" in str(broken.body), broken.body


def prompt_too_long():
    request = question(messages=[user(f"{LONG} {LONG}")])
    for call in (lambda: real.messages.create(**request), lambda: final(real, **request)):
        error = raised(anthropic.BadRequestError, call)
        message = error.body["error"]["message"]
        assert message.startswith("prompt is too long: "), message
        assert message.endswith(" tokens > 8192 maximum"), message


def abort():
    with fake.messages.stream(**scene("slow")) as stream:
        next(iter(stream.text_stream))
    idle()
    raised(anthropic.APITimeoutError, lambda: fake.messages.create(**scene("slow"), timeout=0.3))
    idle()


def cache_counters():
    system = [{"type": "text", "text": fresh(LONG[:1500]),
               "cache_control": {"type": "ephemeral", "ttl": "1h"}}]
    first = real.messages.create(**question(system=system, max_tokens=4)).usage
    second = final(real, **question(system=system, max_tokens=4)).usage
    assert first.cache_creation_input_tokens > 200, first
    assert second.cache_read_input_tokens > 200, second
    assert prompt_tokens(first) == prompt_tokens(second), (first, second)


def batches():
    good = {"model": "fake", "max_tokens": 100, "messages": [user("case:plain")]}
    created = fake.messages.batches.create(requests=[
        {"custom_id": "one", "params": good},
        {"custom_id": "two", "params": {**good, "messages": []}}])
    batch = created
    for _ in range(600):
        if batch.processing_status == "ended":
            break
        time.sleep(0.1)
        batch = fake.messages.batches.retrieve(created.id)
    assert batch.processing_status == "ended", batch
    assert (batch.request_counts.succeeded, batch.request_counts.errored) == (1, 1), batch
    results = {line.custom_id: line.result for line in fake.messages.batches.results(created.id)}
    assert text(results["one"].message) == "Hello from the script.", results
    assert results["two"].error.error.type == "invalid_request_error", results
    assert created.id in [entry.id for entry in fake.messages.batches.list()]
    assert fake.messages.batches.delete(created.id).type == "message_batch_deleted"
    raised(anthropic.NotFoundError, lambda: fake.messages.batches.retrieve(created.id))


run({
    "plain text": plain_text, "system prompt": system_prompt, "conversation": conversation,
    "streaming": streaming, "one tool": one_tool, "two parallel tools": two_parallel_tools,
    "tool result": tool_result, "streamed tool call": streamed_tool_call,
    "image in tool result": image_in_tool_result, "thinking and a tool": thinking_and_a_tool,
    "structured output": structured_output, "token count": token_count, "models": models,
    "stop sequence": stop_sequence, "errors": errors, "prompt too long": prompt_too_long,
    "abort": abort, "cache counters": cache_counters, "batches": batches,
})
