"""Objectives: one file says what they are, for the server that counts and the rules that alert."""
import re
import subprocess
import sys

from support.alerting import DEPLOY, Alerting, hurried
from support.prompts import capital

SCRIPT = DEPLOY / "prometheus/slo_rules.py"
# A microsecond to the first token is never enough, a day always is.
CONFIG = """\
slo:
  objectives:
    up: {indicator: availability, target: 0.99}
    first-impossible: {indicator: ttft, threshold_ms: 0.001, target: 0.99}
    first-easy: {indicator: ttft, threshold_ms: 86400000, target: 0.99}
"""


def generate(file, *flags):
    return subprocess.run([sys.executable, SCRIPT, file, *flags], capture_output=True, text=True,
                          check=False)


def counted(server, objective):
    page = server.metrics()
    return tuple(page.value(name, objective=objective)
                 for name in ("zerohop_slo_good_total", "zerohop_slo_total"))


def test_an_objective_that_cannot_be_kept_burns_and_the_others_do_not(context):
    file = context.sandbox.file(".yml", CONFIG)
    server = context.start_scripted("--config", str(file), "--instance-id", "e2e-objectives")
    assert counted(server, "first-impossible") == (0, 0)
    # An hour is a minute here.
    done = generate(file, "--faster", "60")
    assert done.returncode == 0, done
    sent = 0
    with Alerting(context, f"127.0.0.1:{server.port}", [hurried(done.stdout)]) as alerting:
        # The counters are seen at nought, so that their first steps are a rate.
        alerting.wait(lambda: alerting.query("zerohop_slo_total == 0"), "nothing is scraped")
        assert alerting.query("zerohop:slo_bad_share:rate5s") == [], "shares of nothing"

        def ask_until_a_ticket_comes():
            nonlocal sent
            server.messages(capital(max_tokens=4))
            sent += 1
            return "ZerohopSloBurnsFast" in alerting.ticket_by_alert()
        alerting.wait(ask_until_a_ticket_comes, "no ticket came")
        ticket = alerting.ticket_by_alert()["ZerohopSloBurnsFast"]
        assert ticket["status"] == "open" and ticket["severity"] == "critical", ticket
        assert ticket["labels"]["objective"] == "first-impossible", ticket
        assert ticket["title"] == "pool cpu, first-impossible: 100% bad in 1m", ticket
        assert ticket["runbook"] == "docs/TROUBLESHOOTING.md#zerohopsloburnsfast", ticket
        burning = {labels["objective"] for labels, _ in
                   alerting.query('ALERTS{alertname=~"ZerohopSlo.+"}')}
        assert burning == {"first-impossible"}, burning
        assert alerting.rule_faults() == [], alerting.rule_faults()
    server.wait_idle()
    assert counted(server, "first-impossible") == (0, sent)
    assert counted(server, "first-easy") == (sent, sent)
    assert counted(server, "up") == (sent, sent)


def test_what_a_client_got_wrong_is_no_matter_of_objectives(context):
    file = context.sandbox.file(".yml", CONFIG)
    server = context.start_scripted("--config", str(file))
    assert server.request("POST", "/v1/messages", {"messages": 5}).status == 400
    assert server.request("GET", "/healthz").status == 200
    for objective in ("up", "first-impossible", "first-easy"):
        assert counted(server, objective) == (0, 0), objective


def test_server_and_rules_read_the_same_language(context):
    time = "indicator: ttft, target: 0.9"
    good = ["up: {indicator: availability, target: 0.999}",
            "a: {indicator: itl, target: 9e-1, threshold_ms: 1e3, class: batch, tier: 'x y'}",
            "a: {indicator: total, target: 0.5, threshold_ms: 0.001}\n    b:\n"
            "      indicator: total\n      target: 0.5\n      threshold_ms: 86400000"]
    bad = ["up: {indicator: availability, target: 1}", "up: {indicator: availability, target: 0}",
           "up: {indicator: availability}", "up: {target: 0.9}", "up: 3", "up: [1]",
           "up: {indicator: availability, target: '0.9'}", "up: {indicator: up, target: 0.9}",
           "up: {indicator: availability, target: .9}", "up: {indicator: ~, target: 0.9}",
           "up: {indicator: availability, target: 0.9, threshold_ms: 5}",
           "Up: {indicator: availability, target: 0.9}",
           "up-: {indicator: availability, target: 0.9}",
           f"a: {{{time}}}", f"a: {{{time}, threshold_ms: 0}}", f"a: {{{time}, threshold_ms: -1}}",
           f"a: {{{time}, threshold_ms: 86400001}}", f"a: {{{time}, threshold_ms: 1s}}",
           f"a: {{{time}, threshold_ms: 5, class: gold}}",
           f"a: {{{time}, threshold_ms: 5, tier: 5}}", f"a: {{{time}, threshold_ms: 5, tier: }}",
           f"a: {{{time}, threshold_ms: 5, kind: x}}",
           f"a: {{{time}, threshold_ms: true}}", f"a: {{{time}, threshold_ms: 5}}\n\n"
           f"    b: {{{time}, threshold_ms: 5.0}}",
           f"a: {{{time}, threshold_ms: 5}}\n    a: {{{time}, threshold_ms: 6}}"]
    for text in [*good, *bad]:
        file = context.sandbox.file(".yml", f"slo:\n  objectives:\n    {text}\n")
        server, rules = context.zerohop("check-config", "--config", file), generate(file)
        expected = 0 if text in good else 2
        assert (server.returncode, rules.returncode) == (expected, expected), (text, server, rules)
        if expected == 0:
            continue
        # The line where it is wrong.
        place = re.compile(rf"{re.escape(str(file))}:\d+: slo\.objectives: ")
        told = [place.search(done.stderr) for done in (server, rules)]
        assert all(told) and told[0][0] == told[1][0], (text, server.stderr, rules.stderr)


def test_the_example_is_a_configuration(context):
    done = context.zerohop("check-config", "--config", DEPLOY / "prometheus/slo.yml")
    assert done.returncode == 0, done.stderr
    assert '"ttft-priority"' in done.stdout or "ttft-priority: {" in done.stdout, done.stdout
