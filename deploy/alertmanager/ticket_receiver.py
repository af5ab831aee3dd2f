#!/usr/bin/env python3
"""Turns the alerts that Alertmanager sends into tickets: files, or POSTs to a ticket system.

    ticket_receiver.py --folder /var/lib/zerohop-tickets
    ticket_receiver.py --post https://tickets.example.com/api/new --post-token-file TOKEN

An example to start from, and usable as it is. It takes Alertmanager's webhook (version 4) at POST
/alerts. One alert is one ticket from its start to its end, however often it is sent: the ticket's
id is the alert's fingerprint and the second in which it began.

With --folder a ticket is the file ID.json, replaced as a whole; `status` becomes `resolved` at the
end. With --post each change of a ticket is sent once as JSON (again after a restart of this
program); `id` tells the ticket system which one it is. What cannot be kept or sent is answered with
502, and Alertmanager comes again.

GET /healthz answers 200. Only Python's standard library is used. The first line on standard output
names the address. SIGTERM ends it.
"""
import argparse
import hmac
import json
import os
import re
import signal
import socketserver
import sys
import tempfile
import threading
import urllib.request
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BODY_BYTES_MAX = 4 << 20
ALERTS_MAX = 1000
CLIENT_SECONDS = 10  # the longest silence of Alertmanager, and of the ticket system
FINGERPRINT = re.compile(r"[0-9a-f]{1,64}")
TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)")


class Refused(Exception):
    """The request is at fault; it makes no sense to send it again."""


class NotKept(Exception):
    """The ticket could not be kept or sent; to be sent again."""


def text_map(value, name):
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise Refused(f"{name}: a map of texts is needed")
    return value


def moment(value, name):
    """A time of Alertmanager in UTC, in whole seconds; None for the year 1, its `not yet`."""
    match = TIME.fullmatch(value) if isinstance(value, str) else None
    if not match:
        raise Refused(f"{name}: no time: {value!r}"[:200])
    zone = "+00:00" if match[2] == "Z" else match[2]
    try:
        at = datetime.fromisoformat(match[1] + zone)
        return None if at.year <= 1 else at.astimezone(timezone.utc)
    except (ValueError, OverflowError):
        raise Refused(f"{name}: no time: {value!r}") from None


def ticket_of(alert, at):
    """The ticket of one alert of a webhook; Refused says what does not fit."""
    name = f"alerts[{at}]"
    if not isinstance(alert, dict):
        raise Refused(f"{name}: an object is needed")
    labels = text_map(alert.get("labels"), f"{name}.labels")
    notes = text_map(alert.get("annotations", {}), f"{name}.annotations")
    fingerprint = alert.get("fingerprint")
    if not isinstance(fingerprint, str) or not FINGERPRINT.fullmatch(fingerprint):
        raise Refused(f"{name}.fingerprint: hexadecimal digits are needed")
    if alert.get("status") not in ("firing", "resolved"):
        raise Refused(f"{name}.status: firing or resolved is needed")
    began = moment(alert.get("startsAt"), f"{name}.startsAt")
    if began is None:
        raise Refused(f"{name}.startsAt: a beginning is needed")
    resolved = alert["status"] == "resolved"
    ended = moment(alert.get("endsAt"), f"{name}.endsAt") if resolved else None
    return {
        "id": f"{fingerprint}-{began:%Y%m%dT%H%M%SZ}",
        "title": notes.get("summary") or labels.get("alertname", "alert"),
        "status": "resolved" if resolved else "open",
        "severity": labels.get("severity", ""),
        "alert": labels.get("alertname", ""),
        "description": notes.get("description", ""),
        "runbook": notes.get("runbook", ""),
        "began": f"{began:%Y-%m-%dT%H:%M:%SZ}",
        "ended": f"{ended:%Y-%m-%dT%H:%M:%SZ}" if ended else None,
        "labels": labels,
    }


