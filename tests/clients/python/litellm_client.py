"""LiteLLM as a library in the client, for either dialect (--dialect)."""
import json

import httpx
import litellm
from client_support import (CAPITAL, FORECAST, FORECAST_VALUE, LONG, MODEL, OPTIONS, PIXEL, SYSTEM,
                            WEATHER, fresh, idle, raised, recording_client, run)
from litellm.llms.custom_httpx.http_handler import HTTPHandler

ANTHROPIC = OPTIONS.dialect == "anthropic"
TOOLS = [{"type": "function", "function": {"name": "get_weather", "description": "The weather.",
                                           "parameters": WEATHER}}]
OSLO = ("get_weather", {"city": "Oslo"})
ROME = ("get_weather", {"city": "Rome"})
# What its own clients are, but answers are written down on the way.
litellm.client_session = recording_client(httpx)
HANDLER = HTTPHandler(client=recording_client(httpx))
litellm.suppress_debug_info = True


def ask(url, model, **fields):
    base = url if ANTHROPIC else url + "/v1"
    if ANTHROPIC:
        fields["client"] = HANDLER
    return litellm.completion(model=f"{OPTIONS.dialect}/{model}", api_base=base, api_key="none",
                              num_retries=0, max_retries=0, **fields)


def question(text=CAPITAL, **fields):
    return ask(OPTIONS.served, MODEL, **{
        "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}],
        "max_tokens": 32, "temperature": 0, **fields})


def scene(name, **fields):
    return ask(OPTIONS.scripted, "fake", **{
        "messages": [{"role": "user", "content": f"case:{name}"}], "max_tokens": 4000, **fields})


def text(answer):
    return answer.choices[0].message.content


def calls(answer):
    return [(call.function.name, json.loads(call.function.arguments))
            for call in answer.choices[0].message.tool_calls or []]


def gathered(chunks):
    return litellm.stream_chunk_builder(list(chunks))


def plain_text():
    assert "Paris" in text(question())


def system_prompt():
    answer = question(messages=[
        {"role": "system",
         "content": "You are a pirate called Captain Barnacle. Always say your name."},
        {"role": "user", "content": "Who are you?"}])
    assert "Barnacle" in text(answer), answer


def conversation():
    turns = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": CAPITAL},
             {"role": "assistant", "content": text(question())},
             {"role": "user", "content": "And of Japan?"}]
    assert "Tokyo" in text(question(messages=turns))


def streaming():
    chunks = list(question(stream=True, stream_options={"include_usage": True}))
    assert text(gathered(chunks)) == text(question()) and len(chunks) > 2, chunks


def one_tool():
    for choice in ("auto", "required", {"type": "function", "function": {"name": "get_weather"}}):
        answer = scene("one-tool", tools=TOOLS, tool_choice=choice)
        assert calls(answer) == [OSLO] and answer.choices[0].finish_reason == "tool_calls", answer


def two_parallel_tools():
    assert calls(scene("two-tools", tools=TOOLS)) == [OSLO, ROME]


def tool_result():
    turns = [{"role": "user", "content": "case:two-rounds"}]
    for result in ("snow, -3", "sun, 20"):
        message = scene("", messages=turns, tools=TOOLS).choices[0].message
        turns += [message, {"role": "tool", "tool_call_id": message.tool_calls[0].id,
                            "content": result}]
    assert text(scene("", messages=turns, tools=TOOLS)) == "Snow and sun."


def streamed_tool_call():
    chunks = list(scene("slow-tools", tools=TOOLS, stream=True))
    assert calls(gathered(chunks)) == [OSLO, ROME], chunks


def image_in_tool_result():
    tools = [{"type": "function", "function": {"name": "screenshot", "parameters": {
        "type": "object", "properties": {}}}}]
    turns = [{"role": "user", "content": "case:picture"}]
    message = scene("", messages=turns, tools=tools).choices[0].message
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    turns += [message, {"role": "tool", "tool_call_id": message.tool_calls[0].id,
                        "content": [{"type": "text", "text": "Here it is."}, image]}]
    assert text(scene("", messages=turns, tools=tools)) == "I see a note about an image."


