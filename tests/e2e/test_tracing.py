"""Traces: the headers of W3C Trace Context, and what is exported to a collector (OTLP)."""
import json
import math
import re
import socket
import time

from support.collector import CUMULATIVE, HOSTILE, INTERNAL, SERVER, Collector, HostileCollector, \
    attributes
from support.prompts import capital, endless, fresh
from support.stream import OpenStream
from support.waiting import wait_until

TRACE = "0af7651916cd43dd8448eb211c80319c"
CLIENT_SPAN = "b7ad6b7169203331"
OWN = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-(0[01])")
SHORT = capital(max_tokens=4)
# Clocks of one machine, and a request that is timed at both of its ends.
CLOCK_SLACK_SECONDS = 0.05
BOOKS_SECONDS = 2


def parent(trace=TRACE, span=CLIENT_SPAN, flags="01"):
    return {"traceparent": f"00-{trace}-{span}-{flags}"}


def exporting(url, more=""):
    return f"otlp:\n  endpoint: {url}\n  interval_seconds: 1\n{more}"


def own_span(headers):
    """(trace, span, flags) of the traceparent of an answer."""
    return OWN.fullmatch(headers["traceparent"]).groups()


# ---- traceparent ----

def test_a_traceparent_is_continued_or_replaced_as_the_standard_says(context):
    server = context.server

    def answer(value, **more):
        return server.request("GET", "/livez", headers={"traceparent": value, **more}).headers

    good = f"00-{TRACE}-{CLIENT_SPAN}-01"
    for value, flags in [(good, "01"), (good[:-2] + "00", "00"), (f"  {good}  ", "01"),
                         ("cc" + good[2:], "01"), ("cc" + good[2:] + "-what-will-be", "01"),
                         (good[:-2] + "ff", "01"), (good[:-2] + "fe", "00")]:
        trace, span, told = own_span(answer(value))
        assert (trace, told) == (TRACE, flags), value
        assert span != CLIENT_SPAN and int(span, 16), value
    for value in ["", "x", "ff" + good[2:], good.upper(), good + "-more", good[:-1],
                  "cc" + good[2:] + ".",
                  f"00-{'0' * 32}-{CLIENT_SPAN}-01", f"00-{TRACE}-{'0' * 16}-01",
                  f"00-{TRACE}-{CLIENT_SPAN}-0x", good + "," + good, "-" * 55, "0" * 4000]:
        headers = answer(value, tracestate="rojo=1")
        trace, _, flags = own_span(headers)
        assert trace != TRACE and int(trace, 16) and flags == "00", (value, headers)
        assert "tracestate" not in headers, value
    assert "traceparent" not in server.request("GET", "/livez").headers
    assert len({own_span(answer(good))[1] for _ in range(20)}) == 20, "span ids repeat"


def test_a_tracestate_is_handed_on_within_its_limits(context):
    server = context.server

    def answer(*states):
        lines = "".join(f"tracestate: {state}\r\n" for state in states)
        with server.connect() as connection:
            connection.sendall(f"GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{lines}"
                               f"traceparent: 00-{TRACE}-{CLIENT_SPAN}-01\r\n\r\n".encode())
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(4096)
        found = re.search(rb"\r\ntracestate: ([^\r]*)\r\n", head)
        return found and found[1].decode()

    assert answer("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE") == \
        "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"
    assert answer("a=1", " b=2 ,\t c=3") == "a=1,b=2,c=3"
    assert answer("a=1,A=2") is None
    assert answer(*["k%d=%s" % (i, "v" * 120) for i in range(4)]) is not None
    assert len(answer(*["k%d=%s" % (i, "v" * 200) for i in range(8)])) <= 512
    assert answer(",".join(f"k{i}=1" for i in range(33))) is None


