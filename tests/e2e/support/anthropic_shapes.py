"""The published shapes of the Messages API, as clients with strict readers expect them."""
from support.schema import (ANY_OBJECT, BOOLEAN, INTEGER, NULL, TEXT, anything, count, each, either,
                            match, nonempty, nullable, only, record, tagged)

TIME = match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
MESSAGE_ID = match(r"msg_[A-Za-z0-9_-]{16,}")
# A conversation may be moved to the hosted API, which allows no other characters.
TOOL_ID = match(r"[A-Za-z0-9_-]{8,}")
STOP_REASON = only("end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal",
                   "model_context_window_exceeded")

CALLER = record({"type": only("direct")})
TEXT_BLOCK = record({"type": only("text"), "text": TEXT}, {"citations": each(ANY_OBJECT)})
THINKING_BLOCK = record({"type": only("thinking"), "thinking": TEXT, "signature": nonempty})
TOOL_USE_BLOCK = record({"type": only("tool_use"), "id": TOOL_ID, "name": nonempty,
                         "input": ANY_OBJECT}, {"caller": CALLER, "toolset_name": nonempty})
BLOCK = tagged("type", {"text": TEXT_BLOCK, "thinking": THINKING_BLOCK,
                        "tool_use": TOOL_USE_BLOCK})

# No empty strings where a block begins but those of the protocol.
BLOCK_START = tagged("type", {
    "text": record({"type": anything, "text": only("")}),
    "thinking": record({"type": anything, "thinking": only(""), "signature": only("")}),
    "tool_use": record({"type": anything, "id": TOOL_ID, "name": nonempty, "input": only({})},
                       {"caller": CALLER, "toolset_name": nonempty})})

CACHE_CREATION = record({"ephemeral_5m_input_tokens": count, "ephemeral_1h_input_tokens": count})
USAGE_EXTRAS = {
    "cache_creation": nullable(CACHE_CREATION),
    "output_tokens_details": nullable(record({"thinking_tokens": count})),
    "server_tool_use": nullable(record({"web_search_requests": count,
                                        "web_fetch_requests": count})),
    "service_tier": nullable(only("standard", "priority", "batch")),
    "speed": nullable(only("standard", "fast")), "inference_geo": nullable(TEXT)}
USAGE = record({"input_tokens": count, "output_tokens": count, "cache_read_input_tokens": count,
                "cache_creation_input_tokens": count}, USAGE_EXTRAS)
DELTA_USAGE = record({"output_tokens": count},
                     {**USAGE_EXTRAS, "input_tokens": nullable(count),
                      "cache_read_input_tokens": nullable(count),
                      "cache_creation_input_tokens": nullable(count)})

DIAGNOSTICS = nullable(ANY_OBJECT)
CONTEXT_MANAGEMENT = nullable(record({"applied_edits": each(ANY_OBJECT)}))
MESSAGE_EXTRAS = {"stop_details": nullable(ANY_OBJECT), "container": nullable(ANY_OBJECT),
                  "diagnostics": DIAGNOSTICS, "context_management": CONTEXT_MANAGEMENT,
                  "input_transformations": each(ANY_OBJECT)}


def message(value, path):
    record({"id": MESSAGE_ID, "type": only("message"), "role": only("assistant"),
            "model": nonempty, "content": each(BLOCK), "stop_reason": STOP_REASON,
            "stop_sequence": nullable(nonempty), "usage": USAGE}, MESSAGE_EXTRAS)(value, path)
    called = any(block["type"] == "tool_use" for block in value["content"])
    if value["stop_reason"] == "tool_use":
        only(True)(called, f"{path}: stop_reason tool_use needs a tool_use block, which is there")
    if value["stop_reason"] == "end_turn":
        only(False)(called, f"{path}: stop_reason end_turn excludes a tool_use block, there is one")
    only(value["stop_reason"] == "stop_sequence")(value["stop_sequence"] is not None,
                                                  f"{path}.stop_sequence is set")


STARTED_MESSAGE = record(
    {"id": MESSAGE_ID, "type": only("message"), "role": only("assistant"), "model": nonempty,
     "content": only([]), "stop_reason": NULL, "stop_sequence": NULL, "usage": USAGE},
    MESSAGE_EXTRAS)

DELTA = tagged("type", {
    "text_delta": record({"type": anything, "text": TEXT}),
    "input_json_delta": record({"type": anything, "partial_json": TEXT}),
    "thinking_delta": record({"type": anything, "thinking": TEXT},
                             {"estimated_tokens": nullable(count)}),
    "signature_delta": record({"type": anything, "signature": nonempty})})

