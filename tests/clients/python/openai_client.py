"""The official OpenAI library for Python, as its users call it."""
import json

import httpx2
import openai
from client_support import (CAPITAL, FORECAST, FORECAST_VALUE, LONG, MODEL, OPTIONS, SYSTEM,
                            WEATHER, fresh, idle, raised, recording_client, run)
from pydantic import BaseModel

TOOLS = [{"type": "function", "function": {"name": "get_weather", "description": "The weather.",
                                           "parameters": WEATHER}}]


def client_for(url):
    return openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0,
                         http_client=recording_client(httpx2))


fake = client_for(OPTIONS.scripted)
real = client_for(OPTIONS.served)


class Forecast(BaseModel):
    city: str
    degrees: int


def user(content):
    return {"role": "user", "content": content}


def question(text=CAPITAL, **fields):
    return {"model": MODEL, "max_tokens": 32, "temperature": 0,
            "messages": [{"role": "system", "content": SYSTEM}, user(text)], **fields}


def scene(name, **fields):
    return {"model": "fake", "messages": [user(f"case:{name}")], "max_completion_tokens": 4000,
            **fields}


def ask(client, **request):
    return client.chat.completions.create(**request)


def text(completion):
    return completion.choices[0].message.content


def calls(completion):
    return [(call.function.name, json.loads(call.function.arguments))
            for call in completion.choices[0].message.tool_calls or []]


OSLO = ("get_weather", {"city": "Oslo"})
ROME = ("get_weather", {"city": "Rome"})


def plain_text():
    answer = ask(real, **question())
    assert "Paris" in text(answer) and answer.choices[0].finish_reason == "stop", answer
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


def system_prompt():
    rule = "You are a pirate called Captain Barnacle. Always say your name."
    for role in ("system", "developer"):
        answer = ask(real, **question(messages=[{"role": role, "content": rule},
                                                user("Who are you?")]))
        assert "Barnacle" in text(answer), answer


def conversation():
    first = {"role": "assistant", "content": text(ask(real, **question()))}
    turns = [*question()["messages"], first,
             user([{"type": "text", "text": "And of Japan?"}])]
    assert "Tokyo" in text(ask(real, **question(messages=turns)))


def streaming():
    whole = ask(real, **question())
    chunks = list(ask(real, **question(stream=True, stream_options={"include_usage": True})))
    pieces = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices]
    assert "".join(piece or "" for piece in pieces) == text(whole) and len(pieces) > 2, pieces
    assert chunks[0].choices[0].delta.role == "assistant", chunks[0]
    assert chunks[-1].choices == [] and chunks[-1].usage.completion_tokens \
        == whole.usage.completion_tokens, chunks[-1]
    assert chunks[-1].usage.prompt_tokens == whole.usage.prompt_tokens, (chunks[-1], whole)
    plain = list(ask(real, **question(stream=True)))
    assert all(chunk.choices and chunk.usage is None for chunk in plain), plain[-1]
    assert plain[-1].choices[0].finish_reason == "stop", plain[-1]


def one_tool():
    for choice in ("auto", "required", {"type": "function", "function": {"name": "get_weather"}}):
        answer = ask(fake, **scene("one-tool", tools=TOOLS, tool_choice=choice))
        assert calls(answer) == [OSLO] and answer.choices[0].finish_reason == "tool_calls", answer
        assert text(answer) is None, answer


def two_parallel_tools():
    answer = ask(fake, **scene("two-tools", tools=TOOLS))
    assert calls(answer) == [OSLO, ROME] and text(answer).strip() == "I will look.", answer
    assert len({call.id for call in answer.choices[0].message.tool_calls}) == 2, answer
    single = ask(fake, **scene("two-tools", tools=TOOLS, parallel_tool_calls=False))
    assert calls(single) == [OSLO], single


def tool_result():
    request = scene("two-rounds", tools=TOOLS)
    for call, result in ((OSLO, "snow, -3"), (ROME, [{"type": "text", "text": "sun, 20"}])):
        answer = ask(fake, **request)
        assert calls(answer) == [call], answer
        message = answer.choices[0].message
        request["messages"] = [*request["messages"], message,
                               {"role": "tool", "tool_call_id": message.tool_calls[0].id,
                                "content": result}]
    last = ask(fake, **request)
    assert text(last) == "Snow and sun." and last.choices[0].finish_reason == "stop", last


