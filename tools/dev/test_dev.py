import os
import struct
import tarfile
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from dev import bundle, cli, clients, elf, integrity, sources, sysdeps, tally
from dev.common import Failure
from dev.constrain_bench import run as constrain


def small_elf(run_path):
    """A 64-bit ELF file with one loaded segment and a run path, as small as it can be."""
    strings = b"\0" + run_path + b"\0"
    headers, dynamic = 64 + 2 * 56, 3 * 16
    table = headers + dynamic
    header = b"\x7fELF\x02\x01" + b"\0" * 26 + struct.pack("<Q", 64) + b"\0" * 14
    header += struct.pack("<HH", 56, 2) + b"\0" * 6
    end = table + len(strings)
    load = struct.pack("<IIQQQQQQ", elf.PT_LOAD, 4, 0, 0x1000, 0x1000, end, end, 1)
    dyn = struct.pack("<IIQQQQQQ", elf.PT_DYNAMIC, 4, headers, 0x1000 + headers, 0, dynamic,
                      dynamic, 1)
    entries = struct.pack("<QQQQQQ", elf.DT_STRTAB, 0x1000 + table, elf.DT_RUNPATH, 1, 0, 0)
    return header + load + dyn + entries + strings


class Temporary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class RunPath(Temporary):
    def test_an_empty_entry_at_the_end_is_cut_in_place(self):
        path = self.folder / "lib.so"
        path.write_bytes(small_elf(b"$ORIGIN:"))
        self.assertTrue(elf.remove_empty_entries(path))
        data = path.read_bytes()
        self.assertEqual(elf.run_path(data)[1], b"$ORIGIN")
        self.assertEqual(len(data), len(small_elf(b"$ORIGIN:")))
        self.assertFalse(elf.remove_empty_entries(path))

    def test_other_files_are_left_alone(self):
        path = self.folder / "text"
        path.write_bytes(b"no library:")
        self.assertFalse(elf.remove_empty_entries(path))
        self.assertEqual(path.read_bytes(), b"no library:")


class Integrity(Temporary):
    def test_a_wrong_file_is_refused(self):
        path = self.folder / "a"
        path.write_bytes(b"abc")
        good = ("sha512-3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4"
                "qmslPpUyknw==")
        integrity.require_sha512(path, good)
        path.write_bytes(b"abd")
        with self.assertRaises(Failure):
            integrity.require_sha512(path, good)

    def test_a_changed_missing_or_foreign_copy_is_noticed(self):
        path = self.folder / "lib" / "a"
        path.parent.mkdir()
        path.write_bytes(b"abc")
        integrity.write_manifest(self.folder, {"from": 1})
        self.assertEqual(integrity.manifest_fault(self.folder, {"from": 1}), "")
        self.assertNotEqual(integrity.manifest_fault(self.folder, {"from": 2}), "")
        os.utime(path, ns=(1, 1))
        self.assertEqual(integrity.manifest_fault(self.folder, {"from": 1}), "")
        path.write_bytes(b"abd")
        self.assertIn("changed", integrity.manifest_fault(self.folder, {"from": 1}))
        path.unlink()
        self.assertIn("missing", integrity.manifest_fault(self.folder, {"from": 1}))


class Unpack(Temporary):
    def archive(self, name, kind=tarfile.REGTYPE):
        path = self.folder / "a.tar"
        with tarfile.open(path, "w") as archive:
            member = tarfile.TarInfo(name)
            member.type = kind
            member.linkname = "/etc/passwd"
            archive.addfile(member)
        return path

    def test_plain_files_come_out(self):
        sources.unpack(self.archive("p/a"), self.folder / "out")
        self.assertTrue((self.folder / "out/p/a").is_file())

    def test_files_outside_and_links_are_refused(self):
        for name, kind in (("../a", tarfile.REGTYPE), ("/a", tarfile.REGTYPE),
                           ("a", tarfile.SYMTYPE)):
            with self.subTest(name=name, kind=kind), self.assertRaises(Failure):
                sources.unpack(self.archive(name, kind), self.folder / "out")

    def test_a_broken_archive_is_a_failure_with_a_message(self):
        path = self.folder / "a.tar"
        path.write_bytes(b"nothing")
        with self.assertRaises(Failure):
            sources.unpack(path, self.folder / "out")


class Bundle(Temporary):
    def test_every_download_of_tests_and_benchmarks_is_in_it(self):
        with mock.patch.object(bundle, "run_quiet") as run_quiet, \
                mock.patch.object(bundle.clients, "node"), mock.patch.object(bundle, "say"), \
                mock.patch.object(bundle.clients, "npm_ci"):
            bundle.collect_packages(self.folder, None)
        words = [str(word) for call in run_quiet.call_args_list for word in call.args[0]]
        wanted = [*clients.requirement_files(), constrain.REQUIREMENTS]
        self.assertLessEqual({str(path) for path in wanted}, set(words))
        names = [package.name for package in bundle.NPM_PACKAGES]
        self.assertIn("llama3-tokenizer-js", names)
        self.assertEqual(len(names), len(set(names)))


