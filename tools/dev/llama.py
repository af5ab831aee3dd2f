"""Gets libllama into the user's cache: prebuilt, compiled from source, or from a given folder.

The result is always a folder with include/ (llama.h, ggml*.h), common/ (chat.h …) and lib/ (the
shared libraries), made in a temporary place and renamed, so that a half-made one never counts.
"""
import hashlib
import os
import platform
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dev.common import Failure, cache_dir, locked, put_in_place, run, run_quiet, say, scratch
from dev.elf import remove_empty_entries
from dev.integrity import manifest_fault, write_manifest
from dev.sources import NpmPackage, unpack

VERSION = "0.5.0"

# The sources and headers of the release, as a git bundle inside this package.
SOURCE = NpmPackage(
    "node-llama-cpp", "3.22.1",
    "sha512-bltIipuWmc123H7tMIgDGKSsSrhmhlQYeVUC48XTjVW7XGJJiJJyCdlTMzQ/LiWoPkGDpcL4FviDpgw7qfTiDw==")
SOURCE_BUNDLE = "package/llama/gitRelease.bundle"

# The libraries, by platform. Only packages whose content was looked at are pinned.
PREBUILT = {
    "linux-x64": NpmPackage(
        "@node-llama-cpp/linux-x64", "3.22.1",
        "sha512-5uCCDNqWCNfaAm8aR/Uzxbo4HBpKgNF91kCHPepKhgMgV2OAmatoefbOlMihsqCiH2Od35E/eUHQCFbfRBJuOg=="),
    "linux-arm64": NpmPackage(
        "@node-llama-cpp/linux-arm64", "3.22.1",
        "sha512-W+7naKCXX9/eEjjFmRS8vvx91QyLXDbeFxexZc3bh/PtQABZgmRL3C0AtYYXn4YGTj/3Qor4lWZn2tpjZFPLdQ=="),
}

MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}

# Without OpenMP, as the prebuilt libraries are: with it, attached thread pools are ignored.
SOURCE_FLAGS = [
    "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=ON", "-DLLAMA_BUILD_COMMON=ON",
    "-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF", "-DLLAMA_BUILD_TOOLS=OFF",
    "-DLLAMA_BUILD_SERVER=OFF", "-DLLAMA_BUILD_APP=OFF", "-DLLAMA_OPENSSL=OFF",
    "-DGGML_NATIVE=ON", "-DGGML_OPENMP=OFF", "-DCMAKE_INSTALL_RPATH=$ORIGIN",
    "-DCMAKE_INSTALL_LIBDIR=lib"]


def platform_name():
    machine = platform.machine().lower()
    system = {"Linux": "linux", "Darwin": "mac"}.get(platform.system(), platform.system().lower())
    return f"{system}-{MACHINES.get(machine, machine)}"


def cmake_arguments(choice, sources):
    """What CMake has to be told for `choice`: auto, prebuilt, source, system or a folder."""
    if choice == "system":
        return ["-DZEROHOP_LLAMA=system", "-DZEROHOP_LLAMA_DIR="]
    return [f"-DZEROHOP_LLAMA_DIR={ensure(choice, sources)}"]


def ensure(choice, sources):
    """The folder of libllama for `choice`, made when it is not there."""
    if choice == "auto":
        choice = "prebuilt" if platform_name() in PREBUILT else "source"
    if choice == "prebuilt":
        return ensure_prebuilt(sources)
    if choice == "source":
        return ensure_source(sources)
    folder = Path(choice).resolve()
    if not (folder / "include/llama.h").is_file():
        raise Failure(f"--llama takes auto, prebuilt, source, system or a folder with "
                      f"include/llama.h; {folder} has none", 2)
    return folder


def ensure_made(target, origin, make):
    """Calls make(temporary folder) unless `target` is as recorded. Returns `target`."""
    if not manifest_fault(target, origin):
        return target
    with locked(target.parent / ".lock"):
        fault = manifest_fault(target, origin)
        if not fault:
            return target
        if target.exists():
            say(f"making {target} anew: {fault}")
        with scratch(target.parent) as temporary:
            out = temporary / "out"
            out.mkdir()
            make(temporary, out)
            write_manifest(out, origin)
            put_in_place(out, target)
    return target


