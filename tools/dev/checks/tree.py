"""The files of the project: what git tracks or would track, without what it ignores."""
import os
import subprocess
from pathlib import Path

SKIPPED_FOLDERS = {".git", "build", "__pycache__", ".cache"}


def paths(root):
    done = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode == 0:
        names = [name for name in done.stdout.decode().split("\0") if name]
    else:
        names = walk(root)  # an exported tree
    return sorted(name for name in set(names) if (Path(root) / name).is_file())


def walk(root):
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), root)


def sizes(root):
    return {name: (Path(root) / name).stat().st_size for name in paths(root)}


def texts(root):
    """{path: text} of every file that is UTF-8 without a zero byte."""
    files = {}
    for name in paths(root):
        data = (Path(root) / name).read_bytes()
        if b"\0" not in data:
            try:
                files[name] = data.decode()
            except UnicodeDecodeError:
                continue
    return files
