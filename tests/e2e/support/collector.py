"""Whoever takes traces and metrics: a small OpenTelemetry collector, and some that wish one ill."""
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support.waiting import wait_until

SERVER, INTERNAL = 2, 1
CUMULATIVE = 2


def plain(value):
    """The value of an attribute."""
    (kind, content), = value.items()
    if kind == "intValue":
        assert isinstance(content, str), value  # 64-bit numbers are texts in OTLP's JSON
        return int(content)
    if kind == "arrayValue":
        return [plain(item) for item in content["values"]]
    assert kind in ("stringValue", "doubleValue", "boolValue"), value
    return content


def attributes(thing):
    pairs = [(one["key"], plain(one["value"])) for one in thing["attributes"]]
    assert len(dict(pairs)) == len(pairs), f"an attribute came twice: {pairs}"
    return dict(pairs)


class Collector:
    """Listens on construction; `close` at the end. What came is read by other threads."""

    def __init__(self, status=200, port=0):
        self.status = status
        self.received = []  # (path, headers, body as text)
        collector = self

        class Handler(BaseHTTPRequestHandler):
            """One request of the exporter."""

            def do_POST(self):  # pylint: disable=invalid-name
                content = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                collector.received.append((self.path, headers, content.decode()))
                self.send_response(collector.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                """Nobody reads it."""

        self.http = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()

    @property
    def port(self):
        return self.http.server_address[1]

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.http.shutdown()
        self.http.server_close()

    def bodies(self, path):
        return [json.loads(body) for at, _, body in list(self.received) if at == path]

    def spans(self):
        """All spans that came."""
        return [span for body in self.bodies("/v1/traces")
                for group in body["resourceSpans"]
                for scope in group["scopeSpans"] for span in scope["spans"]]

    def requests(self):
        """Spans of requests by the id that their answers carry."""
        return {attributes(span)["zerohop.request.id"]: span for span in self.spans()
                if span["kind"] == SERVER}

    def wait_request(self, request_id):
        """The span of a request, once it has come."""
        wait_until(lambda: request_id in self.requests(),
                   lambda: f"no span of {request_id} but {list(self.requests())}")
        return self.requests()[request_id]

    def phases(self, parent):
        """The spans below one, by name."""
        below = [span for span in self.spans() if span.get("parentSpanId") == parent["spanId"]]
        names = {span["name"]: span for span in below}
        assert len(names) == len(below), below
        return names

    def metrics(self):
        """The last numbers: {name: metric}."""
        body = self.bodies("/v1/metrics")[-1]
        (group,) = body["resourceMetrics"]
        (scope,) = group["scopeMetrics"]
        return {metric["name"]: metric for metric in scope["metrics"]}

    def text(self):
        """Everything that came, headers too."""
        return "\n".join(f"{path} {headers} {body}" for path, headers, body in self.received)


class HostileCollector:
    """Takes connections and does with each what `play(socket)` does."""

    def __init__(self, play):
        self.play = play
        self.connections = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def _serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return  # closed
            self.connections += 1
            threading.Thread(target=self._play, args=(connection,), daemon=True).start()

    def _play(self, connection):
        with connection:
            try:
                self.play(connection)
            except OSError:
                pass  # the other end has had enough

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


def hang(connection):
    """Reads, and never answers."""
    while connection.recv(65536):
        pass


def garbage(connection):
    connection.recv(65536)
    connection.sendall(b"\x16\x03\x01 this is not HTTP \r\n\r\n" * 100)


def endless_reply(connection):
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    while True:
        connection.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")


def slam(connection):
    """Closes without a word."""


HOSTILE = {"hangs": hang, "sends garbage": garbage, "never stops": endless_reply, "closes": slam}
