"""Rules for Prometheus: they load, fire when they should, name what exists, and are explained."""
import re
import unittest

import yaml

from support import metric_names, programs
from support.programs import DEPLOY, ROOT

PROMETHEUS = DEPLOY / "prometheus"
RULES = sorted((PROMETHEUS / "rules").glob("*.yml"))
TESTS = sorted((PROMETHEUS / "tests").glob("*.yml"))
TROUBLESHOOTING = ROOT / "docs/TROUBLESHOOTING.md"


def rules():
    """(file name, rule) of every rule."""
    for path in RULES:
        for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]:
            for rule in group["rules"]:
                yield path.name, rule


def alerts():
    return [rule for _, rule in rules() if "alert" in rule]


def recorded():
    """{recorded name: labels}: of all rules, and of those that stand there as a comment."""
    found = {}
    for path in RULES:
        text = re.sub(r"^(\s*)# ", r"\1", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for match in re.finditer(r"- record: (\S+)\n(.*?)(?=\n\s*- |\Z)", text, re.DOTALL):
            labels = re.search(r"labels: \{(.*?)\}", match[2])
            names = set(re.findall(r"(\w+):", labels[1])) if labels else set()
            # What the expression hands on, as far as a look tells.
            names |= metric_names.mentions(expression_of(match[2])).listed
            found.setdefault(match[1], set()).update(names)
    return found


def expression_of(text):
    match = re.search(r"expr: (?:>-\n)?(.*?)(?=\n\s*(?:labels|for|annotations):|\Z)", text,
                      re.DOTALL)
    return re.sub(r"^\s*#.*$", "", match[1], flags=re.MULTILINE) if match else ""


def anchors():
    """The anchors of the sections of the document."""
    titles = re.findall(r"^## (.+)$", TROUBLESHOOTING.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^a-z0-9 _-]", "", title.lower()).replace(" ", "-"): title
            for title in titles}


class Rules(unittest.TestCase):
    def test_prometheus_takes_the_configuration(self):
        done = programs.run("promtool", "check", "config", PROMETHEUS / "prometheus.yml")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_prometheus_takes_the_rules_without_a_warning(self):
        done = programs.run("promtool", "check", "rules", "--lint=all", "--lint-fatal", *RULES)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_their_unit_tests_pass(self):
        self.assertGreaterEqual(len(TESTS), 4)
        done = programs.run("promtool", "test", "rules", *TESTS)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_every_alert_is_expected_to_fire_in_a_unit_test(self):
        fired = set()
        for path in TESTS:
            for test in yaml.safe_load(path.read_text(encoding="utf-8"))["tests"]:
                fired |= {case["alertname"] for case in test.get("alert_rule_test", ())
                          if case.get("exp_alerts")}
        self.assertEqual(fired, {rule["alert"] for rule in alerts()})

    def test_they_name_only_metrics_and_labels_that_exist(self):
        known, own = metric_names.families(), recorded()
        self.assertGreater(len(known), 50)
        for file, rule in rules():
            with self.subTest(file=file, rule=rule.get("alert") or rule["record"]):
                self.assertEqual(metric_names.complaints(rule["expr"], known, own), [])

    def test_every_alert_names_a_section_and_every_section_has_an_alert(self):
        found = anchors()
        named = set()
        for rule in alerts():
            with self.subTest(alert=rule["alert"]):
                document, _, anchor = rule["annotations"]["runbook"].partition("#")
                self.assertEqual(ROOT / document, TROUBLESHOOTING)
                self.assertEqual(found.get(anchor), rule["alert"])
                named.add(anchor)
        self.assertEqual(set(found) - named, set(), "sections without an alert")

    def test_every_alert_says_what_it_is(self):
        for rule in alerts():
            with self.subTest(alert=rule["alert"]):
                self.assertIn(rule["labels"]["severity"], ("critical", "warning", "info"))
                self.assertEqual(set(rule["annotations"]), {"summary", "description", "runbook"})
                self.assertRegex(rule["alert"], r"^Zerohop[A-Z]")

    def test_the_five_indicators_need_three_periods(self):
        content = yaml.safe_load((PROMETHEUS / "rules/indicators.yml").read_text(encoding="utf-8"))
        group, = content["groups"]
        self.assertEqual(group["interval"], "1m")
        self.assertEqual({rule["for"] for rule in group["rules"] if "alert" in rule}, {"3m"})


