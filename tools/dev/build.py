"""Configures and compiles a preset. A build that has nothing to do costs a fraction of a second."""
import hashlib
import json

from dev import llama
from dev.common import ROOT, Failure, build_dir, locked, run

STAMP = ".dev-configured"


def configured_as(preset, arguments):
    """What the stamp of a configured build folder must say; CMake itself watches its own files."""
    presets = (ROOT / "CMakePresets.json").read_bytes()
    return json.dumps({"preset": preset, "arguments": arguments,
                       "presets": hashlib.sha256(presets).hexdigest()})


def configure(preset, llama_choice, sources):
    arguments = llama.cmake_arguments(llama_choice, sources)
    folder = build_dir(preset)
    stamp = folder / STAMP
    wanted = configured_as(preset, arguments)
    current = stamp.read_text(encoding="utf-8") if stamp.exists() else ""
    if current == wanted and (folder / "build.ninja").exists():
        return folder
    stamp.unlink(missing_ok=True)
    run(["cmake", "--preset", preset, *arguments], cwd=ROOT)
    stamp.write_text(wanted, encoding="utf-8")
    return folder


def build(preset, llama_choice, sources, targets=()):
    """Builds `targets` of `preset` (all when none are named) and returns the build folder."""
    with locked(ROOT / "build" / f".{preset}.lock"):
        folder = configure(preset, llama_choice, sources)
        chosen = ["--target", *targets] if targets else []
        run(["cmake", "--build", folder, *chosen])
    return folder


def program(folder):
    path = folder / "zerohop"
    if not path.exists():
        raise Failure(f"{path} was not built")
    return path
