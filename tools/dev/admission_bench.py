"""`./dev bench admission`: everything that the page docs/measurements/admission_bench.md says.

The micro-benchmarks of src/admission and of the hooks, bench/door_bench.cc against the program in
processes of its own, and the count of system calls. Eight minutes on two cores.
"""
import json
import subprocess
from dataclasses import dataclass

from dev import build, measurement_page, model, syscalls, sysdeps
from dev.common import ROOT, Failure, say
from dev.measurement_page import number

PAGE = syscalls.PAGE
TARGETS = ["zerohop", "zh_admission_bench", "zh_app_bench", "zh_telemetry_bench", "zh_door_bench"]
REPETITIONS = 5


@dataclass
class Row:
    """One line of the table of micro-benchmarks."""
    label: str
    name: str              # of the benchmark
    goal_ns: float = None  # nothing: none
    counter: str = ""      # a counter of the benchmark instead of its time


ROWS = (
    Row("budget check: reserve and settle", "BM_BudgetCheck", 100),
    Row("… two threads on one budget", "BM_BudgetCheckShared/threads:2"),
    Row("rate check (GCRA)", "BM_GcraCheck", 100),
    Row("… that refuses", "BM_GcraRefusal"),
    Row("one output token against all limits of a key", "BM_MeterToken", 100),
    Row("key lookup among 1,000", "find_known/1000"),
    Row("… among 100,000", "find_known/100000"),
    Row("… of a key that nobody has", "find_unknown/1000"),
    Row("limits of a whole request, one budget", "BM_Request/all_limits:0"),
    Row("limits of a whole request, all at key and tenant", "BM_Request/all_limits:1"),
    Row("head to decision, p50", "BM_HeadToDecision/manual_time", 10_000, "p50_ns"),
    Row("head to decision, p99", "BM_HeadToDecision/manual_time", None, "p99_ns"),
    Row("head to refusal, unknown key, p50", "BM_HeadToRefusalOfKey/manual_time", None, "p50_ns"),
    Row("head to refusal, limit of a key, p50", "BM_HeadToRefusalByLimit/manual_time", None,
        "p50_ns"),
    Row("head to refusal, no permit, p50", "BM_HeadToRefusalWithoutPermit/manual_time", None,
        "p50_ns"),
    Row("all hooks of a request", "BM_AllHooksOfARequest"),
    Row("update of a counter", "BM_CounterAdd/real_time/threads:1", 20),
    Row("… two threads on one counter", "BM_CounterAdd/real_time/threads:2"),
    Row("update of a histogram", "BM_HistogramObserve/real_time/threads:1"),
    Row("metrics of an engine step of eight tokens", "BM_StepOfEight"),
    Row("record, counters, log line and history of a request",
        "BM_EndOfARequest/manual_time"),
    Row("page of `/metrics` with the series of 1,000 tenants", "BM_PageOfTenants/1000"),
)


def run_micro(program, pattern="."):
    """The results of one program: benchmark → list of values of its repetitions."""
    done = subprocess.run(
        [str(program), "--benchmark_format=json", f"--benchmark_repetitions={REPETITIONS}",
         "--benchmark_min_time=0.1", f"--benchmark_filter={pattern}"],
        check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT)
    if done.returncode != 0:
        raise Failure(f"{program.name} failed (exit code {done.returncode})")
    return repetitions_of(json.loads(done.stdout))


def repetitions_of(report):
    found = {}
    for entry in report["benchmarks"]:
        if entry.get("run_type") == "iteration":
            found.setdefault(entry["run_name"], []).append(entry)
    return found


def nanoseconds(entry, counter):
    if counter:
        return entry[counter]
    return entry["real_time"] * {"ns": 1, "us": 1e3, "ms": 1e6}[entry["time_unit"]]


def micro_section(found):
    lines = ["`zh_admission_bench`, `zh_app_bench` and `zh_telemetry_bench` (google/benchmark), "
             f"{REPETITIONS} repetitions: the median and the range. From head to decision is the "
             "real hook with 1,000 keys, a limit of every kind at key and tenant, limits of "
             "addresses, search for gateways, budgets journaled and a tier to ask for pressure; "
             "refusals include their answer.", "",
             "| | ns | goal |", "|---|---|---|"]
    for row in ROWS:
        entries = found.get(row.name)
        if not entries:
            raise Failure(f"no benchmark {row.name}")
        values = sorted(nanoseconds(entry, row.counter) for entry in entries)
        middle = values[len(values) // 2]
        goal = ""
        if row.goal_ns:
            verdict = "reached" if middle <= row.goal_ns else "**missed**"
            goal = f"≤ {number(row.goal_ns)}: {verdict}"
        lines.append(f"| {row.label} | {number(middle)} ({number(values[0])} to "
                     f"{number(values[-1])}) | {goal} |")
    return "\n".join(lines)


def run(args, sources):
    sysdeps.require(["build", "bench"], args.yes)
    model.ModelDownload(sources).start().wait()
    folder = build.build("bench", args.llama, sources, TARGETS)
    return measure(folder, args.rest)


def measure(folder, words):
    """All parts; `words` (names of scenarios of the door) leave the others out."""
    door = [str(folder / "bench/zh_door_bench"), "--report", str(PAGE), *words]
    code = subprocess.run(door, check=False, cwd=ROOT).returncode
    if code != 0 or words:
        return code
    say("micro-benchmarks")
    found = run_micro(folder / "src/zh_admission_bench")
    found.update(run_micro(folder / "src/zh_app_bench", "Head|Hooks|EndOfARequest"))
    found.update(run_micro(folder / "src/zh_telemetry_bench", "Counter|Histogram|Step|Tenants"))
    text = micro_section(found)
    print(text, flush=True)
    measurement_page.put_section(PAGE, "micro", text)
    try:
        syscalls.require_strace()
        syscalls.write_section(build.program(folder))
    except Failure as failure:
        say(f"no count of system calls: {failure}")
        measurement_page.put_section(PAGE, syscalls.SECTION, "Not counted: strace is not here, or "
                                     "must not trace.")
    return 0
