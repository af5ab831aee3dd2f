"""Packages of the operating system: says what is missing and installs it with apt.

On other systems than Debian and its children nothing is checked here; CMake names what it lacks.
"""
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec

from dev.common import Failure, run, say

# Package → command that makes it unnecessary when it is on PATH.
BUILD = {
    "git": "git",
    "g++": "g++",
    "cmake": "cmake",
    "ninja-build": "ninja",
    "ca-certificates": None,
    "libssl-dev": None,
    "libspdlog-dev": None,
    "libyaml-cpp-dev": None,
    "libcli11-dev": None,
    "libsqlite3-dev": None,
    "poppler-utils": "pdftotext",  # at run time, for PDF documents
}
TEST = {"libgtest-dev": None, "libgmock-dev": None, "ccache": "ccache", "curl": "curl",
        "openssl": "openssl"}
BENCH = {"libbenchmark-dev": None}
CHECK = {"clang-format-14": "clang-format-14"}
LIBFUZZER = {"clang": "clang++"}

GROUPS = {"build": BUILD, "test": TEST, "bench": BENCH, "check": CHECK, "libfuzzer": LIBFUZZER}

# Any of these runs the tests of the console (tests/e2e/support/browser.py looks for the same).
BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")

BOOST_BY_CODENAME = {"bookworm": "1.81", "noble": "1.83"}


def os_release():
    values = {}
    try:
        with open("/etc/os-release", encoding="utf-8") as handle:
            for line in handle:
                key, _, value = line.strip().partition("=")
                values[key] = value.strip('"')
    except OSError:
        pass
    return values


def boost_packages(codename):
    """Bookworm's default Boost is 1.74 and too old, so the newer one is named there."""
    version = BOOST_BY_CODENAME.get(codename, "")
    return [f"libboost{version}-dev", f"libboost-json{version}-dev"]


def browser_packages(system):
    """Ubuntu's package only fetches a snap, which no container can install: there the test of the
    console says what is missing."""
    if system == "ubuntu" or any(map(shutil.which, BROWSERS)):
        return []
    return ["chromium"]


def wanted(groups):
    names = []
    for group in groups:
        for package, command in GROUPS[group].items():
            if command is None or shutil.which(command) is None:
                names.append(package)
    if "test" in groups:
        names += browser_packages(os_release().get("ID", ""))
    if "build" in groups:
        names += boost_packages(os_release().get("VERSION_CODENAME", ""))
        # Debian splits what `python3 -m venv` needs from Python.
        if find_spec("ensurepip") is None and find_spec("pip") is None:
            names.append("python3-venv")
    return names


def installed(names):
    """Those of `names` that dpkg knows as installed."""
    done = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *names],
        check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    lines = (line.split() for line in done.stdout.splitlines())
    return {words[0] for words in lines if words[1:] == ["installed"]}


def missing(groups):
    if shutil.which("dpkg-query") is None:
        return []
    names = wanted(groups)
    have = installed(names) if names else set()
    return [name for name in names if name not in have]


def privilege(interactive):
    """What has to stand before apt-get: nothing for root, sudo where there is one, else None."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    if interactive:
        return ["sudo"]
    allowed = subprocess.run(["sudo", "-n", "true"], check=False, stderr=subprocess.DEVNULL)
    return ["sudo", "-n"] if allowed.returncode == 0 else None


def agreed(yes):
    if yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    print("dev: install them now? [Y/n] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("", "y", "yes")


def require(groups, yes):
    """Makes sure that the packages of `groups` are there, or ends with the command to type."""
    names = missing(groups)
    if not names:
        return
    say("missing system packages: " + " ".join(names))
    install = ["apt-get", "install", "-y", "--no-install-recommends", *names]
    by_hand = "sudo apt-get update && sudo " + " ".join(install)
    before = privilege(interactive=sys.stdin.isatty())
    if before is None or not agreed(yes):
        raise Failure(f"install them with\n  {by_hand}", 2)
    quiet = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    keep = ["env", "DEBIAN_FRONTEND=noninteractive"] if before else []
    try:
        run([*before, *keep, "apt-get", "update", "-q"], env=quiet)
        run([*before, *keep, *install, "-q"], env=quiet)
    except Failure as failure:
        raise Failure(f"{failure}\ninstall them by hand with\n  {by_hand}", 2) from None
    still = missing(groups)
    if still:
        raise Failure("apt-get ended well, but these are still missing: " + " ".join(still), 2)
