"""The official Python client against the server, as its users call it."""
import asyncio

from support.prompts import (CAPITAL, ENDLESS, GREEDY, MODEL, SYSTEM, assistant, body, capital,
                             fresh, long_text, user)
from support.sse import prompt_tokens
from support.waiting import PATIENCE_SECONDS, wait_until


def ask(client, messages, **fields):
    """messages.create at temperature 0 (the library has no parameter for it any more)."""
    if isinstance(messages, str):
        messages = [user(messages)]
    extra = {**GREEDY, **fields.pop("extra_body", {})}
    fields = {"model": MODEL, "max_tokens": 32, "system": SYSTEM, "messages": messages, **fields}
    return client.messages.create(extra_body=extra, **fields)


def text_of(message):
    return "".join(block.text for block in message.content)


def raised(kind, call):
    """The exception of that very class that `call` raises."""
    try:
        result = call()
    except kind as error:
        assert type(error) is kind, type(error)
        return error
    raise AssertionError(f"no {kind.__name__} but {result}")


def test_a_message_names_paris_with_true_usage(context):
    with context.client() as client:
        message = ask(client, CAPITAL)
        count = client.messages.count_tokens(model=MODEL, system=SYSTEM,
                                             messages=[user(CAPITAL)])
    assert "Paris" in text_of(message), message
    assert message.type == "message" and message.role == "assistant", message
    assert message.model == MODEL, message
    assert message.stop_reason == "end_turn" and message.stop_sequence is None, message
    assert [block.type for block in message.content] == ["text"], message
    usage = message.usage
    assert prompt_tokens(usage.model_dump()) == count.input_tokens, (usage, count)
    assert 1 < usage.output_tokens <= 32, usage


def test_ids_of_messages_and_requests_never_repeat(context):
    with context.client() as client:
        messages = [ask(client, "Hi", max_tokens=1) for _ in range(5)]
    assert len({message.id for message in messages}) == 5, messages
    assert all(message.id.startswith("msg_") for message in messages), messages
    request_ids = {message._request_id for message in messages}
    assert len(request_ids) == 5 and None not in request_ids, request_ids


def test_a_streams_text_equals_its_final_message(context):
    with context.client() as client:
        whole = ask(client, CAPITAL)
        with client.messages.stream(model=MODEL, max_tokens=32, messages=[user(CAPITAL)],
                                    system=SYSTEM, extra_body=GREEDY) as stream:
            pieces = list(stream.text_stream)
            final = stream.get_final_message()
    assert len(pieces) > 1, pieces
    assert "".join(pieces) == text_of(final) == text_of(whole), (pieces, final, whole)
    assert final.stop_reason == "end_turn", final
    assert final.usage.output_tokens == whole.usage.output_tokens, (final.usage, whole.usage)
    totals = [prompt_tokens(message.usage.model_dump()) for message in (final, whole)]
    assert totals[0] == totals[1], (final.usage, whole.usage)
    assert final.id != whole.id, final


def test_raw_stream_events_come_in_the_libraries_types(context):
    with context.client() as client:
        events = list(client.messages.create(model=MODEL, max_tokens=32, stream=True,
                                             system=SYSTEM, messages=[user(CAPITAL)],
                                             extra_body=GREEDY))
    kinds = [event.type for event in events]
    assert kinds[0] == "message_start" and kinds[-1] == "message_stop", kinds
    text = "".join(event.delta.text for event in events if event.type == "content_block_delta")
    assert "Paris" in text, text


def test_a_conversation_is_remembered_over_turns(context):
    messages = [user(CAPITAL)]
    with context.client() as client:
        first = ask(client, messages)
        messages += [assistant(text_of(first)), user("And of Japan?")]
        second = ask(client, messages)
        alone = ask(client, "And of Japan?")
    assert "Paris" in text_of(first), first
    assert "Tokyo" in text_of(second), second
    assert "Tokyo" not in text_of(alone), alone  # the question makes sense only in its place


def test_a_system_prompt_takes_effect_as_text_and_as_blocks(context):
    system = "You are a pirate called Captain Barnacle. Always say your name."
    question = "Who are you?"
    with context.client() as client:
        plain = ask(client, question)
        as_text = ask(client, question, system=system)
        as_blocks = ask(client, question, system=[{"type": "text", "text": system}])
    assert "Barnacle" not in text_of(plain), plain
    assert "Barnacle" in text_of(as_text), as_text
    assert "Barnacle" in text_of(as_blocks), as_blocks
    totals = [prompt_tokens(message.usage.model_dump()) for message in (as_text, as_blocks)]
    assert totals[0] == totals[1], (as_text, as_blocks)