def test_log_and_history_name_the_trace(context):
    server = context.start_server()
    reply = server.request("POST", "/v1/messages", SHORT, parent())
    _, span, _ = own_span(reply.headers)
    other = server.request("POST", "/v1/messages", SHORT)
    assert "traceparent" not in other.headers, other.headers
    described = server.request("GET", f"/v1/requests/{reply.headers['request-id']}").json()
    assert (described["trace_id"], described["span_id"]) == (TRACE, span), described
    assert "trace_id" not in server.request(
        "GET", f"/v1/requests/{other.headers['request-id']}").json()
    shown = context.zerohop("explain", reply.headers["request-id"], "--url", server.url)
    assert shown.returncode == 0 and f"trace_id {TRACE}" in shown.stdout, shown
    server.terminate()
    assert server.wait_exit() == 0, server.log_text()[-1000:]
    lines = {line["id"]: line for line in map(json.loads, server.log_text().splitlines())
             if line["event"] == "request"}
    line = lines[reply.headers["request-id"]]
    assert (line["trace_id"], line["span_id"]) == (TRACE, span), line
    assert "trace_id" not in lines[other.headers["request-id"]], lines


# ---- Spans ----

def test_spans_tell_what_requests_really_did(context):
    with Collector() as collector:
        server = context.start_server(config=exporting(
            collector.url, "  service_name: tests\n  resource_attributes: {team.name: blue}\n"
            "instance:\n  id: cpu-42\n  labels: {zone: a}\n"))
        state = "rojo=00f067aa0ba902b7"
        began = time.time()
        whole = server.request("POST", "/v1/messages", endless(12),
                               {**parent(), "tracestate": state})
        ended = time.time()
        assert whole.status == 200 and whole.headers["tracestate"] == state, whole
        check_whole(collector, whole, (began, ended))
        streamed_began = time.time()
        with OpenStream(server, capital(), parent(span="1" * 16)) as stream:
            reading = stream.finish()
            headers = stream.headers
        check_streamed(collector, reading, headers, (streamed_began, time.time()))
        check_others(collector, server)
        (resource,) = {json.dumps(group["resource"]) for body in collector.bodies("/v1/traces")
                       for group in body["resourceSpans"]}
        named = attributes(json.loads(resource))
        assert named == {**named, "service.name": "tests", "service.instance.id": "cpu-42",
                         "instance_id": "cpu-42", "pool": "cpu", "team.name": "blue",
                         "zerohop.instance.label.zone": "a"}, named
        for path, sent, _ in collector.received:
            assert sent["content-type"] == "application/json", (path, sent)


def seconds_of(span):
    return int(span["startTimeUnixNano"]) / 1e9, int(span["endTimeUnixNano"]) / 1e9


def check_whole(collector, reply, times):
    span = collector.wait_request(reply.headers["request-id"])
    usage = reply.json()["usage"]
    _, own, _ = own_span(reply.headers)
    assert (span["traceId"], span["spanId"], span["parentSpanId"]) == (TRACE, own, CLIENT_SPAN)
    assert span["kind"] == SERVER and span["traceState"] == reply.headers["tracestate"], span
    assert "status" not in span, span
    told = attributes(span)
    model = reply.json()["model"]
    assert span["name"] == f"chat {model}", span["name"]
    expected = {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "zerohop",
        "gen_ai.request.model": model, "gen_ai.response.model": model,
        "gen_ai.request.max_tokens": 12, "gen_ai.response.finish_reasons": ["max_tokens"],
        "gen_ai.usage.input_tokens": usage["input_tokens"] + usage["cache_read_input_tokens"]
        + usage["cache_creation_input_tokens"],
        "gen_ai.usage.output_tokens": usage["output_tokens"],
        "gen_ai.usage.cache_read.input_tokens": usage["cache_read_input_tokens"],
        "http.request.method": "POST", "http.route": "/v1/messages",
        "http.response.status_code": 200, "server.address": "127.0.0.1", "zerohop.stream": False}
    assert told == {**told, **expected}, told
    assert "error.type" not in told, told
    check_times(collector, span, times)


