"""The tools that counting needs: Debian's compilers and emulator, LiteRT's library, and two small programs.

The library is extracted from its wheel, and the programs are built, once; a cache folder keeps them.
"""

import dataclasses
import functools
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

from hsvit_runtime import files
from hsvit_runtime.errors import FileError

RUNTIME = "ai-edge-litert"
VERSION = "2.3.0"
_WHEEL_SHA256 = "853fc608f96da87bd5f3458465dfb9abbf18d5ae6b94eceacead407146f175ae"
_WHEEL_KIND = ("--python-version=3.11", "--implementation=cp", "--platform=manylinux_2_27_aarch64")
_LIBRARY = "libLiteRt.so"

_HERE = pathlib.Path(__file__).parent
_GCC, _ARM_GCC, _QEMU = "gcc", "aarch64-linux-gnu-gcc", "qemu-aarch64"
# Debian's package of each program, and of a file that the program must find
_PACKAGES = {_GCC: "gcc", _ARM_GCC: "gcc-aarch64-linux-gnu", _QEMU: "qemu-user"}
_FILES = {
    (_GCC, "crt1.o"): "libc6-dev",
    (_ARM_GCC, "crt1.o"): "libc6-dev-arm64-cross",
    (_ARM_GCC, "libstdc++.so.6"): "libstdc++6-arm64-cross",
}
_FLAGS = ("-O2", "-Wall", "-Wextra", "-DMARK=9999")  # a system call number that no kernel has


@dataclasses.dataclass(frozen=True)
class Tools:
    """Paths of the tools.

    Attributes:
        emulator: path of QEMU for programs of 64-bit ARM.
        counter: path of its plugin.
        runner: path of the ARM program that runs a model.
        libraries: path of the folder of ARM's C and C++ libraries.
    """

    emulator: pathlib.Path
    counter: pathlib.Path
    runner: pathlib.Path
    libraries: pathlib.Path


def missing_packages():
    """Debian packages that are not installed: list of str."""
    programs = [package for program, package in _PACKAGES.items() if shutil.which(program) is None]
    found = [
        package
        for (program, name), package in _FILES.items()
        if shutil.which(program) is not None and not _found(program, name).is_absolute()
    ]
    return programs + found


def prepare(cache=None):
    """Fetches and builds what is not in the cache yet.

    Args:
        cache: path of a folder; `hsvit_keras/arm_cost` in the user's cache folder by default.

    Returns:
        `Tools`.

    Raises:
        OSError: a Debian package is missing, or the library cannot be fetched.
    """
    if missing := missing_packages():
        raise FileError(
            f"counting needs programs that are missing; on Debian: apt-get install {' '.join(missing)}"
        )
    cache = pathlib.Path(cache or _default_cache()).resolve()
    cache.mkdir(parents=True, exist_ok=True)
    library = _library(cache)
    find_library = f"-Wl,--allow-shlib-undefined,-rpath,$ORIGIN/{library.parent.name}"
    return Tools(
        emulator=pathlib.Path(shutil.which(_QEMU)),
        counter=_build(cache, "counter.c", ".so", _GCC, "-fPIC", "-shared"),
        runner=_build(cache, "runner.c", "", _ARM_GCC, str(library), find_library),
        libraries=_found(_ARM_GCC, "libstdc++.so.6").resolve().parent,
    )


def _default_cache():
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(home, "hsvit_keras", "arm_cost")


@functools.cache
def _found(compiler, name):
    """Path of a file that a compiler finds; a relative path if it does not find it."""
    done = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return pathlib.Path(done.stdout.strip())


def _library(cache):
    """The path of LiteRT's library for ARM."""
    library = cache / f"{RUNTIME}-{VERSION}" / _LIBRARY
    if not library.exists():
        print(f"fetching {RUNTIME} {VERSION} for ARM", file=sys.stderr)
        library.parent.mkdir(exist_ok=True)
        with (
            tempfile.TemporaryDirectory() as folder,
            zipfile.ZipFile(_wheel(pathlib.Path(folder))) as wheel,
            files.replacing(library) as temporary,
        ):
            temporary.write_bytes(wheel.read(f"ai_edge_litert/{_LIBRARY}"))
    return library


def _wheel(folder):
    """The path of the wheel, fetched into `folder` by pip, which checks its hash and needs no ARM machine."""
    requirement = folder / "requirement.txt"
    requirement.write_text(f"{RUNTIME}=={VERSION} --hash=sha256:{_WHEEL_SHA256}\n")
    options = [
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--only-binary=:all:",
        "--require-hashes",
    ]
    command = [sys.executable, "-m", "pip", "download", *options, *_WHEEL_KIND]
    command += [f"--dest={folder}", f"--requirement={requirement}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        problem = " ".join(done.stderr.split())[-300:]
        raise FileError(f"pip cannot fetch {RUNTIME} {VERSION} for ARM: {problem}")
    return next(folder.glob("*.whl"))


def _build(cache, source, suffix, compiler, *options):
    """Path of a program; its name holds a hash of source and command, so that a changed one is built."""
    command = [compiler, *_FLAGS, str(_HERE / source), *options]
    source_hash = hashlib.sha256((_HERE / source).read_bytes() + repr(command).encode()).hexdigest()
    path = cache / f"{source.removesuffix('.c')}-{source_hash[:12]}{suffix}"
    if not path.exists():
        with files.replacing(path) as temporary:
            done = subprocess.run([*command, "-o", str(temporary)], capture_output=True, text=True)
            if done.returncode:
                raise FileError(f"{compiler} cannot build {source}: {' '.join(done.stderr.split())[:300]}")
    return path