def test_a_stop_sequence_ends_the_text_in_front_of_it(context):
    with context.client() as client:
        whole = text_of(ask(client, CAPITAL))
        stop = whole[whole.index("Paris") - 2:whole.index("Paris") + 3]  # inside of words
        expected = whole[:whole.index(stop)]
        message = ask(client, CAPITAL, stop_sequences=["never said", stop])
        with client.messages.stream(model=MODEL, max_tokens=32, messages=[user(CAPITAL)],
                                    system=SYSTEM, stop_sequences=[stop],
                                    extra_body=GREEDY) as stream:
            streamed = stream.get_final_message()
    for answer in (message, streamed):
        assert answer.stop_reason == "stop_sequence", answer
        assert answer.stop_sequence == stop, answer
        assert text_of(answer) == expected, (text_of(answer), expected)


def test_max_tokens_cuts_the_answer_at_that_token(context):
    with context.client() as client:
        whole = text_of(ask(client, CAPITAL))
        message = ask(client, CAPITAL, max_tokens=3)
    assert message.stop_reason == "max_tokens", message
    assert message.usage.output_tokens == 3, message
    assert whole.startswith(text_of(message)) and len(text_of(message)) < len(whole), message


def test_counted_tokens_equal_the_usage_of_the_same_request(context):
    from anthropic import omit
    requests = [
        {"messages": [user("Hi")], "system": omit},
        {"messages": [user("Hi")], "system": "Be brief."},
        {"messages": [user("Hi"), assistant("Hello!"), user("Grüße – 你好 🙂 <|im_end|>")]},
        {"messages": [user([{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}])]},
        {"messages": [user("Finish: the sky is"), assistant("The sky is")]},
        {"messages": [user(fresh(long_text(300)))]},
    ]
    with context.client() as client:
        for fields in requests:
            fields = {"system": SYSTEM, **fields}
            count = client.messages.count_tokens(model=MODEL, **fields).input_tokens
            usage = ask(client, max_tokens=1, **fields).usage
            total = usage.input_tokens + usage.cache_read_input_tokens
            assert count == total, (fields, count, usage)


def test_a_second_identical_request_reads_the_cache(context):
    question = fresh("Which of these is a colour: " + long_text(200) + " or blue?")
    with context.client() as client:
        first = ask(client, question, max_tokens=8)
        second = ask(client, question, max_tokens=8)
    assert second.usage.cache_read_input_tokens > 100, second.usage
    assert first.usage.cache_read_input_tokens < 100, first.usage
    totals = [prompt_tokens(message.usage.model_dump()) for message in (first, second)]
    assert totals[0] == totals[1], (first.usage, second.usage)


def test_a_prefilled_assistant_turn_is_continued(context):
    with context.client() as client:
        message = ask(client, [user(CAPITAL), assistant("The capital of France is")])
        trimmed = ask(client, [user(CAPITAL), assistant("The capital of France is ")])
    assert "Paris" in text_of(message)[:12], message
    assert "The capital of France is" not in text_of(message), message
    assert "Paris" in text_of(trimmed)[:12], trimmed


def test_the_role_system_is_accepted_inside_messages(context):
    rule = "Mention the word Paris."
    as_text = {"role": "system", "content": rule}
    as_blocks = {"role": "system", "content": [{"type": "text", "text": rule}]}
    with context.client() as client:
        def count(messages):
            return client.messages.count_tokens(model=MODEL, messages=messages).input_tokens
        last = ask(client, [user(CAPITAL), as_text])
        middle = ask(client, [user("Hi"), as_text, assistant("Hello!"), user(CAPITAL)])
        counts = [count([user(CAPITAL), entry]) for entry in (as_text, as_blocks)]
        without = count([user(CAPITAL)])
    assert "Paris" in text_of(last), last
    assert "Paris" in text_of(middle), middle
    assert counts[0] == counts[1] > without, (counts, without)


def test_models_are_listed_and_found_by_id(context):
    with context.client() as client:
        models = list(client.models.list())
        model = client.models.retrieve(MODEL)
    assert [entry.id for entry in models] == [MODEL], models
    assert model.id == MODEL and model.type == "model", model
    assert model.max_input_tokens == 8192, model


def test_an_unknown_model_id_is_a_not_found_error(context):
    import anthropic
    with context.client() as client:
        error = raised(anthropic.NotFoundError, lambda: client.models.retrieve("no-such-model"))
    assert error.status_code == 404, error
    assert error.body["error"]["type"] == "not_found_error", error.body
    assert error.request_id.startswith("req_"), error.request_id


def test_an_unknown_path_is_a_not_found_error_in_json(context):
    import anthropic
    with context.client() as client:
        error = raised(anthropic.NotFoundError,
                       lambda: client.get("/v1/no/such/path", cast_to=object))
    assert error.body["type"] == "error", error.body
    assert error.body["error"]["type"] == "not_found_error", error.body