def check_streamed(collector, reading, headers, times):
    span = collector.wait_request(headers["request-id"])
    assert span["parentSpanId"] == "1" * 16 and span["spanId"] == own_span(headers)[1], span
    told = attributes(span)
    assert told["gen_ai.usage.output_tokens"] == reading.usage["output_tokens"], told
    # In the words of the log line, whatever the dialect calls it.
    assert reading.stop_reason == "end_turn", reading
    assert told["gen_ai.response.finish_reasons"] == ["end_of_turn"], told
    assert told["zerohop.stream"] is True, told
    check_times(collector, span, times)


def check_times(collector, span, times):
    """Its phases lie inside of it one behind the other, and it lies inside the client's times."""
    begin, end = seconds_of(span)
    # The books are closed behind the last byte, when the client may long have read it.
    assert times[0] - CLOCK_SLACK_SECONDS <= begin <= end <= times[1] + BOOKS_SECONDS, \
        (begin, end, times)
    phases = collector.phases(span)
    assert set(phases) == {"receive", "prepare", "queue", "prefill", "decode"}, set(phases)
    last = int(span["startTimeUnixNano"])
    for name in ("receive", "prepare", "queue", "prefill", "decode"):
        phase = phases[name]
        first, until = int(phase["startTimeUnixNano"]), int(phase["endTimeUnixNano"])
        assert last <= first < until <= int(span["endTimeUnixNano"]), (name, phase, span)
        assert phase["kind"] == INTERNAL and phase["traceId"] == span["traceId"], phase
        last = first
    took = sum(b - a for a, b in map(seconds_of, phases.values()))
    assert took <= end - begin + CLOCK_SLACK_SECONDS, (took, end - begin)
    first_token = attributes(span)["zerohop.first_token_ms"] / 1000
    assert math.isclose(begin + first_token, seconds_of(phases["decode"])[0], abs_tol=1e-3)


def check_others(collector, server):
    """Refusals, other dialects, requests of nobody's trace."""
    model = server.model
    wrong = server.request("POST", "/v1/messages", {"model": model}, parent())
    missing = server.request("GET", "/nowhere", None, parent())
    chat = server.request("POST", "/v1/chat/completions", {
        "model": model, "max_tokens": 3, "messages": [{"role": "user", "content": fresh("Hi")}]})
    vectors = server.request("POST", "/v1/embeddings", {"model": model, "input": "a b c"})
    quiet = server.request("POST", "/v1/messages", SHORT, parent(flags="00"))
    assert [reply.status for reply in (wrong, missing, chat, vectors, quiet)] == \
        [400, 404, 200, 200, 200]
    told = attributes(collector.wait_request(wrong.headers["request-id"]))
    assert told["error.type"] == "invalid_request", told
    assert told["http.response.status_code"] == 400, told
    assert "gen_ai.usage.input_tokens" not in told, told
    assert collector.wait_request(missing.headers["request-id"])["name"] == "GET"
    span = collector.wait_request(chat.headers["request-id"])
    assert "parentSpanId" not in span, span
    assert span["traceId"] == own_span(chat.headers)[0] != TRACE, span
    tokens = chat.json()["usage"]["completion_tokens"]
    assert attributes(span)["gen_ai.usage.output_tokens"] == tokens, span
    span = collector.wait_request(vectors.headers["request-id"])
    told = attributes(span)
    assert told["gen_ai.operation.name"] == "embeddings", told
    assert told["gen_ai.usage.input_tokens"] == vectors.json()["usage"]["prompt_tokens"], told
    assert "compute" in collector.phases(span), collector.phases(span)
    assert quiet.headers["request-id"] not in collector.requests(), "it was not to be recorded"
    every = [span["spanId"] for span in collector.spans()]
    assert len(every) == len(set(every)), "a span id came twice"


