"""The systemd unit, the container file and the Helm chart.

What is checked is the text: systemd's own verifier where it is installed, hadolint, and what helm
renders. No image is built and no cluster asked; tests/e2e/test_chart.py hands the rendered
configuration to the program.
"""
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import yaml

from support import programs
from support.programs import DEPLOY, ROOT

UNIT = DEPLOY / "systemd/zerohop.service"
CONTAINER = DEPLOY / "container/Containerfile"
CHART = DEPLOY / "helm/zerohop"
CONFIG = (ROOT / "docs/CONFIG.md").read_text(encoding="utf-8")
DRAIN_SECONDS = int(re.search(r"\| `server\.drain_seconds` \| [^|]* \| `(\d+)` \|", CONFIG)[1])


def unit():
    """{key: [values]} of the unit; sections do not share keys."""
    found = {}
    for line in UNIT.read_text(encoding="utf-8").splitlines():
        if line and line[0] not in "#[":
            key, _, value = line.partition("=")
            found.setdefault(key, []).append(value)
    return found


class Systemd(unittest.TestCase):
    def test_it_stops_by_draining_and_reloads_by_a_signal(self):
        said = unit()
        self.assertGreater(int(said["TimeoutStopSec"][0]), DRAIN_SECONDS + 10)
        self.assertEqual(said["ExecReload"], ["/bin/kill -HUP $MAINPID"])
        self.assertEqual(said["KillMode"], ["mixed"])
        self.assertNotIn("KillSignal", said)  # SIGTERM
        self.assertEqual(said["RestartPreventExitStatus"], ["2 3"])

    def test_it_is_shut_in(self):
        said = unit()
        for key in ("NoNewPrivileges", "ProtectHome", "PrivateTmp", "ProtectKernelLogs",
                    "ProtectClock", "RestrictNamespaces", "DynamicUser"):
            self.assertEqual(said[key], ["yes"], key)
        self.assertEqual(said["CapabilityBoundingSet"], [""])
        self.assertEqual(said["SystemCallFilter"], ["@system-service"])
        self.assertEqual(said["UMask"], ["0077"])

    def test_systemd_takes_it(self):
        if shutil.which("systemd-analyze") is None:
            # The machine has no systemd; the two tests above read the unit everywhere.
            self.assertGreater(len(unit()), 30)
            return
        with tempfile.TemporaryDirectory() as folder:
            # The verifier wants the program to be there.
            text = UNIT.read_text(encoding="utf-8")
            text = text.replace("/usr/bin/zerohop", shutil.which("true"))
            path = Path(folder) / UNIT.name
            path.write_text(text, encoding="utf-8")
            done = subprocess.run(["systemd-analyze", "verify", str(path)], check=False, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        complaints = [line for line in done.stdout.splitlines() if UNIT.name in line]
        self.assertEqual(complaints, [])


class Container(unittest.TestCase):
    def test_hadolint_finds_nothing(self):
        # Versions of packages are those of the distribution's release, on purpose.
        done = programs.run("hadolint", "--ignore", "DL3008", CONTAINER)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_what_it_copies_is_there_and_it_does_not_run_as_root(self):
        text = CONTAINER.read_text(encoding="utf-8")
        self.assertIn("./dev build", text)
        self.assertRegex(text, r"(?m)^USER [1-9]\d*$")
        self.assertLess(text.index("\nUSER "), text.index("\nENTRYPOINT "))


def rendered(*flags):
    """{kind: object} of the chart; or the complaint as text."""
    done = programs.run("helm", "template", "x", CHART, "--namespace", "n", *flags)
    if done.returncode != 0:
        return done.stdout
    return {item["kind"]: item for item in yaml.safe_load_all(done.stdout) if item}


def pod(objects):
    return objects["StatefulSet"]["spec"]["template"]["spec"]


def container(objects):
    return pod(objects)["containers"][0]


class Chart(unittest.TestCase):
    def test_helm_finds_nothing(self):
        done = programs.run("helm", "lint", "--strict", CHART)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_versions_are_those_of_the_program(self):
        version = re.search(r'kVersion = "(.+?)"', (ROOT / "src/app/version.h").read_text())[1]
        chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
        self.assertEqual(chart["appVersion"], version)

    def test_probes_and_drain_fit_each_other(self):
        objects = rendered("--set", "drain.seconds=100", "--set", "drain.preStopSeconds=7")
        here = container(objects)
        for probe in ("startupProbe", "readinessProbe"):
            self.assertEqual(here[probe]["httpGet"]["path"], "/healthz", probe)
        # A pod that drains answers 503 there, and would be killed for it.
        self.assertEqual(here["livenessProbe"]["httpGet"]["path"], "/livez")
        self.assertEqual(here["lifecycle"]["preStop"]["exec"]["command"], ["sleep", "7"])
        self.assertGreater(pod(objects)["terminationGracePeriodSeconds"], 107)
        self.assertEqual(settings(objects)["server"]["drain_seconds"], 100)
        self.assertEqual(here["startupProbe"]["periodSeconds"]
                         * here["startupProbe"]["failureThreshold"], 900)

    def test_by_default_it_drains_as_long_as_the_program(self):
        self.assertEqual(settings(rendered())["server"]["drain_seconds"], DRAIN_SECONDS)

    def test_settings_of_the_user_go_over_those_of_the_chart(self):
        objects = rendered("--set-json", 'config={"engine":{"sequences":16},'
                           '"auth":{"store":"/var/lib/zerohop/k"}}')
        self.assertEqual(settings(objects)["engine"], {"sequences": 16})
        self.assertEqual(settings(objects)["auth"], {"required": "always",
                                                     "store": "/var/lib/zerohop/k"})

    def test_what_probes_depend_on_cannot_be_set_aside(self):
        for key in ("port", "host", "drain_seconds"):
            text = rendered("--set-json", f'config={{"server":{{"{key}":9}}}}')
            self.assertIn(f"config.server.{key}", text)

    def test_nobody_is_served_without_a_key(self):
        for flags in ((), ("--set", "keys.existingSecret=s")):
            self.assertEqual(settings(rendered(*flags))["auth"]["required"], "always")

    def test_keys_come_out_of_a_secret(self):
        objects = rendered("--set", "keys.storeBase64=QUJD")
        self.assertEqual(objects["Secret"]["data"], {"keys.sqlite": "QUJD"})
        self.assertEqual(secret_of(objects, "keys"), objects["Secret"]["metadata"]["name"])
        objects = rendered("--set", "keys.existingSecret=mine")
        self.assertNotIn("Secret", objects)
        self.assertEqual(secret_of(objects, "keys"), "mine")
        mounts = {mount["name"]: mount for mount in container(objects)["volumeMounts"]}
        folder = mounts["keys"]["mountPath"]
        self.assertEqual(settings(objects)["auth"]["store"], f"{folder}/keys.sqlite")
        self.assertTrue(mounts["keys"]["readOnly"])
        self.assertNotIn("store", settings(rendered())["auth"])

    def test_with_a_certificate_probes_speak_tls(self):
        objects = rendered("--set", "tls.existingSecret=t", "--set", "serviceMonitor.enabled=true",
                           "--set", "serviceMonitor.keySecret.name=k",
                           "--set", "serviceMonitor.keySecret.key=key")
        self.assertEqual(container(objects)["livenessProbe"]["httpGet"]["scheme"], "HTTPS")
        self.assertEqual(settings(objects)["tls"]["certificate"], "/etc/zerohop/tls/tls.crt")
        endpoint, = objects["ServiceMonitor"]["spec"]["endpoints"]
        self.assertEqual(endpoint["scheme"], "https")
        self.assertEqual(endpoint["authorization"]["credentials"], {"name": "k", "key": "key"})

    def test_selectors_find_the_pods_and_ports_their_names(self):
        objects = rendered("--set", "serviceMonitor.enabled=true")
        labels = objects["StatefulSet"]["spec"]["template"]["metadata"]["labels"].items()
        self.assertLessEqual(objects["Service"]["spec"]["selector"].items(), labels)
        for kind in ("StatefulSet", "PodDisruptionBudget"):
            self.assertLessEqual(objects[kind]["spec"]["selector"]["matchLabels"].items(), labels)
        self.assertLessEqual(
            objects["ServiceMonitor"]["spec"]["selector"]["matchLabels"].items(),
            objects["Service"]["metadata"]["labels"].items())
        named = {port["name"] for port in container(objects)["ports"]}
        self.assertIn(objects["Service"]["spec"]["ports"][0]["targetPort"], named)
        volumes = {volume["name"] for volume in pod(objects)["volumes"]}
        volumes |= {claim["metadata"]["name"]
                    for claim in objects["StatefulSet"]["spec"]["volumeClaimTemplates"]}
        self.assertEqual({mount["name"] for mount in container(objects)["volumeMounts"]}, volumes)

    def test_parts_can_be_left_out(self):
        objects = rendered("--set", "podDisruptionBudget.enabled=false",
                           "--set", "persistence.enabled=false")
        self.assertNotIn("PodDisruptionBudget", objects)
        self.assertIn({"name": "data", "emptyDir": {}}, pod(objects)["volumes"])
        self.assertNotIn("volumeClaimTemplates", objects["StatefulSet"]["spec"])

    def test_it_runs_as_the_user_of_the_image_without_rights(self):
        user = re.search(r"(?m)^USER (\d+)$", CONTAINER.read_text(encoding="utf-8"))[1]
        objects = rendered()
        self.assertEqual(pod(objects)["securityContext"]["runAsUser"], int(user))
        self.assertTrue(container(objects)["securityContext"]["readOnlyRootFilesystem"])
        self.assertFalse(container(objects)["securityContext"]["allowPrivilegeEscalation"])

    def test_a_new_configuration_rolls_the_pods(self):
        def checksum(*flags):
            metadata = rendered(*flags)["StatefulSet"]["spec"]["template"]["metadata"]
            return metadata["annotations"]["checksum/config"]
        self.assertEqual(checksum(), checksum())
        self.assertNotEqual(checksum(), checksum("--set", "pool=other"))

    def test_misspelt_values_are_refused(self):
        self.assertIn("replica", rendered("--set", "replica=2"))
        self.assertIn("preStopSeconds", rendered("--set", "drain.preStopSeconds=x"))


def settings(objects):
    return yaml.safe_load(objects["ConfigMap"]["data"]["zerohop.yaml"])


def secret_of(objects, volume):
    found, = [item for item in pod(objects)["volumes"] if item["name"] == volume]
    return found["secret"]["secretName"]


if __name__ == "__main__":
    unittest.main()