def test_bad_requests_name_the_path_of_the_field(context):
    import anthropic
    faults = {
        "max_tokens": lambda c: ask(c, "Hi", max_tokens="many"),
        "messages[0].role": lambda c: ask(c, [{"role": "robot", "content": "Hi"}]),
        "messages[1].content[0].text":
            lambda c: ask(c, [user("Hi"), user([{"type": "text", "text": 5}])]),
        "stop_sequences[1]": lambda c: ask(c, "Hi", stop_sequences=["a", 1]),
        "temperature": lambda c: ask(c, "Hi", extra_body={"temperature": "hot"}),
    }
    with context.client() as client:
        for path, call in faults.items():
            error = raised(anthropic.BadRequestError, lambda call=call: call(client))
            assert error.body["error"]["type"] == "invalid_request_error", error.body
            assert error.body["error"]["message"].startswith(path + ": "), error.body


def test_a_prompt_that_is_too_long_gives_the_exact_message(context):
    import anthropic
    messages = [user(long_text(12000))]
    with context.client() as client:
        count = client.messages.count_tokens(model=MODEL, system=SYSTEM,
                                             messages=messages).input_tokens
        assert count > 8192, count
        expected = f"prompt is too long: {count} tokens > 8192 maximum"
        error = raised(anthropic.BadRequestError, lambda: ask(client, messages))
        assert error.body["error"]["message"] == expected, error.body

        def stream():
            return list(client.messages.create(model=MODEL, max_tokens=8, messages=messages,
                                               system=SYSTEM, stream=True))
        error = raised(anthropic.BadRequestError, stream)
        assert error.body["error"]["message"] == expected, error.body


def test_an_answer_that_fills_the_window_says_so(context):
    server = context.start_server("--context", "128")
    with context.client(server) as client:
        message = ask(client, "Tell me a long story.", max_tokens=100_000, extra_body=ENDLESS,
                      timeout=PATIENCE_SECONDS)
    assert message.stop_reason == "model_context_window_exceeded", message
    total = prompt_tokens(message.usage.model_dump()) + message.usage.output_tokens
    assert total in (127, 128, 129), message.usage


def test_all_forms_of_credentials_are_accepted(context):
    forms = [
        {"api_key": "one"},
        {"api_key": None, "auth_token": "two"},
        {"api_key": "one", "default_headers": {"x-api-key": "three"}},
    ]
    for options in forms:
        with context.client(**options) as client:
            assert ask(client, "Hi", max_tokens=1).usage.output_tokens == 1, options
    for headers in ({"x-api-key": "k"}, {"authorization": "Bearer k"}, {}):
        message = context.server.messages(body("Hi", max_tokens=1), headers)
        assert message["usage"]["output_tokens"] == 1, (headers, message)


def test_every_protocol_version_is_served(context):
    for version in ("2023-06-01", "2026-10-21", "2031-01-01", "vertex-2023-10-16", None):
        headers = {"anthropic-version": version} if version else {}
        message = context.server.messages(capital(), headers)
        assert "Paris" in message["content"][0]["text"], (version, message)


def test_beta_calls_and_unknown_betas_are_served(context):
    with context.client() as client:
        message = client.beta.messages.create(
            model=MODEL, max_tokens=32, system=SYSTEM, messages=[user(CAPITAL)], extra_body=GREEDY,
            betas=["interleaved-thinking-2025-05-14", "no-such-beta-2031-01-01"])
        count = client.beta.messages.count_tokens(model=MODEL, system=SYSTEM,
                                                  messages=[user(CAPITAL)],
                                                  betas=["token-counting-2024-11-01"])
    assert "Paris" in text_of(message), message
    assert count.input_tokens == prompt_tokens(message.usage.model_dump()), (count, message)


def test_fields_that_the_server_does_not_know_are_ignored(context):
    mark = {"type": "ephemeral"}
    extra = {"metadata": {"user_id": "u"}, "service_tier": "auto", "container": None,
             "context_management": {"edits": []}, "no_such_field": {"a": [1]},
             "thinking": {"type": "disabled"}, "tools": [], "inference_geo": None}
    with context.client() as client:
        message = ask(client, [user([{"type": "text", "text": CAPITAL, "cache_control": mark}])],
                      system=[{"type": "text", "text": SYSTEM, "cache_control": mark}],
                      extra_body=extra)
    assert "Paris" in text_of(message), message


def test_the_asynchronous_client_works_with_several_requests_at_once(context):
    async def run():
        async with context.async_client() as client:
            async def one():
                async with client.messages.stream(model=MODEL, max_tokens=32, system=SYSTEM,
                                                  extra_body=GREEDY,
                                                  messages=[user(CAPITAL)]) as stream:
                    pieces = [piece async for piece in stream.text_stream]
                    return "".join(pieces), await stream.get_final_message()
            return await asyncio.gather(*(one() for _ in range(4)))

    for text, final in asyncio.run(run()):
        assert "Paris" in text and text == text_of(final), (text, final)


def test_a_client_that_leaves_its_stream_frees_the_sequence(context):
    server = context.server
    with context.client() as client:
        with client.messages.stream(model=MODEL, max_tokens=2000, extra_body={**GREEDY, **ENDLESS},
                                    messages=[user("Tell me a long story.")]) as stream:
            next(iter(stream.text_stream))
            wait_until(lambda: server.health()["decoding"] == 1, server.health)
        server.wait_idle()