def streamed_tool_call():
    with fake.chat.completions.stream(**scene("slow-tools", tools=TOOLS)) as stream:
        deltas = [event for event in stream
                  if event.type == "tool_calls.function.arguments.delta"]
        answer = stream.get_final_completion()
    assert calls(answer) == [OSLO, ROME] and len(deltas) > 2, (answer, deltas)
    assert answer.choices[0].finish_reason == "tool_calls", answer
    chunks = list(ask(fake, **scene("hard-arguments", stream=True, tools=[
        {"type": "function", "function": {"name": "record"}}])))
    parts = [part for chunk in chunks for part in chunk.choices[0].delta.tool_calls or []]
    assert [part.id for part in parts if part.id] == [parts[0].id], parts
    arguments = json.loads("".join(part.function.arguments or "" for part in parts))
    assert arguments["text"] == "Grüße 🙂 \"quoted\" \\ back\nline </tool_call", arguments


def thinking_and_a_tool():
    answer = ask(fake, **scene("thinking-tool", tools=TOOLS, reasoning_effort="high"))
    assert calls(answer) == [OSLO], answer
    thought = answer.choices[0].message.reasoning_content
    assert thought.strip() == "The user asks about Oslo.", answer
    chunks = list(ask(fake, **scene("thinking-tool", tools=TOOLS, reasoning_effort="high",
                                    stream=True)))
    parts = [getattr(chunk.choices[0].delta, "reasoning_content", None) for chunk in chunks]
    assert "".join(part or "" for part in parts).strip() == thought.strip(), parts


def structured_output():
    answer = fake.chat.completions.parse(**scene("structured"), response_format=Forecast)
    assert answer.choices[0].message.parsed == Forecast(**FORECAST_VALUE), answer
    for kind in ({"type": "json_object"},
                 {"type": "json_schema", "json_schema": {"name": "forecast", "strict": True,
                                                         "schema": FORECAST}}):
        answer = ask(fake, **scene("structured", response_format=kind))
        assert json.loads(text(answer)) == FORECAST_VALUE, answer


def models():
    assert [model.id for model in real.models.list()] == [MODEL]
    assert real.models.retrieve(MODEL).object == "model"


def stop_sequence():
    for stop in ("STOP", ["never", "STOP"]):
        answer = ask(fake, **scene("stop", stop=stop))
        assert text(answer) == "one two " and answer.choices[0].finish_reason == "stop", answer


def errors():
    bad = raised(openai.BadRequestError, lambda: ask(real, **question(messages=[])))
    assert bad.type == "invalid_request_error" and bad.body["message"], bad.body
    none = raised(openai.NotFoundError, lambda: fake.get("/no/such/path", cast_to=object))
    assert none.status_code == 404, none
    raised(openai.APIError, lambda: list(ask(fake, **scene("breaks-down", stream=True))))
    raised(openai.InternalServerError, lambda: ask(fake, **scene("breaks-down")))


def prompt_too_long():
    error = raised(openai.BadRequestError, lambda: ask(real, **question(f"{LONG} {LONG}")))
    assert error.code == "context_length_exceeded", error.body
    assert "maximum context length" in error.message or "prompt is too long" in error.message, error


def abort():
    stream = ask(fake, **scene("slow", stream=True))
    next(chunk for chunk in stream if chunk.choices and chunk.choices[0].delta.content)
    stream.close()
    idle()
    raised(openai.APITimeoutError, lambda: ask(fake, **scene("slow"), timeout=0.3))
    idle()


def cache_counters():
    request = question(fresh(LONG[:1500]), max_tokens=4)
    first, second = ask(real, **request).usage, ask(real, **request).usage
    assert second.prompt_tokens_details.cached_tokens > 200, second
    assert first.prompt_tokens == second.prompt_tokens, (first, second)