def test_a_client_that_leaves_and_a_failure_inside_a_stream_are_told_apart(context):
    with Collector() as collector:
        server = context.start_scripted("--config", str(context.sandbox.file(
            ".yaml", exporting(collector.url))))
        body = {"model": "fake", "max_tokens": 5000, "stream": True}
        ids = {}
        with OpenStream(server, {**body, "messages": [{"role": "user", "content": "case:slow"}]}) \
                as stream:
            stream.read_until("content_block_delta")
            ids["left"] = stream.headers["request-id"]
        with OpenStream(server, {**body, "messages": [
                {"role": "user", "content": "case:breaks-down"}]}) as stream:
            assert stream.finish().failure, stream.reading
            ids["failed"] = stream.headers["request-id"]
        left = collector.wait_request(ids["left"])
        failed = collector.wait_request(ids["failed"])
        assert attributes(left)["zerohop.end"] == "peer_gone" and "status" not in left, left
        assert failed["status"] == {"code": 2}, failed
        assert attributes(failed)["error.type"] == "model_failure", failed


SECRET_WORDS = ("zanzibarprompt", "zanzibarsystem", "zanzibartool", "zanzibarfield", "zanzibaruser")


def test_no_prompt_answer_or_key_is_exported(context):
    store = context.sandbox.path(".keys")
    made = context.zerohop("keys", "create", "--json", "--key-store", store)
    key = json.loads(made.stdout)["key"]
    token = context.sandbox.file(".token", "Bearer collector-secret\n")
    with Collector() as collector:
        server = context.start_server("--key-store", str(store), config=exporting(
            collector.url, f"  headers: {{authorization: \"file:{token}\"}}\n"))
        full = capital(max_tokens=24, system="zanzibarsystem", metadata={"user_id": "zanzibaruser"},
                       tools=[{"name": "zanzibartool", "input_schema": {"type": "object"}}])
        full["messages"][0]["content"] += " zanzibarprompt"
        answers = [server.request("POST", "/v1/messages", body, {"x-api-key": key, **parent()})
                   for body in (full, {**full, "zanzibarfield": 1},
                                {**full, "temperature": "zanzibarfield"},
                                {**full, "messages": [{"role": "zanzibarprompt"}]})]
        wrong = server.request("POST", "/v1/messages", full, {"x-api-key": key[:-1], **parent()})
        assert wrong.status == 401, wrong
        for reply in answers:
            collector.wait_request(reply.headers["request-id"])
        assert wrong.headers["request-id"] not in collector.requests()
        server.terminate()
        assert server.wait_exit() == 0, server.log_text()[-1000:]
        said = "".join(block.get("text", "") for block in answers[0].json()["content"])
        for _, headers, body in collector.received:
            assert headers["authorization"] == "Bearer collector-secret", headers
            for word in (*SECRET_WORDS, key[10:], "collector-secret", said[:40] or key):
                assert word not in body, f"{word} was exported"
        for word in (key[10:], "collector-secret"):
            assert word not in server.log_text(), f"{word} is in the log"


# ---- Metrics ----

def test_exported_metrics_are_those_of_the_page(context):
    with Collector() as collector:
        server = context.start_server(config=exporting(collector.url, "  traces: false\n"))
        for _ in range(3):
            assert server.request("POST", "/v1/messages", SHORT).status == 200
        server.wait_idle()
        page = server.metrics()
        # Two exports on, the first of them may have been under way.
        known = len(collector.bodies("/v1/metrics"))
        wait_until(lambda: len(collector.bodies("/v1/metrics")) >= known + 2, "no metrics come")
        exported = collector.metrics()
        assert not collector.bodies("/v1/traces"), "traces are off"
        assert set(page.kinds) <= set(exported), set(page.kinds) - set(exported)
        check_counters(page, exported)
        check_histograms(page, exported)
        models = exported["zerohop_build_info"]["gauge"]["dataPoints"]
        assert [point["asDouble"] for point in models] == [1], models


def labels_of(point):
    return frozenset(attributes(point).items())


def page_labels(pairs):
    return frozenset((name, value) for name, value in pairs
                     if name not in ("instance_id", "pool", "le"))


