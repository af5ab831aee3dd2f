"""The configuration of a running server, changed and read again: SIGHUP and POST /admin/reload."""
import json
import signal

from support.admin import AdminServer
from support.prompts import MODEL, capital, endless
from support.server import core_limits
from support.stream import OpenStream
from support.waiting import wait_until

SHORT = capital(max_tokens=4)


class Operated(AdminServer):
    """A server with a configuration file that is changed while it runs."""

    def __init__(self, context, text=""):
        super().__init__(context, config=text)
        words = self.server.process.args
        self.file = words[words.index("--config") + 1]

    def write(self, text):
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(self.head + text)

    def reload(self):
        """Through the admin API: the answer."""
        return self.ask("POST", "/admin/reload")

    def hang_up(self, text):
        """SIGHUP: waits for its line in the log."""
        before = self.server.log_text().count(text)
        self.server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: self.server.log_text().count(text) > before, f"no line '{text}'")

    def model_list(self):
        return [model["id"] for model in self.server.request("GET", "/v1/models").json()["data"]]


def test_a_hangup_applies_what_has_changed_and_names_what_waits(context):
    operated = Operated(context)
    server = operated.server
    assert operated.model_list() == [MODEL]
    operated.write(f"model:\n  aliases: {{claude-small: {MODEL}}}\n"
                   "instance:\n  labels: {law: v7}\n  label_headers: {law: x-law-version}\n"
                   "limits:\n  tenant_defaults: {max_output_tokens: 2}\n"
                   "engine:\n  sequences: 3\n")
    operated.hang_up("configuration read again")
    assert operated.model_list() == [MODEL, "claude-small"]
    assert server.request("GET", "/livez").headers["x-law-version"] == "v7"
    reply = server.request("POST", "/v1/messages", SHORT)
    assert reply.status == 400 and "max_output_tokens" in reply.body.decode(), reply
    line = next(json.loads(line) for line in server.log_text().splitlines()
                if "configuration read again" in line)
    assert line["needs_restart"] == "engine.sequences", line
    assert "model.aliases" in line["applied"].split(","), line


def test_a_broken_file_changes_nothing_and_says_where_it_is_broken(context):
    operated = Operated(context, "wire:\n  strict: true\n")
    server = operated.server
    lenient = {"messages": [{"role": "user", "content": "Hi"}], "model": MODEL}
    assert server.request("POST", "/v1/messages", lenient).status == 400
    operated.write("wire:\n  strict: false\n  heartbeat: drum\n")
    reply = operated.reload()
    assert reply.status == 400, reply
    message = reply.json()["error"]["message"]
    assert f"{operated.file}:6: wire.heartbeat: 'drum'" in message, message
    operated.hang_up("the configuration stays as it was")
    assert server.request("POST", "/v1/messages", lenient).status == 400
    operated.write("wire:\n  strict: false\nlimits:\n  default_max_tokens: 2\n")
    reply = operated.reload()
    assert reply.status == 200, reply
    assert reply.json()["applied"] == ["limits.default_max_tokens", "wire.strict"], reply.json()
    assert server.messages(lenient)["usage"]["output_tokens"] == 2
    page = server.metrics()
    assert page.value("zerohop_config_reloads_total", outcome="failed") == 2
    assert page.value("zerohop_config_reloads_total", outcome="applied") == 1


def test_streams_that_run_are_not_disturbed(context):
    operated = Operated(context)
    with OpenStream(operated.server, endless(200)) as stream:
        stream.read_until("content_block_delta")
        for tokens in (3, 4, 5):
            operated.write(f"limits:\n  default_max_tokens: {tokens}\nlog:\n  level: debug\n"
                           "limits_are_elsewhere: 1\n" if tokens == 4 else
                           f"limits:\n  default_max_tokens: {tokens}\n")
            assert operated.reload().status == (400 if tokens == 4 else 200)
        reading = stream.finish()
    assert reading.usage["output_tokens"] == 200, reading.usage


def test_flags_stay_in_force(context):
    operated = Operated(context)
    operated.write("server:\n  port: 1\nlog:\n  level: debug\n")
    reply = operated.reload().json()
    assert reply["applied"] == ["log.level"] and reply["needs_restart"] == [], reply
    assert operated.server.request("GET", "/livez").status == 200


def test_a_crash_leaves_no_core_file_unless_it_may(context):
    for words, limit in (("", "0"), ("server:\n  core_dumps: allow\n", None)):
        server = context.start_server(config=words or None)
        found = core_limits(server.process.pid)
        expected = [limit, limit] if limit else core_limits()
        assert found == expected, (found, expected)
