"""Every header compiles alone. What was found good is remembered by a hash of the header and all
project headers that it reaches, so that only changes cost time."""
import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dev.checks.cpp_text import includes
from dev.checks.finding import Finding
from dev.checks.memory import Memory, key_of
from dev.common import jobs

FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-x", "c++", "-"]


def reached(path, files, seen):
    """Adds `path` and every project header that it includes, directly or not, to `seen`."""
    if path in seen or path not in files:
        return
    seen.add(path)
    for _, name, _ in includes(files[path]):
        reached(f"src/{name}", files, seen)


def key(path, files, command):
    seen = set()
    reached(path, files, seen)
    return key_of(command, sorted((name, files[name]) for name in seen))


def include_flags(build_folder):
    """The folders of all compile commands, as flags."""
    flags = []
    database = json.loads((Path(build_folder) / "compile_commands.json").read_text())
    for entry in database:
        for kind, folder in re.findall(r"(?:^|\s)(-I|-isystem)\s*(\S+)", entry["command"]):
            if (kind, folder) not in flags:
                flags.append((kind, folder))
    return [word for pair in sorted(flags) for word in pair]


def compile_alone(path, command, root):
    text = f'#include "{path.removeprefix("src/")}"\n'
    done = subprocess.run(command, input=text, check=False, text=True, cwd=root,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return "" if done.returncode == 0 else done.stderr


def check(root, files, build_folder):
    compiler = subprocess.run(["g++", "-dumpfullversion"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.strip()
    command = ["g++", *include_flags(build_folder), *FLAGS]
    memory = Memory(Path(build_folder) / "headers-checked.json")
    headers = {path: key(path, files, [compiler, *command]) for path in files
               if path.startswith("src/") and path.endswith(".h")}
    open_ones = [path for path in headers if headers[path] not in memory.good]
    with ThreadPoolExecutor(jobs()) as pool:
        errors = list(pool.map(lambda path: compile_alone(path, command, root), open_ones))
    faulty = dict(zip(open_ones, errors))
    memory.keep(headers[path] for path in headers if not faulty.get(path))
    return [Finding(path, 1, "does not compile alone:\n" + first_lines(text))
            for path, text in faulty.items() if text]


def first_lines(text):
    return "\n".join(text.splitlines()[:6])
