"""Gets the peer of `./dev bench peer`: llama-server of the release that libllama comes from.

Only the server's own sources are compiled (some two minutes on two cores) and linked against the
very libraries that this project uses, so that a comparison shows the servers and not their kernels.
It lies in the user's cache beside copies of the libraries: ggml looks for its back ends in the
folder of the program.
"""
import hashlib
import shutil
import time
from pathlib import Path

from dev import llama
from dev.common import ROOT, Failure, run_quiet, say

RECIPE = ROOT / "tools/dev/peer_server/CMakeLists.txt"
PROGRAM = "llama-server"


def ensure(given, choice, sources):
    """The path of llama-server: `given` if there is one, else made for `choice` (as in --llama)."""
    if given:
        path = Path(given).resolve()
        if not path.is_file():
            raise Failure(f"--peer takes the path of a llama-server; {path} is no file", 2)
        return path
    if choice == "system":
        raise Failure("with --llama system, name a llama-server with --peer PATH", 2)
    libraries = llama.ensure(choice, sources)
    recipe = hashlib.sha256(RECIPE.read_bytes()).hexdigest()
    origin = {"source": llama.SOURCE.integrity, "recipe": recipe, "libraries": str(libraries)}
    target = libraries.with_name(libraries.name + "-server")
    return llama.ensure_made(target, origin, lambda temporary, out: make(libraries, sources,
                                                                         temporary, out)) / PROGRAM


def make(libraries, sources, temporary, out):
    say(f"compiling llama-server {llama.VERSION}; about two minutes on two cores, once")
    started = time.monotonic()
    tree = llama.fetch_source(sources, temporary / "source", headers_only=False)
    shutil.copyfile(RECIPE, tree / "CMakeLists.txt")
    build = temporary / "build"
    run_quiet(["cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
               f"-DLIBRARIES={libraries / 'lib'}"])
    run_quiet(["cmake", "--build", build, "--target", PROGRAM])
    for path in sorted((libraries / "lib").iterdir()):
        shutil.copy2(path, out / path.name, follow_symlinks=False)
    shutil.copy2(build / "tools/server" / PROGRAM, out / PROGRAM)
    shutil.copyfile(tree / "LICENSE", out / "LICENSE.llama.cpp")
    say(f"llama-server is compiled ({time.monotonic() - started:.0f} s)")