# What no later request or scrape moves: everything that model requests alone count.
SETTLED = ("zerohop_prompt_tokens_total", "zerohop_output_tokens_total",
           "zerohop_tenant_requests_total", "zerohop_tenant_tokens_total",
           "anthropic_direct_request_duration_seconds", "zerohop_ttft_seconds",
           "anthropic_kernel_inference_ms")


def check_counters(page, exported):
    compared = 0
    for (name, pairs), value in page.samples.items():
        if page.kinds.get(name) != "counter" or name not in SETTLED:
            continue
        metric = exported[name]["sum"]
        assert metric["isMonotonic"] is True and metric["aggregationTemporality"] == CUMULATIVE
        points = {labels_of(point): int(point["asInt"]) for point in metric["dataPoints"]}
        assert points[page_labels(pairs)] == value, (name, pairs)
        compared += 1
    assert compared >= 3, compared


def check_histograms(page, exported):
    compared = 0
    for (name, pairs), value in page.samples.items():
        family = page.family(name)
        if name != f"{family}_count" or family not in SETTLED:
            continue
        metric = exported[family]["histogram"]
        assert metric["aggregationTemporality"] == CUMULATIVE, metric
        (point,) = [one for one in metric["dataPoints"] if labels_of(one) == page_labels(pairs)]
        counts = [int(count) for count in point["bucketCounts"]]
        assert int(point["count"]) == sum(counts) == value, (family, point)
        assert len(counts) == len(point["explicitBounds"]) + 1
        total = page.samples[(f"{family}_sum", pairs)]
        assert math.isclose(point["sum"], total, rel_tol=1e-9), (family, point, total)
        reached = 0
        for bound, count in zip(point["explicitBounds"], counts):
            reached += count
            edge = page.samples[(f"{family}_bucket", pairs | {("le", f"{bound:g}")})]
            assert edge == reached, (family, bound)
        compared += value > 0
    assert compared >= 2, compared


# ---- Collectors that fail ----

def dropped(server, cause):
    return server.metrics().value("zerohop_otlp_spans_dropped_total", cause=cause)


def exports(server, result):
    return server.metrics().value("zerohop_otlp_exports_total", result=result)


def test_without_a_collector_everything_is_served_and_what_is_lost_is_counted(context):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    server = context.start_server(config=exporting(url, "  spans_max: 16\n"))
    for number in range(60):
        reply = server.request("POST", "/v1/messages/count_tokens", {
            "model": server.model, "messages": [{"role": "user", "content": f"{number}"}]})
        assert reply.status == 200, reply
    assert server.request("POST", "/v1/messages", SHORT).status == 200
    wait_until(lambda: exports(server, "unreachable") >= 1, "nothing was tried")
    # 16 wait and as many may be on their way; the others are gone.
    wait_until(lambda: dropped(server, "queue_full") >= 61 - 32 - 1, "nothing is counted as lost")
    server.terminate()
    assert server.wait_exit() == 0, server.log_text()[-1000:]
    warnings = [line for line in server.log_text().splitlines()
                if "telemetry does not reach the collector" in line]
    assert len(warnings) == 2, warnings  # one for each signal, not one for each attempt


def test_hostile_collectors_disturb_nobody(context):
    for name, play in HOSTILE.items():
        with HostileCollector(play) as collector:
            server = context.start_server(config=exporting(collector.url, "  timeout_seconds: 2\n"))
            for _ in range(3):
                reply = server.request("POST", "/v1/messages", SHORT, parent())
                assert reply.status == 200, (name, reply)
            wait_until(lambda it=collector: it.connections >= 2, f"{name}: nobody is asked")
            result = "ok" if name == "never stops" else "unreachable"
            wait_until(lambda it=server, end=result: exports(it, end) >= 1,
                       lambda it=server: f"{name}: {it.log_text()[-500:]}")
            assert server.health()["status"] == "ok", name
            server.terminate()
            assert server.wait_exit() == 0, (name, server.log_text()[-1000:])