ERROR_TYPE = only("invalid_request_error", "authentication_error", "permission_error",
                  "not_found_error", "request_too_large", "rate_limit_error", "api_error",
                  "timeout_error", "overloaded_error", "conflict_error")
ERROR_OBJECT = record({"type": ERROR_TYPE, "message": nonempty},
                      {"details": nullable(record({"error_code": nonempty}, {
                          "max_side_length_pixels": count, "paths": each(TEXT)}))})
ERROR = record({"type": only("error"), "error": ERROR_OBJECT, "request_id": nullable(nonempty)})

EVENT = tagged("type", {
    "message_start": record({"type": anything, "message": STARTED_MESSAGE}),
    "ping": record({"type": anything}),
    "content_block_start": record({"type": anything, "index": count,
                                   "content_block": BLOCK_START}),
    "content_block_delta": record({"type": anything, "index": count, "delta": DELTA}),
    "content_block_stop": record({"type": anything, "index": count}),
    "message_delta": record(
        {"type": anything, "usage": DELTA_USAGE,
         "delta": record({"stop_reason": STOP_REASON, "stop_sequence": nullable(nonempty)},
                         {"stop_details": nullable(ANY_OBJECT),
                          "container": nullable(ANY_OBJECT)})},
        {"context_management": CONTEXT_MANAGEMENT, "diagnostics": DIAGNOSTICS,
         "processing_time_ms": count}),
    # In the folded profile it carries what message_delta says otherwise.
    "message_stop": record({"type": anything}, {
        "delta": ANY_OBJECT, "usage": DELTA_USAGE, "stop_reason": STOP_REASON,
        "stop_sequence": nullable(nonempty)}),
    "error": ERROR})

TOKEN_COUNT = record({"input_tokens": count}, {"context_management": nullable(ANY_OBJECT),
                                               "diagnostics": DIAGNOSTICS})

SUPPORT = record({"supported": BOOLEAN})


def capabilities(value, path):
    names = ("batch", "citations", "code_execution", "compaction", "context_management", "effort",
             "image_input", "pdf_input", "server_tools", "structured_outputs", "thinking")
    known = record({}, {name: anything for name in names})
    known(value, path)
    for name, entry in value.items():
        if name == "compaction" and entry is None:  # the beta's only nullable one
            continue
        record({"supported": BOOLEAN},
               {key: anything for key in entry if key != "supported"})(entry, f"{path}.{name}")


# Both dialects' members in one object.
MODEL = record(
    {"id": nonempty, "type": only("model"), "display_name": nonempty, "created_at": TIME,
     "object": only("model"), "created": INTEGER, "owned_by": nonempty},
    {"max_input_tokens": nullable(count), "max_tokens": nullable(count),
     "capabilities": nullable(capabilities), "lifecycle": nullable(TEXT), "line": nullable(TEXT),
     "deprecated_at": nullable(TIME), "retires_at": nullable(TIME)})
MODELS = record({"object": only("list"), "data": each(MODEL), "has_more": BOOLEAN,
                 "first_id": nullable(nonempty), "last_id": nullable(nonempty)})

BATCH_ID = match(r"msgbatch_[A-Za-z0-9_-]{8,}")
BATCH = record({
    "id": BATCH_ID, "type": only("message_batch"),
    "processing_status": only("in_progress", "canceling", "ended"),
    "request_counts": record({name: count for name in (
        "processing", "succeeded", "errored", "canceled", "expired")}),
    "created_at": TIME, "expires_at": TIME, "ended_at": nullable(TIME),
    "cancel_initiated_at": nullable(TIME), "archived_at": nullable(TIME),
    "results_url": nullable(nonempty)})
BATCHES = record({"data": each(BATCH), "has_more": BOOLEAN, "first_id": nullable(nonempty),
                  "last_id": nullable(nonempty)})
BATCH_DELETED = record({"id": BATCH_ID, "type": only("message_batch_deleted")})
BATCH_RESULT = record({"custom_id": nonempty, "result": tagged("type", {
    "succeeded": record({"type": anything, "message": message}),
    "errored": record({"type": anything, "error": ERROR}),
    "canceled": record({"type": anything}),
    "expired": record({"type": anything})})})

HELLO = either(record({}), ANY_OBJECT)