def log_probabilities():
    answer = ask(real, **question(logprobs=True, top_logprobs=3))
    tokens = answer.choices[0].logprobs.content
    assert len(tokens) >= answer.usage.completion_tokens - 1 > 1, answer
    assert "".join(token.token for token in tokens).startswith(text(answer)[:10]), tokens
    for token in tokens:
        assert len(token.top_logprobs) == 3 and token.logprob <= 0, token
        assert token.top_logprobs[0].logprob >= token.logprob - 1e-4, token  # temperature 0
    chunks = list(ask(real, **question(logprobs=True, stream=True)))
    streamed = [token.token for chunk in chunks if chunk.choices and chunk.choices[0].logprobs
                for token in chunk.choices[0].logprobs.content or []]
    assert streamed == [token.token for token in tokens], (streamed, tokens)


def several_choices():
    answer = ask(real, **question("Tell me a story.", n=3, temperature=1.5, max_tokens=12))
    assert [choice.index for choice in answer.choices] == [0, 1, 2], answer
    assert len({choice.message.content for choice in answer.choices}) > 1, answer
    assert 3 < answer.usage.completion_tokens <= 36, answer
    chunks = list(ask(fake, **scene("plain", n=2, stream=True)))
    for index in (0, 1):
        parts = [choice.delta.content or "" for chunk in chunks for choice in chunk.choices
                 if choice.index == index]
        assert "".join(parts) == "Hello from the script.", (index, parts)


def seed():
    def story(number):
        return text(ask(real, **question("Tell me a story.", seed=number, temperature=1.2,
                                         max_tokens=16)))
    story(1)  # from now on the prompt is in the cache: each answer computes the same rows
    assert story(7) == story(7), "the same seed told another story"
    assert len({story(number) for number in range(4)}) > 1, "the seed changes nothing"


def completions():
    answer = real.completions.create(model=MODEL, prompt="The capital of France is", max_tokens=5,
                                     temperature=0)
    assert "Paris" in answer.choices[0].text, answer
    chunks = list(real.completions.create(model=MODEL, prompt="The capital of France is",
                                          max_tokens=5, temperature=0, stream=True))
    streamed = "".join(chunk.choices[0].text for chunk in chunks if chunk.choices)
    assert streamed == answer.choices[0].text, chunks


def embeddings():
    answer = real.embeddings.create(model=MODEL, input=["A cat.", "A dog.", "A cat."])
    vectors = [entry.embedding for entry in answer.data]
    assert len(vectors) == 3 and len(vectors[0]) == 576, len(vectors[0])
    assert max(abs(a - b) for a, b in zip(vectors[0], vectors[2])) < 1e-3, "not the same vector"
    assert vectors[0] != vectors[1] and answer.usage.prompt_tokens > 0, answer.usage


def responses():
    answer = real.responses.create(model=MODEL, instructions=SYSTEM, input=CAPITAL, temperature=0,
                                   max_output_tokens=32)
    assert "Paris" in answer.output_text and answer.status == "completed", answer
    tool = {"type": "function", "name": "get_weather", "parameters": WEATHER, "strict": False}
    called = fake.responses.create(model="fake", input="case:one-tool", tools=[tool])
    item = next(item for item in called.output if item.type == "function_call")
    assert (item.name, json.loads(item.arguments)) == OSLO, called
    with real.responses.stream(model=MODEL, instructions=SYSTEM, input=CAPITAL, temperature=0,
                               max_output_tokens=32) as stream:
        text_parts = [event.delta for event in stream if event.type == "response.output_text.delta"]
        final = stream.get_final_response()
    assert "".join(text_parts) == final.output_text == answer.output_text, final


run({
    "plain text": plain_text, "system prompt": system_prompt, "conversation": conversation,
    "streaming": streaming, "one tool": one_tool, "two parallel tools": two_parallel_tools,
    "tool result": tool_result, "streamed tool call": streamed_tool_call,
    "thinking and a tool": thinking_and_a_tool, "structured output": structured_output,
    "models": models, "stop sequence": stop_sequence, "errors": errors,
    "prompt too long": prompt_too_long, "abort": abort, "cache counters": cache_counters,
    "log-probabilities": log_probabilities, "several choices": several_choices, "seed": seed,
    "completions": completions, "embeddings": embeddings, "responses": responses,
})
