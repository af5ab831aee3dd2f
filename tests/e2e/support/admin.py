"""A server with the admin API, and calls of it."""
import http.client
import json

from support.http import JSON_HEADERS, Reply, as_bytes, header_dict
from support.waiting import PATIENCE_SECONDS

TOKEN = "a-token-of-the-operator"


class AdminServer:
    """`config` is YAML without `admin`; further flags and options are those of start_server()."""

    def __init__(self, context, *flags, config="", **options):
        token = context.sandbox.file(".token", TOKEN + "\n")
        token.chmod(0o600)
        self.head = f"admin:\n  listen: 127.0.0.1:0\n  token_file: {token}\n"
        self.server = context.start_server(*flags, config=self.head + config, **options)
        started = next(json.loads(line) for line in self.server.log_text().splitlines()
                       if '"admin API"' in line)
        self.port = int(started["address"].rsplit(":", 1)[1])

    def ask(self, method, path, body=None, headers=None):
        """What comes back is of no dialect, so it is not held against the shapes of any."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            connection.request(method, path, as_bytes(body), {
                **JSON_HEADERS, "authorization": "Bearer " + TOKEN, **(headers or {})})
            response = connection.getresponse()
            content = response.read()
            return Reply(response.status, header_dict(response.getheaders()), content)
        finally:
            connection.close()

    def good(self, method, path, body=None):
        reply = self.ask(method, path, body)
        assert reply.status == 200, reply
        return reply.json()

    def messages(self, key, body):
        return self.server.request("POST", "/v1/messages", body, {"x-api-key": key})