def thinking_and_a_tool():
    more = {"reasoning_effort": "high", "allowed_openai_params": ["reasoning_effort"]}
    if ANTHROPIC:
        more = {"thinking": {"type": "enabled", "budget_tokens": 1024},
                "allowed_openai_params": ["thinking"]}
    answer = scene("thinking-tool", tools=TOOLS, **more)
    assert calls(answer) == [OSLO], answer
    thought = answer.choices[0].message.reasoning_content
    assert thought.strip() == "The user asks about Oslo.", answer


def structured_output():
    answer = scene("structured", response_format={
        "type": "json_schema", "json_schema": {"name": "forecast", "schema": FORECAST}})
    assert json.loads(text(answer)) == FORECAST_VALUE, answer


def stop_sequence():
    assert text(scene("stop", stop=["never", "STOP"])) == "one two "


def errors():
    raised(litellm.BadRequestError, lambda: question(temperature="hot"))
    raised(litellm.InternalServerError, lambda: scene("breaks-down"))


def prompt_too_long():
    error = raised(litellm.BadRequestError, lambda: question(f"{LONG} {LONG}"))
    assert "prompt is too long: " in str(error), error
    assert isinstance(error, litellm.ContextWindowExceededError), type(error)


def abort():
    stream = scene("slow", stream=True)
    next(chunk for chunk in stream if chunk.choices[0].delta.content)
    close = getattr(stream.completion_stream, "close", None) or stream.close
    close()
    del stream
    idle()


def cache_counters():
    words = fresh(LONG[:1500])
    first, second = (question(words, max_tokens=4).usage for _ in range(2))
    assert second.prompt_tokens_details.cached_tokens > 200, second
    assert first.prompt_tokens == second.prompt_tokens, (first, second)


def log_probabilities():
    tokens = question(logprobs=True, top_logprobs=2).choices[0].logprobs.content
    assert len(tokens) > 1 and all(len(token.top_logprobs) == 2 for token in tokens), tokens


def several_choices():
    answer = question("Tell me a story.", n=3, temperature=1.5, max_tokens=12)
    texts = {choice.message.content for choice in answer.choices}
    assert len(answer.choices) == 3 and len(texts) > 1, texts


def seed():
    def story(number):
        return text(question("Tell me a story.", seed=number, temperature=1.2, max_tokens=16))
    story(1)  # from now on the prompt is in the cache: each answer computes the same rows
    assert story(7) == story(7), "the same seed told another story"
    assert len({story(number) for number in range(4)}) > 1, "the seed changes nothing"


def completions():
    answer = litellm.text_completion(
        model=f"text-completion-openai/{MODEL}", api_base=OPTIONS.served + "/v1", api_key="none",
        prompt="The capital of France is", max_tokens=5, temperature=0)
    assert "Paris" in answer.choices[0].text, answer


def embeddings():
    answer = litellm.embedding(model=f"openai/{MODEL}", api_base=OPTIONS.served + "/v1",
                               api_key="none", input=["A cat.", "A dog."])
    vectors = [entry["embedding"] for entry in answer.data]
    assert len(vectors) == 2 and len(vectors[0]) == 576 and vectors[0] != vectors[1]


def responses():
    answer = litellm.responses(model=f"openai/{MODEL}", api_base=OPTIONS.served + "/v1",
                               api_key="none", instructions=SYSTEM, input=CAPITAL, temperature=0,
                               max_output_tokens=32)
    parts = [part.text for item in answer.output if item.type == "message"
             for part in item.content]
    assert "Paris" in "".join(parts), answer


COMMON = {
    "plain text": plain_text, "system prompt": system_prompt, "conversation": conversation,
    "streaming": streaming, "one tool": one_tool, "two parallel tools": two_parallel_tools,
    "tool result": tool_result, "streamed tool call": streamed_tool_call,
    "thinking and a tool": thinking_and_a_tool, "structured output": structured_output,
    "stop sequence": stop_sequence, "errors": errors, "prompt too long": prompt_too_long,
    "abort": abort, "cache counters": cache_counters}
run({**COMMON, "image in tool result": image_in_tool_result} if ANTHROPIC else
    {**COMMON, "log-probabilities": log_probabilities, "several choices": several_choices,
     "seed": seed, "completions": completions, "embeddings": embeddings, "responses": responses})
