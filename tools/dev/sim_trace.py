"""Replays recorded traffic through the prefix cache and the engine (bench/trace_sim)."""
import subprocess

from dev import build, sysdeps
from dev.common import ROOT, Failure

TRACES = ROOT.parent / "shared/data/traces"
REPORT = ROOT / "docs/measurements/trace_sim.md"
BAD_INPUT = 2


def words_for(args):
    """What the program is told; raises Failure for a command line that makes no sense."""
    if args.all == bool(args.file):
        raise Failure("sim-trace needs the file of a trace, or --all", BAD_INPUT)
    if args.write and not args.all:
        raise Failure("--write goes with --all", BAD_INPUT)
    if not args.all:
        return [args.file] + (["--cells", args.cells] if args.cells else []) + args.rest
    if not TRACES.is_dir():
        raise Failure(f"the traces are not here: {TRACES} is no folder", BAD_INPUT)
    words = ["--all", "--folder", str(TRACES)]
    return words + (["--write", str(REPORT)] if args.write else []) + args.rest


def run(args, sources):
    words = words_for(args)
    sysdeps.require(["build", "bench"], args.yes)
    folder = build.build("bench", args.llama, sources, ["zh_sim_trace"])
    program = folder / "bench/trace_sim/zh_sim_trace"
    return subprocess.run([str(program), *words], check=False).returncode
