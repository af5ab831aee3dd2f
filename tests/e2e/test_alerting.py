"""The examples of deploy/ at work: a real Prometheus scrapes, and a ticket lies in a folder."""
import re

from support.alerting import DEPLOY, Alerting, hurried
from support.prompts import capital

TROUBLESHOOTING = DEPLOY.parent / "docs/TROUBLESHOOTING.md"
RULES = sorted((DEPLOY / "prometheus/rules").glob("*.yml"))
# Surely true: one request is enough. In the form of the rules of deploy/.
CERTAIN = """\
groups:
  - name: test
    rules:
      - alert: ZerohopTest
        expr: zerohop_prompt_tokens_total > 0
        labels: {severity: critical}
        annotations:
          summary: "{{ $labels.instance_id }} has read a prompt"
          description: Of this test.
          runbook: docs/TROUBLESHOOTING.md#zerohopinferenceslow
"""


def test_a_threshold_that_is_passed_becomes_a_ticket(context):
    server = context.start_scripted("--instance-id", "e2e-alerting")
    server.messages(capital(max_tokens=8))
    rules = [hurried(path.read_text(encoding="utf-8")) for path in RULES]
    with Alerting(context, f"127.0.0.1:{server.port}", [*rules, CERTAIN]) as alerting:
        alerting.wait(lambda: "ZerohopTest" in alerting.ticket_by_alert(), "no ticket came")
        ticket = alerting.ticket_by_alert()["ZerohopTest"]
        assert ticket["status"] == "open" and ticket["severity"] == "critical", ticket
        assert ticket["title"] == "e2e-alerting has read a prompt", ticket
        assert ticket["labels"]["instance_id"] == "e2e-alerting", ticket
        assert ticket["labels"]["job"] == "zerohop", ticket
        assert ticket["runbook"].startswith("docs/TROUBLESHOOTING.md#"), ticket
        # The rules of deploy/ evaluate on what this server really exports.
        alerting.wait(lambda: alerting.query("zerohop:decision_marks:confidence"),
                      "nothing is recorded for decision health")
        marks = alerting.query('zerohop:threshold{indicator="inference_p95_ms", level="alert"}')
        assert [value for _, value in marks] == [320], marks
        share, = alerting.query("zerohop:allowed_share")
        assert share[0]["instance_id"] == "e2e-alerting" and share[1] == 1, share
        assert alerting.rule_faults() == [], alerting.rule_faults()


def test_an_instance_that_is_gone_is_noticed_and_its_return_too(context):
    server = context.start_scripted("--instance-id", "e2e-gone")
    down = "groups: [{name: test, rules: [{alert: ZerohopDown, expr: 'up{job=\"zerohop\"} == 0', " \
           "labels: {severity: critical}, annotations: {summary: gone}}]}]\n"
    with Alerting(context, f"127.0.0.1:{server.port}", [down]) as alerting:
        alerting.wait(lambda: alerting.query('up{job="zerohop"} == 1'), "it is not scraped")
        server.kill()
        alerting.wait(lambda: "ZerohopDown" in alerting.ticket_by_alert(), "no ticket came")
        assert alerting.ticket_by_alert()["ZerohopDown"]["status"] == "open"
        context.start_scripted("--port", str(server.port))
        alerting.wait(lambda: alerting.ticket_by_alert()["ZerohopDown"]["status"] == "resolved",
                      "the ticket stays open")


def test_the_commands_of_the_runbook_exist(context):
    text = TROUBLESHOOTING.read_text(encoding="utf-8")
    shown = {command for command in re.findall(r"`(zerohop [a-z][^`]*)`", text)}
    assert len(shown) > 5, shown
    for command in sorted(shown):
        name, *words = command.split()[1:]
        done = context.zerohop(name, "--help")
        assert done.returncode == 0 and f"Usage: zerohop {name}" in done.stdout, (command, done)
        for word in words:
            said = word.startswith("--") or (name == "keys" and word.islower())
            assert not said or word in done.stdout, (command, word, done.stdout)