class NamesInExpressions(unittest.TestCase):
    """The reader that the tests above trust."""

    def test_it_tells_series_from_labels_and_functions(self):
        said = metric_names.mentions(
            'histogram_quantile(0.95, sum by (le, pool) (rate(a_bucket{stage="prefill"}[5m]))) '
            '> on (pool) group_left (extra) b:c{x=~"or|sum"} and min_over_time(d[1h]) offset 1h '
            "or 1e3 * e")
        self.assertEqual(said.series, {"a_bucket", "b:c", "d", "e"})
        self.assertEqual(said.labels, {"a_bucket": {"stage"}, "b:c": {"x"}})
        self.assertEqual(said.listed, {"le", "pool", "extra"})

    def test_it_sees_what_does_not_exist(self):
        known = {"h": ("histogram", {"tier"}), "c_total": ("counter", set())}
        for expression, fault in (("nonesuch > 1", "no such metric: nonesuch"),
                                  ("h > 1", "no such metric: h"),
                                  ('h_bucket{stage="x"}', "h has no label stage"),
                                  ("sum by (le) (c_total)", "no series here has a label le")):
            with self.subTest(expression=expression):
                self.assertEqual(metric_names.complaints(expression, known, {}), [fault])
        self.assertEqual(metric_names.complaints(
            "sum by (le, tier) (rate(h_bucket[5m])) / r", known, {"r": set()}), [])


def configuration(**changes):
    """A server's, with one objective; a change to None takes a member out."""
    members = {"indicator": "ttft", "threshold_ms": 1000, "target": 0.99, **changes}
    members = {name: value for name, value in members.items() if value is not None}
    return yaml.safe_dump({"server": {"port": 1}, "slo": {"objectives": {"a": members}}})