GOOGLETEST = """{"testsuites": [{"name": "Queue", "testsuite": [
  {"name": "A", "status": "RUN", "result": "COMPLETED"},
  {"name": "B", "status": "RUN", "result": "COMPLETED", "failures": [{"failure": "x"}]},
  {"name": "C", "status": "RUN", "result": "SKIPPED"},
  {"name": "D", "status": "NOTRUN", "result": "SUPPRESSED"}]}]}"""


class Tally(Temporary):
    def test_googletest_reports_are_counted(self):
        result = tally.from_googletest(GOOGLETEST)
        self.assertEqual(result.passed, 1)
        self.assertEqual((result.failures, result.skips), (["Queue.B"], ["Queue.C"]))

    def test_skips_are_failures_in_ci_only(self):
        result = tally.from_googletest(GOOGLETEST)
        with mock.patch.dict(os.environ, {"CI": ""}):
            self.assertEqual(result.summary(), "1 passed, 1 failed")
        with mock.patch.dict(os.environ, {"CI": "true"}):
            self.assertEqual(result.summary(), "1 passed, 2 failed")

    def test_a_program_that_crashed_is_a_failure(self):
        (self.folder / "good_test.json").write_text(GOOGLETEST.replace('"failures"', '"x"'))
        junit = self.folder / "ctest.xml"
        junit.write_text('<testsuite><testcase name="good_test" status="run"/>'
                         '<testcase name="crashed_test" status="fail"/>'
                         '<testcase name="x_fuzz" status="run"/></testsuite>')
        result = tally.from_ctest(junit, self.folder)
        self.assertEqual((result.passed, result.failures), (3, ["crashed_test"]))

    def test_a_program_that_fails_after_its_tests_is_a_failure(self):
        (self.folder / "leaky.json").write_text(GOOGLETEST.replace('"failures"', '"x"'))
        junit = self.folder / "ctest.xml"
        junit.write_text('<testsuite><testcase name="leaky" status="fail"/></testsuite>')
        self.assertEqual(tally.from_ctest(junit, self.folder).failures, ["leaky"])

    def test_lines_of_a_script_are_counted(self):
        result = tally.from_lines(["ok a\n", "FAIL b\n", "skip c\n", "noise\n"], 1, "x")
        self.assertEqual((result.passed, result.failures, result.skips), (1, ["b"], ["c"]))

    def test_a_script_that_dies_is_a_failure(self):
        self.assertEqual(tally.from_lines(["ok a\n"], 3, "x").failures, ["x (exit code 3)"])


class SystemPackages(unittest.TestCase):
    def test_boost_is_named_by_release(self):
        self.assertEqual(sysdeps.boost_packages("bookworm"),
                         ["libboost1.81-dev", "libboost-json1.81-dev"])
        self.assertEqual(sysdeps.boost_packages("noble")[0], "libboost1.83-dev")
        self.assertEqual(sysdeps.boost_packages("forky")[0], "libboost-dev")

    def test_a_browser_is_wanted_where_there_is_none_and_one_can_be_had(self):
        with mock.patch.object(sysdeps.shutil, "which", return_value=None):
            self.assertEqual(sysdeps.browser_packages("debian"), ["chromium"])
            self.assertEqual(sysdeps.browser_packages("ubuntu"), [])
        with mock.patch.object(sysdeps.shutil, "which", lambda name: name == "google-chrome"):
            self.assertEqual(sysdeps.browser_packages("debian"), [])

    def test_without_root_and_sudo_the_command_is_told(self):
        with mock.patch.object(sysdeps, "missing", return_value=["libx-dev"]), \
                mock.patch.object(sysdeps, "privilege", return_value=None), \
                mock.patch.object(sysdeps, "say"), self.assertRaises(Failure) as caught:
            sysdeps.require(["build"], yes=True)
        self.assertEqual(caught.exception.code, 2)
        self.assertIn("apt-get install -y --no-install-recommends libx-dev", str(caught.exception))


class CommandLine(unittest.TestCase):
    def test_words_after_the_dashes_are_left_to_the_program(self):
        self.assertEqual(cli.split_rest(["run", "--yes", "--", "--port", "9"]),
                         (["run", "--yes"], ["--port", "9"]))
        self.assertEqual(cli.split_rest(["test", "a"]), (["test", "a"], []))

    def test_every_command_has_a_function(self):
        for words in (["run"], ["build"], ["test", "x"], ["check", "--fix"], ["bench"],
                      ["san", "addr"], ["fuzz", "x", "5"], ["sim", "7"], ["golden", "--update"],
                      ["bundle", "f"], ["llama"], ["deps"]):
            self.assertTrue(callable(cli.parser().parse_args(words).function))


if __name__ == "__main__":
    unittest.main()
