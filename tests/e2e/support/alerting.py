"""Prometheus, Alertmanager and the example receiver of deploy/, as processes of one test."""
import json
import re
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import yaml

from support.server import die_with_parent
from support.waiting import wait_until

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
SECONDS_MAX = 30  # for one answer of these programs


def free_ports(number):
    """Ports that were free a moment ago. Neither program can tell which one it took."""
    sockets = [socket.socket() for _ in range(number)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def hurried(text):
    """Rules that are evaluated as often as the test's Prometheus says."""
    return re.sub(r"^    interval: 1m\n", "", text, flags=re.MULTILINE)


def get_json(url):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=SECONDS_MAX) as response:
        return json.load(response)


class Alerting:
    """Use it as a context manager; all processes end with it."""

    def __init__(self, context, target, rules):
        """`target` is scraped (host:port); `rules` are texts of rule files."""
        self.context = context
        self.target = target
        self.folder = context.sandbox.path("-alerting")
        self.tickets = self.folder / "tickets"
        self.rules = rules
        self.prometheus_port, self.alertmanager_port = free_ports(2)
        self.processes = {}  # by name

    def __enter__(self):
        self.folder.mkdir()
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for process in self.processes.values():
            process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()

    def _start(self):
        programs = self.context.installed
        receiver = self._process("receiver", [
            sys.executable, DEPLOY / "alertmanager/ticket_receiver.py", "--port", "0",
            "--folder", self.tickets], stdout=subprocess.PIPE)
        line = receiver.stdout.readline().split()
        assert line[:1] == ["ready"], line
        alertmanager = Path(programs.program("alertmanager"))
        self._process("alertmanager", [
            alertmanager, f"--config.file={self._alertmanager_config(line[1])}",
            f"--storage.path={self.folder / 'alertmanager'}", "--cluster.listen-address=",
            f"--web.listen-address=127.0.0.1:{self.alertmanager_port}"],
            cwd=alertmanager.parent)  # where its templates are, if it was not installed
        self._process("prometheus", [
            programs.program("prometheus"), f"--config.file={self._prometheus_config()}",
            f"--storage.tsdb.path={self.folder / 'prometheus'}",
            f"--web.listen-address=127.0.0.1:{self.prometheus_port}"])

    def _process(self, name, words, **options):
        with open(self.folder / f"{name}.log", "wb") as log:
            options.setdefault("stdout", log)
            process = subprocess.Popen(
                [str(word) for word in words], env=self.context.sandbox.environment(), text=True,
                stdin=subprocess.DEVNULL, stderr=log, preexec_fn=die_with_parent, **options)
        self.processes[name] = process
        return process

    def _alertmanager_config(self, url):
        """The one of deploy/, with the address of our receiver and without patience."""
        content = yaml.safe_load((DEPLOY / "alertmanager/alertmanager.yml").read_text("utf-8"))
        for receiver in content["receivers"]:
            for hook in receiver.get("webhook_configs", ()):
                hook["url"] = url
        for route in (content["route"], *content["route"]["routes"]):
            route.update(group_wait="0s", group_interval="1s")
        return self._yaml("alertmanager.yml", content)

    def _prometheus_config(self):
        """The one of deploy/ at our addresses, scraping and evaluating every second."""
        content = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text("utf-8"))
        content["global"] = {"scrape_interval": "1s", "scrape_timeout": "1s",
                             "evaluation_interval": "1s"}
        for at, text in enumerate(self.rules):
            (self.folder / f"rules-{at}.yml").write_text(text, encoding="utf-8")
        content["rule_files"] = ["rules-*.yml"]
        content["alerting"]["alertmanagers"] = [
            {"static_configs": [{"targets": [f"127.0.0.1:{self.alertmanager_port}"]}]}]
        job = content["scrape_configs"][0]
        job["static_configs"] = [{"targets": [self.target]}]
        content["scrape_configs"] = [job]
        return self._yaml("prometheus.yml", content)

    def _yaml(self, name, content):
        path = self.folder / name
        path.write_text(yaml.safe_dump(content), encoding="utf-8")
        return path

    # ---- What is there ----

    def query(self, expression):
        """[(labels, value)] of an instant query; empty as long as Prometheus is not ready."""
        text = urllib.request.quote(expression)
        try:
            answer = get_json(f"http://127.0.0.1:{self.prometheus_port}/api/v1/query?query={text}")
        except OSError:
            return []
        return [(entry["metric"], float(entry["value"][1])) for entry in answer["data"]["result"]]

    def rule_faults(self):
        """Rules that Prometheus could not evaluate, with its reason."""
        answer = get_json(f"http://127.0.0.1:{self.prometheus_port}/api/v1/rules")
        return [(rule["name"], rule["lastError"]) for group in answer["data"]["groups"]
                for rule in group["rules"] if rule.get("lastError")]

    def ticket_by_alert(self):
        """{name of the alert: ticket}"""
        found = {}
        for path in self.tickets.glob("*.json"):
            ticket = json.loads(path.read_text(encoding="utf-8"))
            found[ticket["alert"]] = ticket
        return found

    def wait(self, condition, complaint):
        def met():
            ended = [name for name, process in self.processes.items() if process.poll() is not None]
            assert not ended, f"{ended} ended; {self.last_words()}"
            return condition()
        wait_until(met, lambda: f"{complaint}; {self.last_words()}")

    def last_words(self):
        parts = []
        for path in sorted(self.folder.glob("*.log")):
            lines = path.read_text(errors="replace").splitlines()
            parts.append(f"{path.name}: {' / '.join(line[-200:] for line in lines[-2:])}")
        return "; ".join(parts)
