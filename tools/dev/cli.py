"""The command line of ./dev: one function per subcommand."""
import argparse
import os
import random
import signal
import subprocess
import sys

from dev import (bench, build, bundle, clients, deploy_tools, llama, model, runner, sim_trace,
                 syscalls, sysdeps)
from dev.checks import all as checks
from dev.common import ROOT, Failure, say
from dev.tally import Tally

SANITIZERS = {"addr": "asan", "thread": "tsan", "ub": "ubsan"}


def parser():
    top = argparse.ArgumentParser(prog="./dev",
                                  description="Builds, runs, tests and checks Zerohop.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name, function, text):
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(function=function)
        command.add_argument("--yes", action="store_true",
                             help="install missing system packages without asking")
        command.add_argument("--llama", default="auto", metavar="HOW",
                             help="auto, prebuilt, source, system, or a folder (default: auto)")
        command.add_argument("--bundle", metavar="FILE",
                             help="take downloads from this file, written by ./dev bundle")
        return command

    add("run", do_run, "build the program and serve the default model; words after -- go to "
        "`zerohop serve`")
    command = add("build", do_build, "build the program at build/release/zerohop")
    command.add_argument("--preset", default="release", help="a preset of CMakePresets.json")
    command = add("test", do_test, "build and run every test")
    command.add_argument("name", nargs="?", default="", help="only tests with this in their name")
    command = add("check", do_check, "format, layers, tidy, headers and unit tests")
    command.add_argument("--fix", action="store_true", help="let clang-format change the files")
    command = add("bench", do_bench, "build and run the benchmarks; words after -- go to them")
    command.add_argument("name", nargs="?", default="", help="only programs of this name")
    command.add_argument("--peer", metavar="PATH", help="a llama-server for `bench peer` (default: "
                         "the pinned release, compiled once)")
    command = add("syscalls", do_syscalls, "count the system calls of a served request with strace")
    command.add_argument("--program", metavar="PATH", help="a zerohop (default: built here)")
    command = add("san", do_san, "run the compiled tests under a sanitizer")
    command.add_argument("kind", choices=sorted(SANITIZERS))
    command.add_argument("name", nargs="?", default="", help="only tests with this in their name")
    command = add("fuzz", do_fuzz, "fuzz under the address and undefined behaviour sanitizers")
    command.add_argument("target", nargs="?", default="", help="only targets of this name")
    command.add_argument("seconds", nargs="?", type=int, default=60, help="for each target")
    command.add_argument("--libfuzzer", action="store_true", help="use clang and libFuzzer")
    command.add_argument("--seed", type=int, help="repeat a run of the own driver")
    command = add("sim", do_sim, "run the simulation tests with one seed")
    command.add_argument("seed", type=int)
    command = add("sim-trace", do_sim_trace, "replay recorded traffic through the cache and the "
                  "engine; words after -- go to the program")
    command.add_argument("file", nargs="?", help="a Mooncake, Azure or VTC trace")
    command.add_argument("--cells", metavar="N", help="size of the prefix cache in tokens, or as "
                         "5%% of all different blocks of a Mooncake trace")
    command.add_argument("--all", action="store_true", help="every trace of ../shared/data/traces")
    command.add_argument("--write", action="store_true",
                         help="with --all: write docs/measurements/trace_sim.md")
    command = add("golden", do_golden, "run the tests that have golden files")
    command.add_argument("--update", action="store_true", help="rewrite the files instead")
    command = add("bundle", do_bundle, "write everything that is downloaded to one file")
    command.add_argument("file")
    add("llama", do_llama, "print the folder of libllama, made when it is not there")
    add("deps", do_deps, "install every system package that any subcommand needs")
    return top


def do_build(args, sources):
    sysdeps.require(["build"] + extra_groups(args.preset), args.yes)
    build.build(args.preset, args.llama, sources)
    return 0


def extra_groups(preset):
    if preset == "release":
        return []
    groups = {"bench": ["bench"], "libfuzzer": ["test", "libfuzzer"]}
    return groups.get(preset, ["test"])


def do_run(args, sources):
    sysdeps.require(["build"], args.yes)
    chosen = any(word.split("=")[0] in ("--model", "--config") for word in args.rest)
    download = None if chosen else model.ModelDownload(sources).start()
    folder = build.build("release", args.llama, sources, ["zerohop"])
    if download is not None:
        download.wait()
    args.become = [str(build.program(folder)), "serve", *args.rest]
    return 0


def do_test(args, sources):
    """The last line is the summary whatever happens, so that scripts can rely on it."""
    result = Tally()
    try:
        result = all_tests(args, sources)
    except Failure as failure:
        say(str(failure))
        result.failures.append("preparation: " + str(failure).splitlines()[0])
    return runner.report(result)


def all_tests(args, sources):
    if args.name == "deploy":  # needs nothing built
        return runner.deploy_tests(sources, deploy_tools.DeployTools(sources).start())
    sysdeps.require(["build", "test"], args.yes)
    download = model.ModelDownload(sources).start()
    if args.name in ("", "e2e", "checks"):
        return whole_groups(args, sources, download)
    folder = build.configure("relassert", args.llama, sources)
    request = runner.select(folder, args.name)
    build.build("relassert", args.llama, sources, request.targets)
    download.wait()
    result = runner.own_tests(args.name)
    result.add(runner.ctest(request))
    if result.passed + result.failed() == 0:
        libraries = clients.ClientLibraries(sources).start()
        tools = deploy_tools.DeployTools(sources).start()
        result.add(runner.end_to_end(runner.EndToEndRun(build.program(folder), sources, libraries,
                                                        tools, args.name)))
    return result


def whole_groups(args, sources, download):
    """All tests, or one of the groups `checks` and `e2e`."""
    name = args.name
    result = Tally()
    if name != "e2e":
        result.add(runner.own_tests())
        result.add(runner.tree_checks())
    if name == "checks":
        return result
    libraries = clients.ClientLibraries(sources).start()
    tools = deploy_tools.DeployTools(sources).start()
    targets = ["zerohop", "zh_fake_server"] if name == "e2e" else []
    folder = build.build("relassert", args.llama, sources, targets)
    download.wait()
    if name == "":
        result.add(runner.ctest(runner.CtestRun(folder)))
        result.add(runner.deploy_tests(sources, tools))
    result.add(runner.end_to_end(runner.EndToEndRun(build.program(folder), sources, libraries,
                                                    tools)))
    return result


def do_check(args, sources):
    sysdeps.require(["build", "test", "check"], args.yes)
    if args.fix:
        checks.fix_format(ROOT)
    folder = build.configure("relassert", args.llama, sources)
    good = checks.run_all(ROOT, folder)
    build.build("relassert", args.llama, sources)
    result = runner.own_tests()
    result.add(runner.ctest(runner.CtestRun(folder)))
    if not good:
        result.failures.append("checks")
    return runner.report(result)


def do_bench(args, sources):
    return bench.run(args, sources)


def do_syscalls(args, sources):
    return syscalls.run(args, sources)


def do_san(args, sources):
    sysdeps.require(["build", "test"], args.yes)
    model.ModelDownload(sources).start().wait()
    preset = SANITIZERS[args.kind]
    folder = build.configure(preset, args.llama, sources)
    request = runner.select(folder, args.name)
    build.build(preset, args.llama, sources, request.targets)
    request.environment = runner.sanitizer_environment()
    return runner.report(runner.ctest(request))


def fuzz_targets(name):
    """(target, corpus) of every fuzz target whose name has `name` in it."""
    for path in sorted((ROOT / "src").glob("*/*_fuzz.cc")):
        short = path.name.removesuffix("_fuzz.cc")
        target = f"zh_{path.parent.name}_{short}_fuzz"
        if name in target:
            yield target, ROOT / "tests/corpus" / short


def do_fuzz(args, sources):
    targets = list(fuzz_targets(args.target))
    if not targets:
        raise Failure("no fuzz target has that name")
    preset = "libfuzzer" if args.libfuzzer else "fuzz"
    sysdeps.require(["build", *extra_groups(preset)], args.yes)
    folder = build.build(preset, args.llama, sources, [target for target, _ in targets])
    if args.seed is None:
        args.seed = random.SystemRandom().randrange(1 << 31)
    environment = dict(os.environ, **runner.sanitizer_environment())
    failed = []
    for target, corpus in targets:
        say(f"{target}: {args.seconds} s, seed {args.seed}")
        words = fuzz_words(args, folder, target, corpus)
        if subprocess.run(words, check=False, env=environment, cwd=ROOT).returncode != 0:
            failed.append(target)
            say(f"{target} failed; its input lies in {folder}/failed/{target}*")
    return 1 if failed else 0


def fuzz_words(args, folder, target, corpus):
    """The command line of one fuzz target; both kinds of driver keep the input that fails."""
    program = str(folder / "src" / target)
    keep = folder / "failed" / target
    keep.parent.mkdir(exist_ok=True)
    if not args.libfuzzer:
        return [program, "--seconds", str(args.seconds), "--seed", str(args.seed),
                "--keep", str(keep), str(corpus)]
    grown = folder / "corpus" / target
    grown.mkdir(parents=True, exist_ok=True)
    words = [program, f"-max_total_time={args.seconds}", f"-artifact_prefix={keep}-", str(grown)]
    return words + ([str(corpus)] if corpus.is_dir() else [])


def compiled_tests(args, sources, programs, variables):
    """Runs the test programs that `programs` matches with environment variables set."""
    sysdeps.require(["build", "test"], args.yes)
    model.ModelDownload(sources).start().wait()
    folder = build.build("relassert", args.llama, sources)
    return runner.report(runner.ctest(runner.CtestRun(folder, programs, environment=variables)))


def do_sim(args, sources):
    return compiled_tests(args, sources, "^zh_sim_test$", {"ZEROHOP_SIM_SEED": str(args.seed)})


def do_sim_trace(args, sources):
    return sim_trace.run(args, sources)


def do_golden(args, sources):
    """Every test with a golden file obeys the variable; the others just run."""
    variables = {"ZEROHOP_GOLDEN_UPDATE": "1"} if args.update else {}
    return compiled_tests(args, sources, "_test$", variables)


def do_bundle(args, _):
    sysdeps.require(["build"], args.yes)
    bundle.write(args.file)
    return 0


def do_llama(args, sources):
    print(llama.ensure(args.llama, sources))
    return 0


def do_deps(args, _):
    sysdeps.require(list(sysdeps.GROUPS), args.yes)
    return 0


def main(words):
    words, rest = split_rest(words)
    args = parser().parse_args(words)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # tidy up, then end
    args.rest = rest
    args.become = []  # the command line that takes this process over when everything is prepared
    if rest and args.command not in ("run", "bench", "sim-trace"):
        say("only `run`, `bench` and `sim-trace` take words after --")
        return 2
    try:
        with bundle.sources(args.bundle) as sources:
            code = args.function(args, sources)
        if args.become:
            os.execv(args.become[0], args.become)
        return code
    except Failure as failure:
        say(str(failure))
        return failure.code
    except subprocess.CalledProcessError as error:
        return error.returncode
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130


def split_rest(words):
    if "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1:]