def tickets_of(body):
    """The tickets of a webhook's body."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        raise Refused("the body is no JSON") from None
    alerts = message.get("alerts") if isinstance(message, dict) else None
    if not isinstance(alerts, list) or len(alerts) > ALERTS_MAX:
        raise Refused(f"alerts: a list of at most {ALERTS_MAX} is needed")
    return [ticket_of(alert, at) for at, alert in enumerate(alerts)]


class Folder:
    """A file for each ticket. Readers see the old one or the new one, never half of it."""

    def __init__(self, path):
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)

    def keep(self, ticket):
        target = self.path / f"{ticket['id']}.json"
        try:
            with tempfile.NamedTemporaryFile("w", dir=self.path, prefix=".new-", delete=False,
                                             encoding="utf-8") as handle:
                try:
                    json.dump(ticket, handle, ensure_ascii=False, indent=2, sort_keys=True)
                    handle.write("\n")
                    handle.flush()
                    os.fsync(handle.fileno())
                    os.replace(handle.name, target)
                except BaseException:
                    os.unlink(handle.name)
                    raise
        except OSError as error:
            raise NotKept(f"{target}: {error.strerror}") from None


class Post:
    """Sends each change of a ticket to a URL. What was sent is remembered, within limits."""

    REMEMBERED_MAX = 10_000

    def __init__(self, url, token):
        self.url = url
        self.token = token
        self.sent = {}  # id → status

    def keep(self, ticket):
        if self.sent.get(ticket["id"]) == ticket["status"]:
            return
        headers = {"content-type": "application/json"}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        body = json.dumps(ticket, ensure_ascii=False).encode()
        request = urllib.request.Request(self.url, body, headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=CLIENT_SECONDS):
                pass  # an answer of 400 or above is an exception
        except (OSError, ValueError) as error:
            raise NotKept(f"the ticket system did not take it: {error}") from None
        self.sent[ticket["id"]] = ticket["status"]
        while len(self.sent) > self.REMEMBERED_MAX:
            del self.sent[next(iter(self.sent))]


class Handler(BaseHTTPRequestHandler):
    """One connection of Alertmanager. The server holds `keepers`, `lock` and `token`."""

    protocol_version = "HTTP/1.1"
    timeout = CLIENT_SECONDS

    def do_GET(self):
        self.answer(200 if self.path == "/healthz" else 404)

    def do_POST(self):
        try:
            if self.path != "/alerts":
                self.answer(404)
            elif not self.knows_token():
                self.answer(401)
            else:
                tickets = tickets_of(self.body())
                with self.server.lock:
                    for ticket in tickets:
                        for keeper in self.server.keepers:
                            keeper.keep(ticket)
                self.answer(200, f"{len(tickets)} tickets")
        except Refused as fault:
            self.answer(400, str(fault))
        except NotKept as fault:
            self.answer(502, str(fault))

    def knows_token(self):
        wanted = self.server.token
        shown = self.headers.get("authorization", "")
        return not wanted or hmac.compare_digest(shown.encode(), f"Bearer {wanted}".encode())

    def body(self):
        length = self.headers.get("content-length", "")
        if not re.fullmatch(r"\d{1,9}", length) or int(length) > BODY_BYTES_MAX:
            raise Refused(f"content-length: at most {BODY_BYTES_MAX} bytes")
        content = self.rfile.read(int(length))
        if len(content) != int(length):
            raise Refused("the body ended early")
        return content

    def answer(self, status, text=""):
        # After a refusal a body may be left unread, so the connection is not used again.
        self.close_connection = self.close_connection or status != 200
        content = f"{text}\n".encode() if text else b""
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(content)
        if status not in (200, 404):
            print(f"{status} {text}", file=sys.stderr, flush=True)

    def log_message(self, *_):
        pass  # what matters is printed by answer()


class Server(ThreadingHTTPServer):
    """Binds without asking a name server what this machine is called, as its base does."""

    daemon_threads = True

    def server_bind(self):
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def handle_error(self, request, client_address):
        """A client that went away, mostly; it is told in one line."""
        print(f"connection ended: {sys.exc_info()[1]!r}", file=sys.stderr, flush=True)


def token_from(file):
    return Path(file).read_text(encoding="utf-8").strip() if file else ""


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9099, help="0 takes a free one")
    parser.add_argument("--folder", help="write tickets there")
    parser.add_argument("--post", metavar="URL", help="send tickets there")
    parser.add_argument("--post-token-file", metavar="FILE", help="sent as Bearer to --post")
    parser.add_argument("--token-file", metavar="FILE",
                        help="Alertmanager has to show this token as Bearer")
    options = parser.parse_args(words)
    if not options.folder and not options.post:
        parser.error("--folder or --post is needed")
    if options.post and not re.match(r"https?://", options.post):
        parser.error("--post: a URL that begins with http:// or https:// is needed")
    return options


def make_server(options):
    """A server, bound and not yet serving."""
    server = Server((options.host, options.port), Handler)
    server.lock = threading.Lock()
    server.token = token_from(options.token_file)
    server.keepers = []
    if options.folder:
        server.keepers.append(Folder(options.folder))
    if options.post:
        server.keepers.append(Post(options.post, token_from(options.post_token_file)))
    return server


def main(words):
    server = make_server(arguments(words))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print(f"ready http://{server.server_name}:{server.server_port}/alerts", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
