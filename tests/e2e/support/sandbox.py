"""Folders and environment of the programs under test: nothing of the user's own counts.

Configuration, cache and state lie in a temporary folder. Only the default model is the real one,
linked into the temporary data folder, so that no test can change it.
"""
import os
import shutil
import tempfile
from pathlib import Path

MODEL = "smollm2-135m"
MODEL_BYTES = 98362432

# What may be passed on to the programs; everything else could change what they do.
PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "LSAN_OPTIONS",
             "TSAN_OPTIONS", "UBSAN_OPTIONS")


class SetupFailure(Exception):
    """The tests cannot run here: something that they need is missing."""


def user_model_file():
    """Where `zerohop pull` puts the default model."""
    data = os.environ.get("XDG_DATA_HOME", "")
    folder = Path(data) if os.path.isabs(data) else Path.home() / ".local/share"
    return folder / "zerohop" / "models" / f"{MODEL}.gguf"


class Sandbox:
    """One temporary tree for a whole run."""

    def __init__(self):
        self.root = Path(tempfile.mkdtemp(prefix="zerohop-e2e-"))
        self.files = 0
        models = self.root / "data/zerohop/models"
        models.mkdir(parents=True)
        self.model = models / f"{MODEL}.gguf"
        self.model.symlink_to(user_model_file())

    def require_model(self):
        file = user_model_file()
        if not file.is_file() or file.stat().st_size != MODEL_BYTES:
            raise SetupFailure(f"the model {file} is missing or cut off; `zerohop pull` gets it")

    def environment(self, **more):
        """The variables of a program under test."""
        variables = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        for name, folder in (("HOME", "home"), ("XDG_CONFIG_HOME", "config"),
                             ("XDG_DATA_HOME", "data"), ("XDG_CACHE_HOME", "cache"),
                             ("XDG_STATE_HOME", "state")):
            path = self.root / folder
            path.mkdir(exist_ok=True)
            variables[name] = str(path)
        # What a conversion gains is measured, so which weights a machine would serve is not for
        # tests of texts to depend on; test_prepare.py turns it on.
        variables["ZEROHOP_MODEL_PREPARE"] = "off"
        variables.update(more)
        return variables

    def path(self, suffix):
        """A fresh path; nothing is there yet."""
        self.files += 1
        return self.root / f"{self.files}{suffix}"

    def file(self, suffix, content):
        """A fresh file with `content`, text or bytes."""
        path = self.path(suffix)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def close(self):
        shutil.rmtree(self.root, ignore_errors=True)
