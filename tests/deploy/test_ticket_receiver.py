"""The example of a receiver turns alerts into tickets, and survives what is sent to it."""
import contextlib
import http.client
import http.server
import json
import socket
import tempfile
import threading
import unittest
from pathlib import Path

from support import programs
from support.programs import DEPLOY

SECONDS_MAX = 60


def alert(**change):
    return {"status": "firing", "fingerprint": "0a1b2c3d4e5f6071",
            "labels": {"alertname": "ZerohopStuck", "severity": "critical", "instance_id": "a"},
            "annotations": {"summary": "a has work", "description": "No step.", "runbook": "x#y"},
            "startsAt": "2026-05-01T10:00:00.123456789+02:00", "endsAt": "0001-01-01T00:00:00Z",
            "generatorURL": "http://p/", **change}


def webhook(*alerts):
    return {"version": "4", "status": "firing", "receiver": "tickets", "alerts": list(alerts)}


class TicketSystem(http.server.BaseHTTPRequestHandler):
    """Remembers what was posted; answers with `status` of the server."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.got.append((self.headers.get("authorization"), json.loads(body)))
        self.send_response(self.server.status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving(server):
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Receiver(unittest.TestCase):
    def setUp(self):
        self.module = programs.load(DEPLOY / "alertmanager/ticket_receiver.py")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.tickets = self.folder / "tickets"

    def start(self, *words):
        options = self.module.arguments(["--port", "0", *map(str, words)])
        server = self.module.make_server(options)
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        # What it prints for people is not for the output of tests.
        stack.enter_context(contextlib.redirect_stderr(open("/dev/null", "w", encoding="utf-8")))
        self.port = stack.enter_context(serving(server)).server_port

    def send(self, body, method="POST", path="/alerts", headers=None):
        """(status, text)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS_MAX)
        try:
            content = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
            connection.request(method, path, content, headers or {})
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def written(self):
        return {path.name: json.loads(path.read_text(encoding="utf-8"))
                for path in self.tickets.iterdir()}

    def test_an_alert_becomes_a_ticket_and_is_closed_when_it_ends(self):
        self.start("--folder", self.tickets)
        self.assertEqual(self.send(webhook(alert())), (200, "1 tickets\n"))
        name = "0a1b2c3d4e5f6071-20260501T080000Z.json"
        ticket = self.written()[name]
        self.assertEqual(ticket["title"], "a has work")
        self.assertEqual((ticket["status"], ticket["severity"]), ("open", "critical"))
        self.assertEqual((ticket["began"], ticket["ended"]), ("2026-05-01T08:00:00Z", None))
        self.assertEqual((ticket["alert"], ticket["runbook"]), ("ZerohopStuck", "x#y"))
        self.assertEqual(ticket["labels"]["instance_id"], "a")
        end = alert(status="resolved", endsAt="2026-05-01T08:05:00Z")
        self.assertEqual(self.send(webhook(end))[0], 200)
        self.assertEqual(set(self.written()), {name})
        self.assertEqual(self.written()[name]["status"], "resolved")
        self.assertEqual(self.written()[name]["ended"], "2026-05-01T08:05:00Z")

    def test_the_same_alert_again_is_no_second_ticket_but_a_later_one_is(self):
        self.start("--folder", self.tickets)
        for _ in range(3):
            self.send(webhook(alert()))
        self.assertEqual(len(self.written()), 1)
        self.send(webhook(alert(startsAt="2026-05-02T08:00:00Z"), alert(fingerprint="ff")))
        self.assertEqual(len(self.written()), 3)

    def test_changes_are_posted_once_each_with_the_token(self):
        (self.folder / "token").write_text("s3cret\n", encoding="utf-8")
        with serving(http.server.HTTPServer(("127.0.0.1", 0), TicketSystem)) as system:
            system.got, system.status = [], 201
            self.start("--post", f"http://127.0.0.1:{system.server_port}/new",
                       "--post-token-file", self.folder / "token")
            for status in ("firing", "firing", "resolved", "resolved"):
                self.assertEqual(self.send(webhook(alert(status=status)))[0], 200)
            self.assertEqual([ticket["status"] for _, ticket in system.got], ["open", "resolved"])
            self.assertEqual({token for token, _ in system.got}, {"Bearer s3cret"})

    def test_what_the_ticket_system_refuses_is_asked_for_again(self):
        with serving(http.server.HTTPServer(("127.0.0.1", 0), TicketSystem)) as system:
            system.got, system.status = [], 500
            self.start("--post", f"http://127.0.0.1:{system.server_port}/new")
            self.assertEqual(self.send(webhook(alert()))[0], 502)
            system.status = 200
            self.assertEqual(self.send(webhook(alert()))[0], 200)
            self.assertEqual(len(system.got), 2)

    def test_a_folder_that_cannot_be_written_is_a_502(self):
        self.start("--folder", self.tickets)
        self.tickets.rmdir()
        self.assertEqual(self.send(webhook(alert()))[0], 502)

    def test_bad_bodies_are_refused_with_their_place(self):
        self.start("--folder", self.tickets)
        cases = ((b"{", "no JSON"), (b"[" * 100_000, "no JSON"), ([], "alerts"),
                 ({"alerts": {}}, "alerts"), (webhook(7), "alerts[0]"),
                 (webhook(alert(), alert(fingerprint="../../etc/passwd")), "alerts[1].fingerprint"),
                 (webhook(alert(fingerprint=None)), "alerts[0].fingerprint"),
                 (webhook(alert(status="maybe")), "alerts[0].status"),
                 (webhook(alert(labels={"a": 1})), "alerts[0].labels"),
                 (webhook(alert(annotations=[])), "alerts[0].annotations"),
                 (webhook(alert(startsAt="yesterday")), "alerts[0].startsAt"),
                 (webhook(alert(startsAt="2026-13-01T00:00:00Z")), "alerts[0].startsAt"),
                 (webhook(alert(startsAt="0001-01-01T00:00:00Z")), "alerts[0].startsAt"),
                 (webhook(alert(startsAt="9999-12-31T23:59:59-23:00")), "alerts[0].startsAt"))
        for body, place in cases:
            with self.subTest(place=place):
                status, text = self.send(body)
                self.assertEqual(status, 400, text)
                self.assertIn(place, text)
        self.assertEqual(self.written(), {})

    def test_other_requests_change_nothing(self):
        (self.folder / "token").write_text("s3cret", encoding="utf-8")
        self.start("--folder", self.tickets, "--token-file", self.folder / "token")
        self.assertEqual(self.send(None, "GET", "/healthz")[0], 200)
        self.assertEqual(self.send(None, "GET", "/alerts")[0], 404)
        self.assertEqual(self.send(webhook(alert()))[0], 401)
        wrong = {"authorization": "Bearer s3creT"}
        self.assertEqual(self.send(webhook(alert()), headers=wrong)[0], 401)
        good = {"authorization": "Bearer s3cret"}
        self.assertEqual(self.send(webhook(alert()), path="/", headers=good)[0], 404)
        large = {**good, "content-length": str(1 << 30)}
        self.assertEqual(self.send(b"", headers=large)[0], 400)
        self.assertEqual(self.written(), {})
        self.assertEqual(self.send(webhook(alert()), headers=good)[0], 200)
        self.assertEqual(len(self.written()), 1)

    def test_a_client_that_leaves_in_the_middle_harms_nobody(self):
        self.start("--folder", self.tickets)
        begun = b"POST /alerts HTTP/1.1\r\ncontent-length: 900\r\n\r\n{\"al"
        for piece in (b"", b"POST /al", begun):
            with socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS_MAX) as client:
                client.sendall(piece)
        self.assertEqual(self.send(webhook(alert()))[0], 200)

    def test_an_address_or_a_place_for_tickets_is_needed(self):
        for words in ([], ["--post", "ftp://x"], ["--folder", "x", "--port", "y"]):
            with self.subTest(words=words), self.assertRaises(SystemExit), \
                    contextlib.redirect_stderr(open("/dev/null", "w", encoding="utf-8")):
                self.module.arguments(words)


if __name__ == "__main__":
    unittest.main()
