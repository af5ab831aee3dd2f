"""Hashes of what was downloaded, and a cheap way to notice that an unpacked copy has changed."""
import base64
import hashlib
import json

from dev.common import Failure

MANIFEST = "manifest.json"


def digest(path, algorithm):
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, algorithm)


def sha256(path):
    return digest(path, "sha256").hexdigest()


def require_sha512(path, expected):
    """Compares with an integrity string as npm writes it: sha512-<base64>."""
    found = "sha512-" + base64.b64encode(digest(path, "sha512").digest()).decode()
    if found != expected:
        raise Failure(f"{path.name} is not the file that was pinned: found {found}, "
                      f"expected {expected}. Nothing of it was used.")


def require_sha256(path, expected):
    found = sha256(path)
    if found != expected:
        raise Failure(f"{path.name} is not the file that was pinned: found sha256 {found}, "
                      f"expected {expected}. Nothing of it was used.")


def write_manifest(folder, origin):
    """Records `origin` and size, time and hash of every file under `folder`."""
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != MANIFEST:
            stat = path.stat()
            name = str(path.relative_to(folder))
            files[name] = [stat.st_size, stat.st_mtime_ns, sha256(path)]
    text = json.dumps({"origin": origin, "files": files}, indent=1)
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def manifest_fault(folder, origin):
    """Why `folder` is not what write_manifest() recorded; empty when it is.

    Costs one stat per file; a file is read again only when its time has changed.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return "no record of its files"
    if manifest.get("origin") != origin:
        return "it was made from something else"
    for name, (size, time, expected) in manifest["files"].items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        stat = path.stat()
        if stat.st_size != size or (stat.st_mtime_ns != time and sha256(path) != expected):
            return f"{name} has changed"
    return ""
