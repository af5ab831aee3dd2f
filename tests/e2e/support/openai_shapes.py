"""The published shapes of the OpenAI API, as far as this server speaks it."""
import json

from support.schema import (ANY_OBJECT, BOOLEAN, INTEGER, NULL, NUMBER, TEXT, anything, count, each,
                            either, fail, match, nonempty, nullable, only, record, table, tagged)

FINISH = only("stop", "length", "tool_calls", "content_filter")


def json_object_text(value, path):
    """Arguments are a string that holds one JSON object."""
    TEXT(value, path)
    try:
        ANY_OBJECT(json.loads(value), path)
    except ValueError:
        fail(path, f"{value!r:.80} is no JSON")


TOOL_CALL = record({"id": nonempty, "type": only("function"),
                    "function": record({"name": nonempty, "arguments": json_object_text})})
MESSAGE = record({"role": only("assistant"), "content": nullable(TEXT)},
                 {"refusal": nullable(TEXT), "reasoning_content": nullable(TEXT),
                  "reasoning": nullable(TEXT), "tool_calls": each(TOOL_CALL),
                  "annotations": each(ANY_OBJECT), "audio": NULL, "function_call": NULL})

TOKEN_LOGPROB = {"token": TEXT, "logprob": NUMBER, "bytes": nullable(each(count))}
LOGPROBS = record({"content": nullable(each(record(
    {**TOKEN_LOGPROB, "top_logprobs": each(record(TOKEN_LOGPROB))})))},
    {"refusal": NULL})

PROMPT_DETAILS = record({"cached_tokens": count}, {"audio_tokens": count})
COMPLETION_DETAILS = record({"reasoning_tokens": count},
                            {"audio_tokens": count, "accepted_prediction_tokens": count,
                             "rejected_prediction_tokens": count})
USAGE_SHAPE = record({"prompt_tokens": count, "completion_tokens": count, "total_tokens": count},
                     {"prompt_tokens_details": PROMPT_DETAILS,
                      "completion_tokens_details": COMPLETION_DETAILS})


def usage(value, path):
    USAGE_SHAPE(value, path)
    if value["total_tokens"] != value["prompt_tokens"] + value["completion_tokens"]:
        fail(path, f"the total is not the sum: {value}")


HEAD = {"id": nonempty, "created": INTEGER, "model": nonempty}
HEAD_EXTRAS = {"system_fingerprint": nullable(TEXT), "service_tier": nullable(TEXT)}
CHAT = record(
    {**HEAD, "object": only("chat.completion"), "usage": usage, "choices": each(record(
        {"index": count, "message": MESSAGE, "finish_reason": FINISH},
        {"logprobs": nullable(LOGPROBS)}))}, HEAD_EXTRAS)

TOOL_CALL_DELTA = record({"index": count},
                         {"id": nonempty, "type": only("function"),
                          "function": record({}, {"name": nonempty, "arguments": TEXT})})
CHUNK_DELTA = record({}, {"role": only("assistant"), "content": nullable(TEXT),
                          "refusal": nullable(TEXT), "reasoning_content": nullable(TEXT),
                          "reasoning": nullable(TEXT), "tool_calls": each(TOOL_CALL_DELTA)})
CHUNK = record(
    {**HEAD, "object": only("chat.completion.chunk"), "choices": each(record(
        {"index": count, "delta": CHUNK_DELTA, "finish_reason": nullable(FINISH)},
        {"logprobs": nullable(LOGPROBS)}))}, {**HEAD_EXTRAS, "usage": nullable(usage)})

OLD_LOGPROBS = record({"tokens": each(TEXT), "token_logprobs": each(nullable(NUMBER)),
                       "top_logprobs": nullable(each(nullable(table(NUMBER)))),
                       "text_offset": each(count)})
COMPLETION = record(
    {**HEAD, "object": only("text_completion"), "choices": each(record(
        {"index": count, "text": TEXT, "finish_reason": nullable(only("stop", "length"))},
        {"logprobs": nullable(OLD_LOGPROBS)}))},
    {**HEAD_EXTRAS, "usage": nullable(usage)})

