"""Remembers what was found good, by hash, so that only changes cost time."""
import hashlib
import json


class Memory:
    """A set of keys in a file of a build folder. keep() forgets whatever is not named."""

    def __init__(self, path):
        self.path = path
        try:
            self.good = set(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            self.good = set()

    def keep(self, keys):
        self.path.write_text(json.dumps(sorted(keys)), encoding="utf-8")


def key_of(*parts):
    return hashlib.sha256(repr(parts).encode()).hexdigest()
