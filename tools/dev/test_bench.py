import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from dev import bench, peer
from dev.common import Failure


class ChoosingPrograms(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in ("zh_server_bench", "zh_engine_bench", "zh_soak_bench", "zh_peer_bench"):
            (self.folder / name).touch()

    def chosen(self, name):
        return [path.name for path in bench.programs(self.folder, name)]

    def test_long_ones_run_only_by_name(self):
        self.assertEqual(self.chosen(""), ["zh_engine_bench", "zh_server_bench"])
        self.assertEqual(self.chosen("soak"), ["zh_soak_bench"])

    def test_long_ones_build_only_what_they_need(self):
        self.assertEqual(bench.targets("peer"), ["zerohop", "zh_peer_bench"])
        self.assertEqual(bench.targets("server"), [])
        self.assertEqual(bench.targets(""), [])

    def test_only_the_comparison_needs_a_peer(self):
        args = SimpleNamespace(peer="given", llama="auto")
        with mock.patch.object(peer, "ensure", return_value=Path("/a/llama-server")) as ensure:
            self.assertEqual(bench.words_for(Path("zh_soak_bench"), args, None), [])
            ensure.assert_not_called()
            words = bench.words_for(Path("zh_peer_bench"), args, None)
        self.assertEqual(words[:2], ["--peer", "/a/llama-server"])


class Peer(unittest.TestCase):
    def test_a_given_program_is_taken_as_it_is(self):
        with tempfile.NamedTemporaryFile() as program:
            self.assertEqual(peer.ensure(program.name, "auto", None), Path(program.name).resolve())

    def test_a_missing_one_is_named(self):
        with self.assertRaisesRegex(Failure, "/no/such is no file"):
            peer.ensure("/no/such", "auto", None)

    def test_system_libraries_have_no_pinned_peer(self):
        with self.assertRaisesRegex(Failure, "--peer"):
            peer.ensure(None, "system", None)


if __name__ == "__main__":
    unittest.main()