EMBEDDINGS = record({
    "object": only("list"), "model": nonempty,
    "data": each(record({"object": only("embedding"), "index": count,
                         "embedding": either(TEXT, each(NUMBER))})),
    "usage": record({"prompt_tokens": count, "total_tokens": count})})

ERROR_OBJECT = record({"message": nonempty, "type": nonempty, "param": nullable(TEXT),
                       "code": nullable(either(INTEGER, TEXT))}, {"request_id": nullable(TEXT)})
ERROR = record({"error": ERROR_OBJECT}, {"request_id": nullable(TEXT)})

# ---- Responses ----

OUTPUT_TEXT = record({"type": only("output_text"), "text": TEXT, "annotations": each(ANY_OBJECT)},
                     {"logprobs": nullable(each(ANY_OBJECT))})
OUTPUT_ITEM = tagged("type", {
    "message": record({"type": anything, "id": nonempty, "role": only("assistant"),
                       "status": only("in_progress", "completed", "incomplete"),
                       "content": each(OUTPUT_TEXT)}, {"phase": nullable(TEXT)}),
    "function_call": record({"type": anything, "id": nonempty, "call_id": nonempty,
                             "name": nonempty, "arguments": TEXT,
                             "status": only("in_progress", "completed", "incomplete")}),
    "reasoning": record({"type": anything, "id": nonempty, "summary": each(ANY_OBJECT)},
                        {"content": nullable(each(ANY_OBJECT)), "status": TEXT,
                         "encrypted_content": nullable(TEXT)})})
RESPONSE_USAGE = record(
    {"input_tokens": count, "output_tokens": count, "total_tokens": count,
     "input_tokens_details": record({"cached_tokens": count}, {"cache_write_tokens": count}),
     "output_tokens_details": record({"reasoning_tokens": count})})


def response(value, path):
    """The members that readers need; the rest repeats the request."""
    ANY_OBJECT(value, path)
    needed = {"id": match(r"resp_.+"), "object": only("response"), "created_at": NUMBER,
              "status": only("in_progress", "completed", "incomplete", "failed"),
              "model": nonempty, "output": each(OUTPUT_ITEM), "error": nullable(ANY_OBJECT),
              "incomplete_details": nullable(ANY_OBJECT), "usage": nullable(RESPONSE_USAGE)}
    known = {"instructions", "max_output_tokens", "metadata", "parallel_tool_calls", "temperature",
             "tool_choice", "tools", "top_p", "previous_response_id", "reasoning", "store", "text",
             "truncation", "user", "background", "service_tier", "top_logprobs", "completed_at",
             "max_tool_calls", "prompt_cache_key", "safety_identifier", "conversation",
             "output_text", "frequency_penalty", "presence_penalty"}
    record(needed, {key: anything for key in known})(value, path)


RESPONSE_EVENT_NAMES = {
    "response.created", "response.in_progress", "response.completed", "response.incomplete",
    "response.failed", "response.output_item.added", "response.output_item.done",
    "response.content_part.added", "response.content_part.done", "response.output_text.delta",
    "response.output_text.done", "response.function_call_arguments.delta",
    "response.function_call_arguments.done", "response.reasoning_summary_part.added",
    "response.reasoning_summary_part.done", "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.done", "response.reasoning_text.delta",
    "response.reasoning_text.done", "error", "keepalive", "ping"}


def response_event(value, path):
    ANY_OBJECT(value, path)
    only(*sorted(RESPONSE_EVENT_NAMES))(value.get("type"), f"{path}.type")
    if value["type"] not in ("keepalive", "ping"):
        count(value.get("sequence_number"), f"{path}.sequence_number")
    if "response" in value:
        response(value["response"], f"{path}.response")
    if "item" in value:
        OUTPUT_ITEM(value["item"], f"{path}.item")
