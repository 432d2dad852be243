"""Build dist/cwtool-*.tar.gz, and from nothing but its contents a wheel for any Linux whose C
library is new enough; install the wheel into an empty environment and use it there.

The tag manylinux_2_N says that the kernels need glibc 2.N and no library but those that every Linux
with glibc has (PEP 600). Symbols of musl have no versions; musllinux_1_2 is the tag of musl 1.2 and
newer (PEP 656). auditwheel does the same and may bundle libraries, of which the kernels need none.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
DIST = HERE / "dist"
GLIBC = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"}
MUSL = {"libc.so", f"libc.musl-{platform.machine()}.so.1"}
BUILD = "from setuptools import build_meta as b; import sys; print(b.build_{}(sys.argv[1]))"


def built(kind: str, source: Path) -> Path:
    """The archive that the build system makes of a folder."""
    command = [sys.executable, "-c", BUILD.format(kind), str(DIST)]
    done = subprocess.run(command, cwd=source, check=True, stdout=subprocess.PIPE, text=True)
    return DIST / done.stdout.splitlines()[-1]


def kernels_shown(wheel: Path) -> str:
    """What readelf prints about the libraries and the versions that the kernels ask for."""
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        names = [name for name in archive.namelist() if name.endswith(".so")]
        paths = [archive.extract(name, folder) for name in names]
        return subprocess.run(
            ["readelf", "-dV", *paths], check=True, stdout=subprocess.PIPE, text=True
        ).stdout


def oldest_system(shown: str) -> str:
    """The first part of the platform tag, from the output of readelf."""
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", shown))
    if needed and needed <= MUSL:
        return "musllinux_1_2"
    if needed - GLIBC:
        sys.exit(f"the kernels need {', '.join(sorted(needed - GLIBC))}")
    versions = map(int, re.findall(r"GLIBC_2\.(\d+)", shown))
    return f"manylinux_2_{max([17, *versions])}"  # 2.17 is the oldest that manylinux knows


def tagged(wheel: Path) -> Path:
    """The wheel under the tag of the oldest systems that it runs on."""
    tag = f"{oldest_system(kernels_shown(wheel))}_{platform.machine()}"
    command = [sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", tag, str(wheel)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return DIST / done.stdout.splitlines()[-1]


def smoke(wheel: Path) -> None:
    """Install the wheel into an empty environment without a compiler, train and predict."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "env", with_pip=True)
        only = {**os.environ, "PATH": str(place / "env" / "bin"), "CC": "no-compiler"}
        only.pop("PYTHONPATH", None)

        def run(*words: object) -> None:
            program, *args = map(str, words)
            path = place / "env" / "bin" / program
            subprocess.run([path, *args], check=True, cwd=place, env=only)

        sample = HERE / "examples" / "sample"
        run("pip", "install", "--quiet", "--only-binary", ":all:", wheel)
        run("cwtool", "train", sample / "day1.svm", "-m", "m.cw")
        run("cwtool", "predict", sample / "day2.svm", "-m", "m.cw", "--evaluate")
        run("cwtool", "train", sample / "topics.svm", "-a", "cw-fact", "-m", "t.cw")


def main() -> None:
    DIST.mkdir(exist_ok=True)
    source = built("sdist", HERE)
    with tempfile.TemporaryDirectory() as folder:
        shutil.unpack_archive(source, folder)
        wheel = built("wheel", next(Path(folder).iterdir()))
    wheel = tagged(wheel)
    smoke(wheel)
    print(f"{source}\n{wheel}")


if __name__ == "__main__":
    main()
