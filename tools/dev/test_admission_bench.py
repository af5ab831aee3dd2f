import tempfile
import unittest
from collections import Counter
from pathlib import Path
from unittest import mock

from dev import admission_bench, measurement_page, syscalls
from dev.common import Failure


class Sections(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page = Path(folder.name) / "page.md"

    def put(self, name, text):
        measurement_page.put_section(self.page, name, text)
        return self.page.read_text(encoding="utf-8")

    def test_a_new_one_comes_at_the_end_and_an_old_one_is_replaced_in_place(self):
        self.page.write_text("# Title\n\nHead.\n\n## a\n\nold\n\n## b\n\nkept\n", encoding="utf-8")
        self.assertEqual(self.put("c", "last"),
                         "# Title\n\nHead.\n\n## a\n\nold\n\n## b\n\nkept\n\n## c\n\nlast\n")
        self.assertEqual(self.put("a", "new"),
                         "# Title\n\nHead.\n\n## a\n\nnew\n\n## b\n\nkept\n\n## c\n\nlast\n")

    def test_a_page_is_made_where_there_is_none(self):
        self.assertEqual(self.put("a", "text"), "# Measurements\n\n## a\n\ntext\n")


def entry(name, **fields):
    return {"run_name": name, "run_type": "iteration", "real_time": 50, "time_unit": "ns", **fields}


class MicroBenchmarks(unittest.TestCase):
    def found(self, **changes):
        entries = [entry(row.name, p50_ns=4_000, p99_ns=9_000) for row in admission_bench.ROWS]
        report = {"benchmarks": entries + [{"run_name": "x", "run_type": "aggregate"}]}
        found = admission_bench.repetitions_of(report)
        return {**found, **changes}

    def test_the_median_is_held_against_its_goal(self):
        slow = [entry("BM_BudgetCheck", real_time=time) for time in (90, 120, 130)]
        text = admission_bench.micro_section(self.found(BM_BudgetCheck=slow))
        self.assertIn("| 120 (90.0 to 130) | ≤ 100: **missed** |", text)
        self.assertIn("| rate check (GCRA) | 50.0 (50.0 to 50.0) | ≤ 100: reached |", text)
        self.assertIn("| head to decision, p50 | 4000 (4000 to 4000) | ≤ 10000: reached |", text)

    def test_microseconds_are_read_as_such(self):
        long = entry("x", real_time=2.5, time_unit="us")
        self.assertEqual(admission_bench.nanoseconds(long, ""), 2500)

    def test_a_benchmark_that_is_gone_is_named(self):
        found = self.found()
        del found["BM_GcraCheck"]
        with self.assertRaisesRegex(Failure, "BM_GcraCheck"):
            admission_bench.micro_section(found)


LINES = """7 1700000000.1 recvfrom(9, "POST /v1 (x) write(", 2048, 0, NULL, NULL) = 314
7 1700000000.2 futex(0x1, FUTEX_WAIT <unfinished ...>
8 1700000000.3 epoll_ctl(4, EPOLL_CTL_MOD, 3, {events=EPOLLIN}) = 0
7 1700000000.4 <... futex resumed>) = 0
9 1700000000.5 getrandom("x", 64, 0) = 64
7 1700000000.6 sendmsg(9, {msg_name=NULL}, MSG_NOSIGNAL) = 300
7 1700000000.7 --- SIGINT {si_signo=SIGINT} ---
""".splitlines()


class SystemCalls(unittest.TestCase):
    def count(self):
        return syscalls.count_calls(LINES, 7, {7: "zerohop", 8: "engine", 9: "zerohop"})

    def test_a_call_counts_once_for_the_thread_that_makes_it(self):
        self.assertEqual(self.count(), Counter({
            ("I/O", "recvfrom"): 1, ("I/O", "futex"): 1, ("I/O", "sendmsg"): 1,
            ("engine", "epoll_ctl"): 1, ("workers", "getrandom"): 1}))

    def test_a_burst_is_a_wake_a_return_and_a_write(self):
        trace = syscalls.Trace(1, self.count())
        self.assertEqual((trace.total(), trace.in_bursts()), (5, 3))

    def test_the_end_of_an_answer_is_found_by_length_and_by_last_chunk(self):
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"
        self.assertFalse(syscalls.is_whole(head + b"ab"))
        self.assertTrue(syscalls.is_whole(head + b"abc"))
        chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n"
        self.assertFalse(syscalls.is_whole(chunked))
        self.assertTrue(syscalls.is_whole(chunked + b"0\r\n\r\n"))

    def test_without_strace_it_says_what_to_install(self):
        with mock.patch.object(syscalls.shutil, "which", return_value=None):
            with self.assertRaisesRegex(Failure, "apt-get install strace"):
                syscalls.require_strace()


if __name__ == "__main__":
    unittest.main()
