"""clang-format decides layout. Its versions differ, so one is fixed: 14, which both supported
systems have."""
import re
import shutil
import subprocess
from pathlib import Path

from dev.checks.finding import Finding
from dev.checks.memory import Memory, key_of
from dev.common import Failure, jobs

VERSION = "14"
GROUP = 16


def program():
    for name in (f"clang-format-{VERSION}", "clang-format"):
        if shutil.which(name):
            text = subprocess.run([name, "--version"], check=True, text=True,
                                  stdout=subprocess.PIPE).stdout
            if re.search(rf"version {VERSION}\.", text):
                return name
    raise Failure(f"clang-format {VERSION} is not installed", 2)


def sources(files):
    return sorted(path for path in files if path.endswith((".h", ".cc")))


def in_parallel(root, words, paths):
    """Runs the program over groups of `paths`, two groups at a time; returns its messages."""
    groups = [paths[i:i + GROUP] for i in range(0, len(paths), GROUP)]
    messages = ""
    for i in range(0, len(groups), jobs()):
        running = [subprocess.Popen([*words, *group], cwd=root, text=True, stderr=subprocess.PIPE)
                   for group in groups[i:i + jobs()]]
        messages += "".join(process.communicate()[1] for process in running)
    return messages


def check(root, files, build_folder):
    style = files[".clang-format"]
    memory = Memory(Path(build_folder) / "format-checked.json")
    keys = {path: key_of(VERSION, style, files[path]) for path in sources(files)}
    changed = [path for path in keys if keys[path] not in memory.good]
    messages = in_parallel(root, [program(), "--dry-run"], changed)
    first = {}
    for path, line in re.findall(r"^(\S+?):(\d+):\d+: ", messages, re.MULTILINE):
        first.setdefault(path, int(line))
    memory.keep(keys[path] for path in keys if path not in first)
    return [Finding(path, line, "not formatted; run ./dev check --fix")
            for path, line in first.items()]


def fix(root, files):
    in_parallel(root, [program(), "-i"], sources(files))