def ensure_prebuilt(sources):
    name = platform_name()
    package = PREBUILT.get(name)
    if package is None:
        raise Failure(f"there is no pinned prebuilt libllama for {name}; use --llama source", 2)
    target = cache_dir() / "llama" / f"{VERSION}-{name}"
    origin = {"libraries": package.integrity, "headers": SOURCE.integrity}

    def make(temporary, out):
        say(f"getting libllama {VERSION} for {name} (46 MB)")
        with ThreadPoolExecutor(2) as pool:
            libraries = pool.submit(fetch_npm, sources, package, temporary / "libraries")
            tree = pool.submit(fetch_source, sources, temporary / "source", headers_only=True)
            install_libraries(libraries.result() / "package", out, f"bins/{name}")
            install_headers(tree.result(), out)

    return ensure_made(target, origin, make)


def fetch_npm(sources, package, folder):
    folder.mkdir()
    archive = sources.npm(package, folder)
    unpack(archive, folder)
    return folder


def fetch_source(sources, folder, headers_only):
    """The work tree of the release, or only the parts of it that hold headers."""
    packed = fetch_npm(sources, SOURCE, folder)
    tree = folder / "tree"
    run_quiet(["git", "clone", "-q", "--no-checkout", packed / SOURCE_BUNDLE, tree])
    parts = ["include", "ggml/include", "common", "LICENSE"] if headers_only else ["."]
    run_quiet(["git", "-C", tree, "checkout", "-q", "HEAD", "--", *parts])
    return tree


def install_libraries(package, out, folder):
    (out / "lib").mkdir()
    found = sorted((package / folder).glob("*.so")) + sorted((package / folder).glob("*.dylib"))
    if not found:
        raise Failure(f"no libraries under {folder} of the package")
    for path in found:
        copy = out / "lib" / path.name
        shutil.copyfile(path, copy)
        copy.chmod(0o644)
        remove_empty_entries(copy)
    shutil.copyfile(package / "LICENSE", out / "LICENSE.node-llama-cpp")


def install_headers(tree, out):
    (out / "include").mkdir()
    for path in [*tree.glob("include/*.h"), *tree.glob("ggml/include/*.h")]:
        shutil.copyfile(path, out / "include" / path.name)
    for path in tree.glob("common/**/*.h"):
        copy = out / "common" / path.relative_to(tree / "common")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    shutil.copyfile(tree / "LICENSE", out / "LICENSE.llama.cpp")


def cpu_flags():
    """The instruction sets of this processor: a native build must not be used by another one."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as handle:
            return next((line for line in handle if line.startswith(("flags", "Features"))), "")
    except OSError:
        return platform.processor()


def ensure_source(sources):
    """Compiles the release. ZEROHOP_LLAMA_CMAKE adds flags, for example -DGGML_CUDA=ON."""
    flags = [*SOURCE_FLAGS, *os.environ.get("ZEROHOP_LLAMA_CMAKE", "").split()]
    origin = {"source": SOURCE.integrity, "flags": flags, "cpu": cpu_flags()}
    key = hashlib.sha256(repr(sorted(origin.items())).encode()).hexdigest()[:10]
    target = cache_dir() / "llama" / f"{VERSION}-source-{key}"

    def make(temporary, out):
        say(f"compiling libllama {VERSION}; about 10 minutes on two cores, once")
        started = time.monotonic()
        tree = fetch_source(sources, temporary / "source", headers_only=False)
        build = temporary / "build"
        prefix = temporary / "prefix"
        run(["cmake", "-S", tree, "-B", build, "-G", "Ninja", *flags,
             f"-DCMAKE_INSTALL_PREFIX={prefix}"])
        run(["cmake", "--build", build])
        run_quiet(["cmake", "--install", build])
        (out / "lib").mkdir()
        for path in sorted(prefix.glob("lib/lib*.so*")):
            shutil.copy2(path, out / "lib" / path.name, follow_symlinks=False)
        install_headers(tree, out)
        say(f"libllama is compiled ({time.monotonic() - started:.0f} s)")

    return ensure_made(target, origin, make)
