"""HTTPS: checked certificates, new ones while streams run, and clients that show their own."""
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess

from support.http import exchange
from support.prometheus import parse_metrics
from support.prompts import capital, endless
from support.sandbox import SetupFailure
from support.stream import OpenStream
from support.waiting import PATIENCE_SECONDS, wait_until

EXTENSIONS = "subjectAltName=DNS:localhost,IP:127.0.0.1"


class Authority:
    """A certificate authority in a folder of its own."""

    def __init__(self, context):
        if shutil.which("openssl") is None:
            raise SetupFailure("the program openssl is missing; it makes the certificates")
        self.folder = context.sandbox.path("-tls")
        self.folder.mkdir()
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                      "-nodes", "-days", "2", "-subj", "/CN=Test CA", "-keyout", "ca.key",
                      "-out", "ca.pem")

    def _openssl(self, *words):
        done = subprocess.run(["openssl", *words], cwd=self.folder, capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, done.stderr

    def path(self, name):
        return str(self.folder / name)

    def issue(self, name, extensions=None):
        """Signs `name`.pem with the key `name`.key."""
        (self.folder / "extensions").write_text(extensions or EXTENSIONS)
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                      "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        self._openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                      "-CAcreateserial", "-days", "1", "-extfile", "extensions",
                      "-out", f"{name}.pem")

    def install(self, name):
        """Puts `name` where the server looks, each file in one move."""
        for kind in ("pem", "key"):
            shutil.copy(self.folder / f"{name}.{kind}", self.folder / f"next.{kind}")
            os.replace(self.folder / f"next.{kind}", self.folder / f"server.{kind}")

    def client(self, identity=None):
        """What a client needs to trust the server, and to be trusted."""
        settings = ssl.create_default_context(cafile=self.path("ca.pem"))
        if identity:
            settings.load_cert_chain(self.path(f"{identity}.pem"), self.path(f"{identity}.key"))
        return settings


def config(authority, more=""):
    return (f"tls:\n  certificate: {authority.path('server.pem')}\n"
            f"  private_key: {authority.path('server.key')}\n{more}")


def start(context, more=""):
    authority = Authority(context)
    authority.issue("first")
    authority.install("first")
    return authority, context.start_server(config=config(authority, more))


def request(server, settings, method="GET", path="/healthz", body=None):
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=settings,
                                             timeout=PATIENCE_SECONDS)
    try:
        return exchange(connection, method, path, body)
    finally:
        connection.close()


def served_name(server, settings):
    """The name in the certificate that a new connection is shown."""
    with connect(server, settings) as secured:
        return dict(part[0] for part in secured.getpeercert()["subject"])["commonName"]


def connect(server, settings):
    return settings.wrap_socket(
        socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS),
        server_hostname="localhost")


class SecureServer:
    """As much of a server as OpenStream asks for, over TLS."""

    def __init__(self, server, settings):
        self.connect = lambda: connect(server, settings)


def test_answers_and_streams_come_over_a_checked_connection(context):
    authority, server = start(context)
    assert server.url.startswith("https://127.0.0.1:"), server.url
    settings = authority.client()
    reply = request(server, settings, "POST", "/v1/messages", capital())
    assert reply.status == 200 and "Paris" in str(reply.json()["content"]), reply
    with OpenStream(SecureServer(server, settings), endless(24)) as stream:
        reading = stream.finish()
        assert stream.socket.version() == "TLSv1.3", stream.socket.version()
    assert reading.usage["output_tokens"] == 24, reading.usage
    strangers = ssl.create_default_context()
    try:
        request(server, strangers)
        raise AssertionError("a client that does not know the authority is satisfied")
    except ssl.SSLCertVerificationError:
        pass


def test_the_official_client_library_takes_it(context):
    import httpx2
    authority, server = start(context)
    client = context.client(server, http_client=httpx2.Client(verify=authority.client()))
    with client:
        fields = capital()
        extra = {"temperature": fields.pop("temperature")}  # the library has no parameter for it
        message = client.messages.create(extra_body=extra, **fields)
    assert "Paris" in message.content[0].text, message


def test_plain_http_on_the_port_is_told_what_is_wrong(context):
    _, server = start(context)
    reply = server.request("GET", "/healthz")
    assert reply.status == 400 and "https://" in reply.json()["error"]["message"], reply


