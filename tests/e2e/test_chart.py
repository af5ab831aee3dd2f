"""The configuration that the Helm chart makes is one that the program takes."""
import subprocess
from pathlib import Path

import yaml

from support.waiting import PATIENCE_SECONDS

CHART = Path(__file__).resolve().parents[2] / "deploy/helm/zerohop"


def configuration(context, *flags):
    """The text of zerohop.yaml, as helm renders it."""
    words = [context.installed.program("helm"), "template", "x", str(CHART), *flags]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
                          env=context.sandbox.environment(), check=False)
    assert done.returncode == 0, done
    found, = [item for item in yaml.safe_load_all(done.stdout) if item["kind"] == "ConfigMap"]
    return found["data"]["zerohop.yaml"]


def test_its_configuration_is_right(context):
    cases = ((), ("--set", "keys.existingSecret=s"), ("--set", "drain.seconds=100"),
             ("--set-json", 'config={"engine":{"sequences":16},"limits":{"soft_max_tokens":true}}'))
    for flags in cases:
        file = context.sandbox.file(".yaml", configuration(context, *flags))
        done = context.zerohop("check-config", "--config", file)
        assert done.returncode == 0, (flags, done)
        assert "0.0.0.0" in done.stdout, done.stdout
