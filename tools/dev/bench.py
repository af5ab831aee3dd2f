"""Runs the benchmark programs: all short ones, or those of a name."""
import subprocess

from dev import admission_bench, build, model, peer, sysdeps
from dev.chain_bench import run as chain
from dev.common import ROOT, Failure
from dev.constrain_bench import run as constrain

# They take long or need another server, so they run only when they are asked for by name.
BY_NAME_ONLY = ("peer", "soak", "memcap", "masks", "door")
# These are no programs: they run several things and write one page.
COLLECTIONS = {"constrain": constrain.run, "admission": admission_bench.run,
               "chain": chain.run}
PEER_REPORT = ROOT / "docs/measurements/peer_bench.md"


def programs(folder, name):
    """The benchmark programs under `folder` whose name has `name` in it."""
    found = [path for path in sorted(folder.rglob("zh_*_bench"))
             if path.is_file() and name in path.name]
    if name:
        return found
    return [path for path in found if path.name not in by_name_only()]


def by_name_only():
    return {f"zh_{name}_bench" for name in BY_NAME_ONLY}


def targets(name):
    """What to build for `name`; nothing: everything."""
    return ["zerohop", f"zh_{name}_bench"] if name in BY_NAME_ONLY else []


def words_for(path, args, sources):
    """What a program is told before the user's own words."""
    if path.name != "zh_peer_bench":
        return []
    return ["--peer", str(peer.ensure(args.peer, args.llama, sources)),
            "--report", str(PEER_REPORT)]


def run(args, sources):
    if args.name in COLLECTIONS:
        return COLLECTIONS[args.name](args, sources)
    sysdeps.require(["build", "bench"], args.yes)
    model.ModelDownload(sources).start().wait()
    folder = build.build("bench", args.llama, sources, targets(args.name))
    chosen = programs(folder, args.name)
    if not chosen:
        raise Failure("no benchmark has that name")
    for path in chosen:
        words = [str(path), *words_for(path, args, sources), *args.rest]
        code = subprocess.run(words, check=False, cwd=ROOT).returncode
        if code != 0:
            return code
    return 0