def test_a_new_certificate_is_taken_while_streams_run(context):
    authority, server = start(context)
    settings = authority.client()
    with OpenStream(SecureServer(server, settings), endless(400)) as stream:
        stream.read_until("content_block_delta")
        assert served_name(server, settings) == "first"
        authority.issue("second")
        authority.install("second")
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: served_name(server, settings) == "second", "the old one stays")
        # A broken file changes nothing.
        (authority.folder / "server.pem").write_text("-----BEGIN CERTIFICATE-----\nbroken\n")
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "the old certificate stays" in server.log_text(), "it is not noticed")
        assert served_name(server, settings) == "second"
        reading = stream.finish()
    assert reading.usage["output_tokens"] == 400, reading.usage
    page = request(server, settings, path="/metrics").body.decode()
    for result in ("taken", "failed"):
        reloads = parse_metrics(page).value("zerohop_tls_reloads_total", result=result)
        assert reloads == 1, page


def test_the_page_counts_handshakes_and_tells_when_the_certificate_ends(context):
    authority, server = start(context)
    settings = authority.client()

    def look():
        return parse_metrics(request(server, settings, path="/metrics").body.decode())
    before = look()
    for _ in range(2):
        with connect(server, settings) as secured:
            ends = ssl.cert_time_to_seconds(secured.getpeercert()["notAfter"])
    after = look()
    full = [page.value("zerohop_tls_handshakes_total", kind="full") for page in (before, after)]
    assert full[1] - full[0] == 3, full  # that of the look itself
    assert after.value("zerohop_tls_handshakes_total", kind="resumed") == 0
    assert after.value("zerohop_tls_certificate_expires_at") == ends


def test_changed_files_are_noticed_without_a_signal(context):
    authority, server = start(context, "  watch_seconds: 1\n")
    settings = authority.client()
    authority.issue("second")
    authority.install("second")
    wait_until(lambda: served_name(server, settings) == "second", "the old one stays")


def test_clients_show_certificates(context):
    authority = Authority(context)
    for name in ("first", "known"):
        authority.issue(name)
    authority.install("first")
    asked = (f"  client_ca: {authority.path('ca.pem')}\n"
             "  client_certificates: required\n")
    server = context.start_server(config=config(authority, asked))
    assert request(server, authority.client("known")).status == 200
    try:
        request(server, authority.client())
        raise AssertionError("served without a certificate")
    except (ssl.SSLError, ConnectionError):
        pass


def test_a_certificate_stands_for_the_key_of_its_name(context):
    authority = Authority(context)
    authority.issue("first")
    authority.install("first")
    for name in ("laptop", "stranger"):
        authority.issue(name, "basicConstraints=CA:FALSE\n")
    store = context.sandbox.path(".keys")
    done = context.zerohop("keys", "create", "--json", "--name", "laptop", "--key-store", store)
    assert done.returncode == 0, done
    key = json.loads(done.stdout)["id"]
    asked = (f"  client_ca: {authority.path('ca.pem')}\n"
             "  client_certificates: optional\n  client_identity: key\n")
    server = context.start_server("--key-store", str(store), config=config(authority, asked))
    status = {name: request(server, authority.client(name), path="/v1/models").status
              for name in ("laptop", "stranger", None)}
    assert status == {"laptop": 200, "stranger": 401, None: 401}, status
    done = context.zerohop("keys", "revoke", key, "--key-store", store)
    assert done.returncode == 0, done
    wait_until(lambda: request(server, authority.client("laptop"),
                               path="/v1/models").status == 401, "the revoked key still serves")


def test_a_server_that_cannot_read_its_certificate_does_not_start(context):
    authority = Authority(context)
    authority.issue("first")
    authority.issue("other")
    done = context.zerohop("serve", "--port", "0", "--tls-certificate", authority.path("first.pem"),
                           "--tls-private-key", authority.path("other.key"))
    assert done.returncode == 2, done
    assert "tls.private_key" in done.stderr, done.stderr
    done = context.zerohop("check-config", "--tls-certificate", authority.path("first.pem"))
    assert done.returncode == 2 and "together" in done.stderr, done