class Objectives(unittest.TestCase):
    """The rules that are generated from the section `slo` of a configuration."""

    @classmethod
    def setUpClass(cls):
        cls.slo = programs.load(PROMETHEUS / "slo_rules.py")

    def generated(self, text, **options):
        return self.slo.rules(self.slo.read(text), **options)

    def test_the_committed_rules_are_those_of_the_committed_objectives(self):
        source = (PROMETHEUS / "slo.yml").read_text(encoding="utf-8")
        committed = (PROMETHEUS / "rules/slo.yml").read_text(encoding="utf-8")
        self.assertEqual(self.generated(source), committed,
                         "write them anew: slo_rules.py slo.yml > rules/slo.yml")

    def test_every_objective_has_every_alert(self):
        found = [(rule["alert"], re.search(r'objective="([^"]+)"', rule["expr"])[1])
                 for name, rule in rules() if name == "slo.yml" and "alert" in rule]
        names = yaml.safe_load((PROMETHEUS / "slo.yml").read_text("utf-8"))["slo"]["objectives"]
        self.assertEqual(sorted(found), sorted((burn.alert, name) for name in names
                                               for burn in self.slo.BURNS))

    def test_alerts_go_by_the_budget_of_the_objective(self):
        text = self.generated(configuration(target=0.95, tier="m-1.5", **{"class": "batch"}))
        self.assertIn('rate1h{objective="a"} > (14.4 * 0.05)', text)
        self.assertIn('rate6h{objective="a"} > (1 * 0.05)', text)
        self.assertIn("come within 1 s, class batch, tier m-1.5.", text)

    def test_a_rate_that_cannot_be_reached_has_no_alert(self):
        for target, left in ((0.93, 3), (0.8, 2), (0.5, 1), (0.01, 1)):
            text = self.generated(configuration(target=target))
            with self.subTest(target=target):
                self.assertEqual(text.count("- alert:"), left)
                self.assertEqual(text.count("not even if all were bad"), 4 - left)
                yaml.safe_load(text)

    def test_a_budget_may_be_very_small(self):
        content = yaml.safe_load(self.generated(configuration(target=0.999999)))
        alert = next(rule for rule in content["groups"][0]["rules"] if "alert" in rule)
        self.assertIn("> (14.4 * 1e-06)", alert["expr"])

    def test_windows_can_be_shorter_for_a_trial(self):
        text = self.generated(configuration(), faster=60)
        self.assertIn("zerohop:slo_bad_share:rate1m", text)
        self.assertIn("rate(zerohop_slo_total[5s])", text)
        self.assertNotIn("1h", text)

    def test_a_name_of_a_model_is_no_template(self):
        text = self.generated(configuration(tier='{{ evil }}: "x"'))
        content = yaml.safe_load(text)
        alert = next(rule for rule in content["groups"][0]["rules"] if "alert" in rule)
        self.assertIn(", tier ???evil???:??x?.", alert["annotations"]["description"])

    def test_a_wrong_objective_is_refused_with_its_line(self):
        cases = (({"target": 1}, "target"), ({"target": True}, "target"),
                 ({"target": 0}, "target"), ({"target": None}, "target is missing"),
                 ({"target": "0.9"}, "target"),  # quoted, so a text
                 ({"threshold_ms": 0}, "threshold_ms"), ({"threshold_ms": -1}, "threshold_ms"),
                 ({"threshold_ms": None}, "threshold_ms is missing"),
                 ({"threshold_ms": 1e9}, "threshold_ms"), ({"indicator": "x"}, "indicator"),
                 ({"indicator": None}, "indicator is missing"), ({"class": "gold"}, "class"),
                 ({"tier": ""}, "tier"), ({"tier": 3}, "tier"),
                 ({"what": 1}, "unknown member 'what'"),
                 ({"indicator": "availability"}, "availability has no threshold_ms"))
        for change, place in cases:
            with self.subTest(change=change), self.assertRaises(self.slo.Wrong) as caught:
                self.slo.read(configuration(**change))
            said = str(caught.exception)
            self.assertTrue(said.startswith(f"slo.objectives: 'a': {place}"), said)
            self.assertEqual(caught.exception.line, 5)

    def test_what_is_no_section_of_objectives_is_refused(self):
        good = "{indicator: itl, target: 0.9, threshold_ms: 5}"
        for text in ("", "slo:", "slo: []", "slo: {objectives: {}}", "slo: {objectives: [1]}",
                     "a: [", "- 1", f"slo: {{objectives: {{A: {good}}}}}",
                     f"slo: {{objectives: {{a: {good}, a: {good}}}}}",
                     f"slo: {{objectives: {{a: {good}, b: {good}}}}}",
                     f"slo: {{objektives: {{a: {good}}}}}", "slo: {objectives: {a: 3}}"):
            with self.subTest(text=text), self.assertRaises(self.slo.Wrong):
                self.slo.read(text)
        self.assertEqual(len(self.slo.read(f"slo: {{objectives: {{a: {good}}}}}")), 1)


class Alertmanager(unittest.TestCase):
    CONFIG = DEPLOY / "alertmanager/alertmanager.yml"

    def test_alertmanager_takes_the_configuration(self):
        done = programs.run("amtool", "check-config", self.CONFIG)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_every_alert_goes_where_its_severity_belongs(self):
        wanted = {"critical": "wake", "warning": "tickets", "info": "nobody"}
        for rule in alerts():
            severity = rule["labels"]["severity"]
            words = [f"{name}={value}" for name, value in rule["labels"].items()]
            done = programs.run("amtool", "config", "routes", "test",
                                f"--config.file={self.CONFIG}",
                                f"--verify.receivers={wanted[severity]}",
                                f"alertname={rule['alert']}", *words)
            with self.subTest(alert=rule["alert"]):
                self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
