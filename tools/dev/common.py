"""Places, messages and subprocesses that every subcommand shares."""
import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


class Failure(Exception):
    """Ends the command with a message for people and an exit code (2: something must be set up)."""

    def __init__(self, message, code=1):
        super().__init__(message)
        self.code = code


def say(text):
    """Tells the user what happens. Standard error: standard output belongs to results."""
    print(f"dev: {text}", file=sys.stderr, flush=True)


def xdg(variable, default):
    """The user's folder after the XDG rules, with our name added."""
    base = os.environ.get(variable, "")
    folder = Path(base) if base.startswith("/") else Path.home() / default
    return folder / "zerohop"


def cache_dir():
    return xdg("XDG_CACHE_HOME", ".cache")


def data_dir():
    return xdg("XDG_DATA_HOME", ".local/share")


def build_dir(preset):
    return ROOT / "build" / preset


def jobs():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(args, **options):
    """Runs a command whose output the user sees on standard error; a failure ends ours."""
    options.setdefault("stdout", sys.stderr)
    try:
        code = subprocess.run([str(a) for a in args], check=False, **options).returncode
    except FileNotFoundError:
        raise Failure(f"{args[0]} is not installed", 2) from None
    if code != 0:
        raise Failure(f"{Path(str(args[0])).name} failed (exit code {code}): {short(args)}")


def run_quiet(args, **options):
    """Runs a command and shows its output only when it fails. Returns standard output."""
    try:
        done = subprocess.run([str(a) for a in args], check=False, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    except FileNotFoundError:
        raise Failure(f"{args[0]} is not installed", 2) from None
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
        raise Failure(f"failed (exit code {done.returncode}): {short(args)}\n{tail}")
    return done.stdout


def short(args):
    text = " ".join(str(a) for a in args)
    return text if len(text) <= 160 else text[:157] + "..."


@contextlib.contextmanager
def locked(path):
    """Holds the lock file `path`, so that two runs do not prepare the same thing at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another run that holds {path}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def scratch(near):
    """A temporary folder on the file system of `near`, so that a rename out of it is atomic."""
    near.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=".partial-", dir=near))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def put_in_place(folder, target):
    """Renames `folder` to `target`, replacing what stands there."""
    old = target.with_name(target.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    folder.rename(target)
    shutil.rmtree(old, ignore_errors=True)


class WordsInBackground:
    """Gets something in a thread of its own. `start`, then `flags`: what a test script is told.
    Subclasses have `_get`, which adds to `words`."""

    def __init__(self, sources):
        self.sources = sources
        self.words = []
        self.thread = threading.Thread(target=self._get, daemon=True)

    def start(self):
        self.thread.start()
        return self

    def flags(self):
        self.thread.join()
        return self.words
