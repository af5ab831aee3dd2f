"""Dashboards for Grafana: their queries parse and name what exists; no panel is empty or hidden."""
import json
import re
import tempfile
import unittest
from pathlib import Path

import yaml

from support import metric_names, programs
from support.programs import DEPLOY
from test_rules import recorded

FOLDER = DEPLOY / "grafana/dashboards"
BOARDS = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json")}
WANTED = {"overview.json", "instance.json", "tenants.json", "decision_health.json"}
KINDS = {"timeseries", "stat", "xychart", "text"}


def panels():
    for name, board in sorted(BOARDS.items()):
        for panel in board["panels"]:
            yield name, panel


def expressions():
    """(board, what it belongs to, PromQL with Grafana's variables replaced)"""
    for name, panel in panels():
        for target in panel.get("targets", ()):
            yield name, panel["title"], plain(target["expr"])


def plain(expression):
    expression = expression.replace("$__rate_interval", "5m")
    return re.sub(r"\$\w+", "x", expression)


class Dashboards(unittest.TestCase):
    def test_the_boards_are_there(self):
        self.assertEqual(set(BOARDS), WANTED)
        self.assertEqual(len({board["uid"] for board in BOARDS.values()}), len(WANTED))
        for name, board in BOARDS.items():
            with self.subTest(board=name):
                self.assertIn("zerohop", board["tags"])
                self.assertLessEqual(len(board["uid"]), 40)  # Grafana's limit

    def test_every_expression_is_promql(self):
        found = list(expressions())
        self.assertGreater(len(found), 40)
        rules = [{"record": f"board:expression:{at}", "expr": expression}
                 for at, (_, _, expression) in enumerate(found)]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "boards.yml"
            path.write_text(yaml.safe_dump({"groups": [{"name": "boards", "rules": rules}]}),
                            encoding="utf-8")
            done = programs.run("promtool", "check", "rules", path)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_every_metric_and_label_exists(self):
        known, own = metric_names.families(), recorded()
        for board, panel, expression in expressions():
            with self.subTest(board=board, panel=panel):
                self.assertEqual(metric_names.complaints(expression, known, own), [])

    def test_legends_name_labels_that_the_expression_keeps(self):
        known, own = metric_names.families(), recorded()
        for _, panel in panels():
            for target in panel.get("targets", ()):
                legend = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
                said = metric_names.mentions(plain(target["expr"]))
                # The labels that survive: those of `by (…)`, or all of the series.
                kept = set(said.listed)
                if not re.search(r"\bby\b", target["expr"]):
                    for series in said.series:
                        family = metric_names.family_of(series, known)
                        mine = own.get(series, set()) | metric_names.EVERYWHERE
                        kept |= family[1] if family else mine
                with self.subTest(panel=panel["title"], expression=target["expr"]):
                    self.assertLessEqual(legend, kept)

    def test_variables_are_defined_and_ask_for_what_exists(self):
        known = metric_names.families()
        for name, board in BOARDS.items():
            defined = {variable["name"] for variable in board["templating"]["list"]}
            used = set(re.findall(r"\$\{?([a-z_]+)\}?", json.dumps(board)))
            with self.subTest(board=name):
                self.assertEqual({word for word in used if not word.startswith("__")}, defined)
            for variable in board["templating"]["list"]:
                if variable["type"] == "query":
                    match = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["definition"])
                    selector = plain(match[1])
                    with self.subTest(board=name, variable=variable["name"]):
                        self.assertEqual(metric_names.complaints(
                            f"sum by ({match[2]}) ({selector})", known, {}), [])

    def test_panels_have_a_place_and_do_not_cover_each_other(self):
        for name, board in BOARDS.items():
            taken = {}
            ids = [panel["id"] for panel in board["panels"]]
            self.assertEqual(len(ids), len(set(ids)))
            for panel in board["panels"]:
                self.assertIn(panel["type"], KINDS)
                self.assertTrue(panel["title"])
                at = panel["gridPos"]
                self.assertLessEqual(at["x"] + at["w"], 24)
                for x in range(at["x"], at["x"] + at["w"]):
                    for y in range(at["y"], at["y"] + at["h"]):
                        with self.subTest(board=name, panel=panel["title"]):
                            self.assertIsNone(taken.get((x, y)))
                        taken[x, y] = panel["title"]

    def test_the_bubbles_are_fragmentation_confidence_and_memory(self):
        panel, = [panel for _, panel in panels() if panel["type"] == "xychart"]
        series, = panel["options"]["series"]
        names = {axis: series[axis]["matcher"]["options"] for axis in ("x", "y", "size")}
        self.assertEqual(names, {"x": "fragmentation", "y": "confidence", "size": "memory"})
        renamed = panel["transformations"][1]["options"]["renameByName"]
        shown = {renamed[f"Value #{target['refId']}"]: target["expr"]
                 for target in panel["targets"]}
        self.assertIn("anthropic_kernel_kv_cache_fragmentation_p95", shown["fragmentation"])
        self.assertIn("zerohop:decision_confidence", shown["confidence"])
        self.assertIn("anthropic_instance_gpu_memory_used_bytes", shown["memory"])
        # One row for each instance: tables, joined by their common label.
        self.assertEqual(panel["transformations"][0]["options"]["byField"], "instance_id")
        for target in panel["targets"]:
            self.assertEqual((target["format"], target["instant"]), ("table", True))

    def test_the_files_that_load_them_are_yaml(self):
        for path in (DEPLOY / "grafana/provisioning").rglob("*.yml"):
            with self.subTest(path=path.name):
                self.assertEqual(yaml.safe_load(path.read_text(encoding="utf-8"))["apiVersion"], 1)


if __name__ == "__main__":
    unittest.main()