def test_what_a_busy_collector_refuses_comes_again(context):
    with Collector(status=503) as collector:
        server = context.start_server(config=exporting(collector.url, "  metrics: false\n"))
        reply = server.request("POST", "/v1/messages", SHORT, parent())
        wait_until(lambda: exports(server, "retry") >= 2, "it is not tried again")
        collector.received.clear()
        collector.status = 200
        collector.wait_request(reply.headers["request-id"])
        wait_until(lambda: exports(server, "ok") >= 1, "it is not counted")
        assert dropped(server, "given_up") == 0
        assert "the collector takes telemetry again" in server.log_text()
        collector.received.clear()
        collector.status = 400
        server.request("POST", "/v1/messages", SHORT, parent())
        wait_until(lambda: dropped(server, "refused") > 0, "a refused span is not counted")
        assert dropped(server, "refused") == len(collector.spans()) > 1, "phases are spans too"


def test_the_last_spans_leave_while_the_server_drains(context):
    with Collector() as collector:
        config = f"otlp:\n  endpoint: {collector.url}\n  interval_seconds: 3600\n"
        server = context.start_server(config=config)
        with OpenStream(server, endless(60), parent()) as stream:
            stream.read_until("content_block_delta")
            server.terminate()
            reading = stream.finish()
            request = stream.headers["request-id"]
        assert server.wait_exit() == 0, server.log_text()[-1000:]
        told = attributes(collector.requests()[request])
        assert told["gen_ai.usage.output_tokens"] == reading.usage["output_tokens"] == 60, told
        (point,) = collector.metrics()["zerohop_output_tokens_total"]["sum"]["dataPoints"]
        assert int(point["asInt"]) == 60, point


# ---- Configuration ----

def test_https_and_secrets_in_the_configuration_are_refused_at_the_start(context):
    for lines, reason in [
            ("  endpoint: https://collector:4318\n", "https is not supported"),
            ("  endpoint: collector:4318\n", "http://HOST:PORT"),
            ("  headers: {authorization: Bearer abcdefgh}\n", "env:VARIABLE or file:PATH")]:
        file = context.sandbox.file(".yaml", "otlp:\n" + lines)
        done = context.zerohop("check-config", "--config", file)
        assert done.returncode == 2 and reason in done.stderr, done
        assert "abcdefgh" not in done.stdout + done.stderr, done
        assert f"{file}:2" in done.stderr, done


def test_a_variable_for_all_programs_that_cannot_be_used_stops_nobody(context):
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": "https://jo:secret@collector:4318"}
    server = context.start_server(environment=environment)
    assert server.request("POST", "/v1/messages", SHORT).status == 200
    page = server.request("GET", "/metrics").body.decode()
    assert "zerohop_otlp" not in page, "nothing is exported"
    (line,) = [line for line in server.log_text().splitlines()
               if "OTEL_EXPORTER_OTLP_ENDPOINT is not used" in line]
    assert "https is not supported" in line and "secret" not in line, line
    done = context.zerohop("check-config", environment=environment)
    assert done.returncode == 0 and "OTEL_EXPORTER_OTLP_ENDPOINT is not used" in done.stderr, done


def test_the_variables_that_other_programs_know_count_too(context):
    with Collector() as collector:
        server = context.start_server(
            config="otlp:\n  interval_seconds: 1\n  headers: {x-scope: \"env:SCOPE\"}\n",
            environment={"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url + "/base/",
                         "OTEL_SERVICE_NAME": "by-variable", "SCOPE": "team-7"})
        assert server.request("POST", "/v1/messages", SHORT).status == 200
        wait_until(lambda: {path for path, _, _ in collector.received} ==
                   {"/base/v1/traces", "/base/v1/metrics"}, "nothing comes")
        for _, headers, body in collector.received:
            assert headers["x-scope"] == "team-7", headers
            assert '"stringValue":"by-variable"' in body, body[:300]
