"""What a test gets: the program, a shared server, servers of its own, and clients."""
import json
import os
import subprocess
import threading
from urllib.parse import urlsplit

from recording import recording_transport
from support import audit, script
from support.http import Reply, header_dict
from support.sandbox import Sandbox, SetupFailure
from support.server import ServerProcess
from support.waiting import PATIENCE_SECONDS


class Context:
    """Owned by the runner, for one run. `server` is shared by the tests, and started by the first
    one that asks; so is `scripted`, the same server around a model that says what
    support/script.py tells it to. What the `start_` functions give belongs to the running test and
    ends with it. `installed` says where the client libraries are (support/clients.py).
    """

    def __init__(self, program, fake_program, installed):
        self.program = program
        self.fake_program = fake_program
        self.installed = installed
        self.compatibility_file = None  # to write the table of clients to
        self.sandbox = Sandbox()
        self.shared = {}  # program → server
        self.own = []
        self.last_logs = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end_test()
        for server in self.shared.values():
            server.kill()
        self.sandbox.close()

    # ---- Servers ----

    @property
    def server(self):
        return self._shared(self.program)

    @property
    def scripted(self):
        return self._shared(self.fake_program)

    def _shared(self, program):
        if program not in self.shared:
            # A server ends with the thread that started it (PR_SET_PDEATHSIG).
            assert threading.current_thread() is threading.main_thread(), "ask before the threads"
            words = ["--port", "0"]
            if program == self.fake_program:
                words = self._script_words(script.RULES) + words
            self.shared[program] = self._launch(words, program=program).wait_ready()
        return self.shared[program]

    def start_scripted(self, *flags, rules=script.RULES, environment=None):
        """A scripted server of the test's own, ready."""
        words = [*self._script_words(rules), "--port", "0", *flags]
        server = self._launch(words, environment, self.fake_program)
        self.own.append(server)
        return server.wait_ready()

    def _script_words(self, rules):
        return ["--script", str(self.sandbox.file(".json", json.dumps(rules)))]

    def start_server(self, *flags, config=None, environment=None, port="0"):
        """A server of the test's own, ready. `config` is YAML text; `port` None leaves it out."""
        words = [] if port is None else ["--port", port]
        if config is not None:
            words += ["--config", str(self.sandbox.file(".yaml", config))]
        server = self._launch([*words, *flags], environment)
        self.own.append(server)
        return server.wait_ready()

    def _launch(self, flags, environment=None, program=None):
        program = program or self.program
        command = [str(program)]
        if program == self.program:
            self.sandbox.require_model()
            command.append("serve")
        if not program.is_file():
            raise SetupFailure(f"there is no program {program}")
        # Two servers cannot keep their message batches in one folder.
        state = {"XDG_STATE_HOME": str(self.sandbox.path("-state"))}
        variables = self.sandbox.environment(**{**state, **(environment or {})})
        return ServerProcess([*command, *flags], variables, self.sandbox.path(".log"))

    # ---- Other programs ----

    def zerohop(self, *arguments, stdin="", environment=None):
        """Runs the program to its end; the result has returncode, stdout and stderr as text."""
        if not self.program.is_file():
            raise SetupFailure(f"there is no program {self.program}")
        return subprocess.run([str(self.program), *map(str, arguments)], input=stdin, text=True,
                              env=self.sandbox.environment(**(environment or {})),
                              capture_output=True, timeout=PATIENCE_SECONDS, check=False)

    def curl_output(self, *arguments):
        """What `curl -i` prints for an answer."""
        words = ["curl", "--silent", "--show-error", "--include", "--noproxy", "*",
                 "--max-time", str(PATIENCE_SECONDS), *map(str, arguments)]
        done = subprocess.run(words, capture_output=True, check=False)
        assert done.returncode == 0, f"curl: exit code {done.returncode}: {done.stderr!r}"
        return done.stdout

    def curl(self, *arguments):
        """The answer to a curl command, interim answers left out."""
        output = self.curl_output(*arguments)
        head, _, body = output.partition(b"\r\n\r\n")
        while head.split(b" ")[1:2] == [b"100"]:
            head, _, body = body.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        pairs = [line.split(": ", 1) if ": " in line else [line.rstrip(":"), ""]
                 for line in lines[1:]]
        reply = Reply(int(lines[0].split(" ")[1]), header_dict(pairs), body)
        method, path = curl_target([str(word) for word in arguments])
        audit.check_answer(method, path, reply.status, reply.headers.get("content-type"), body)
        return reply

    def curl_messages(self, body, *arguments):
        """curl's POST of a body to /v1/messages of the shared server."""
        return self.curl(self.server.url + "/v1/messages", "--json", json.dumps(body), *arguments)

    def client(self, server=None, **options):
        """The official client library, without its own retries. Use it as a context manager."""
        import httpx2
        transport = recording_transport(httpx2, audit.check_response)
        options.setdefault("http_client", httpx2.Client(transport=transport))
        return self._client_class("Anthropic")(**self._client_options(server, options))

    def async_client(self, server=None, **options):
        return self._client_class("AsyncAnthropic")(**self._client_options(server, options))

    def _client_class(self, name):
        try:
            import anthropic
        except ImportError as fault:
            raise SetupFailure("the official client library is missing: pip install -r "
                               "tests/e2e/requirements.txt") from fault
        return getattr(anthropic, name)

    def _client_options(self, server, options):
        # The library reads these; a proxy or a key of the user's must not take part.
        for variable in [name for name in os.environ if name.startswith("ANTHROPIC_")]:
            del os.environ[variable]
        os.environ["NO_PROXY"] = "*"
        return {"base_url": (server or self.server).url, "api_key": "none", "max_retries": 0,
                "timeout": PATIENCE_SECONDS, **options}

    # ---- After each test ----

    def end_test(self):
        """Ends the test's servers. A complaint when a shared one has died, or when an answer did
        not have its published shape."""
        self.last_logs = [server.log for server in self.own]
        for server in self.own:
            server.kill()
        self.own = []
        complaints = audit.drain()[:3]
        for program, server in list(self.shared.items()):
            self.last_logs.append(server.log)
            if not server.alive():
                complaints.append(f"the server ended with exit code {server.process.returncode}")
                server.kill()
                del self.shared[program]
        return "; ".join(complaints) or None

    def show_logs(self, out):
        """The last lines of the servers that took part in the last test."""
        for log in self.last_logs:
            text = log.read_text(errors="replace") if log.exists() else ""
            print("\n".join(["--- log of the server", *text.splitlines()[-12:]]), file=out)


def curl_target(arguments):
    """(method, path) of a curl command."""
    url = next((word for word in arguments if word.startswith("http")), "")
    method = "GET"
    if any(word in ("--json", "-d", "--data", "--data-binary") for word in arguments):
        method = "POST"
    if "--head" in arguments:
        method = "HEAD"
    if "-X" in arguments:
        method = arguments[arguments.index("-X") + 1]
    return method, urlsplit(url).path
