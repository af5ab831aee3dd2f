"""HTTP as a careful client speaks it, down to bytes on a socket."""
import http.client
import json
from dataclasses import dataclass

from support import audit

JSON_HEADERS = {"content-type": "application/json"}


@dataclass
class Reply:
    """A whole answer. Header names are lower case; a header that came twice is an error here."""
    status: int
    headers: dict
    body: bytes

    def json(self):
        kind = self.headers.get("content-type", "")
        assert kind.split(";")[0] == "application/json", f"content type {kind!r}"
        return json.loads(self.body)


def header_dict(pairs):
    headers = {}
    for name, value in pairs:
        key = name.lower()
        assert key not in headers, f"the header {key} came twice"
        headers[key] = value
    return headers


def as_bytes(body):
    """Objects become JSON; text and bytes go out as they are."""
    if body is None or isinstance(body, bytes):
        return body
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


def exchange(connection, method, path, body=None, headers=None):
    """One request on an http.client connection, which may be used again after it."""
    connection.request(method, path, as_bytes(body), {**JSON_HEADERS, **(headers or {})})
    response = connection.getresponse()
    content = response.read()
    headers = header_dict(response.getheaders())
    audit.check_answer(method, path, response.status, headers.get("content-type"), content)
    return Reply(response.status, headers, content)


def post_bytes(path, body, headers=None):
    """A POST as bytes, for tests that send only part of it."""
    content = as_bytes(body)
    lines = [f"POST {path} HTTP/1.1", "host: test", f"content-length: {len(content)}"]
    lines += [f"{name}: {value}" for name, value in {**JSON_HEADERS, **(headers or {})}.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def begin_response(sock, method="POST"):
    """The head of an answer on a bare socket; the result reads the body like a file.

    Interim answers (100) are read over.
    """
    response = http.client.HTTPResponse(sock, method=method)
    response.begin()
    return response


def read_reply(sock, method="POST"):
    """The answer on a bare socket, or None when the server closed without one."""
    try:
        response = begin_response(sock, method)
    except (http.client.RemoteDisconnected, ConnectionResetError):
        return None
    content = response.read()
    return Reply(response.status, header_dict(response.getheaders()), content)


def check_error(reply, status, kind):
    """The error has its status, its type and the one shape; returns the message."""
    assert reply is not None, "the server closed without an answer"
    assert reply.status == status, f"{reply.status} instead of {status}: {reply.body[:300]!r}"
    body = reply.json()
    assert body["type"] == "error", body
    assert set(body) == {"type", "error", "request_id"}, body
    assert body["error"]["type"] == kind, body
    message = body["error"]["message"]
    assert isinstance(message, str) and message, body
    assert body["request_id"] == reply.headers["request-id"], (body, reply.headers)
    check_common_headers(reply.headers)
    retry = "true" if status in (408, 409, 429) or status >= 500 else "false"
    assert reply.headers["x-should-retry"] == retry, reply.headers
    return message


def check_common_headers(headers):
    """What every answer carries, errors and streams included."""
    assert headers["request-id"].startswith("req_"), headers
    assert headers["anthropic-request-id"] == headers["request-id"], headers
    assert headers["x-anthropic-instance-id"], headers
    assert headers["anthropic-processing-time-ms"].isdigit(), headers
