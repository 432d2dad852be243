"""Run tests with other versions of Python and of the packages that cwtool needs:
python tools/versions.py --lowest.

It makes an environment in build/versions with cwtool, compiled for its Python, the packages of
pyproject.toml and those that run tests, and nothing else: scikit-learn, matplotlib and all other
extras are absent, and tests that need them are skipped. With --lowest every package has the lowest
version that pyproject.toml allows.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent.parent
RUNNERS = ("pytest", "pytest-xdist", "hypothesis")
FOLDERS = ("unit", "property", "contract", "golden", "oracle")
COMMANDS = ("train", "predict", "feed", "bad_input", "export", "convert")
TESTS = [f"tests/{name}" for name in FOLDERS] + [f"tests/cli/test_{name}.py" for name in COMMANDS]


def packages() -> list[str]:
    """What cwtool and its tests need, as pyproject.toml has it."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    tests = project["optional-dependencies"]["test"]
    return [*project["dependencies"], *(p for p in tests if re.split("[<>=]", p)[0] in RUNNERS)]


def lowest(requirement: str) -> str:
    """click>=8.1; MARKER as click==8.1.0; MARKER, with zeros up to three numbers or more."""
    name, version, rest = re.fullmatch(r"([\w.-]+)>=([\d.]+)(.*)", requirement).groups()
    return f"{name}=={version}{'.0' * (2 - version.count('.'))}{rest}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="the Python to use")
    parser.add_argument("--lowest", action="store_true", help="the lowest versions allowed")
    parser.add_argument("tests", nargs="*", default=TESTS, help="options and files for pytest")
    options = parser.parse_args()
    asked = [options.python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    version = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    place = HERE / "build" / "versions" / f"{version}-{'lowest' if options.lowest else 'newest'}"
    if not (place / "ready").exists():
        subprocess.run([options.python, "-m", "venv", "--clear", place], check=True)
        wanted = [lowest(p) if options.lowest else p for p in packages()]
        pip = [place / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--only-binary", ":all:", *wanted], check=True)
        subprocess.run([*pip, "--no-deps", "."], cwd=HERE, check=True)
        (place / "ready").touch()
    subprocess.run([place / "bin" / "pip", "list", "--disable-pip-version-check"], check=True)
    # the sources beside the tests have no kernels for this Python; python -m pytest would find them
    # first, and Python 3.10 does not know PYTHONSAFEPATH, which keeps them out of started processes
    words = [place / "bin" / "pytest", "-n", "auto", "-p", "no:cacheprovider"]
    words += ["--ignore", "tests/unit/data_scripts"]  # which are no part of cwtool
    alone = os.environ | {"PYTHONSAFEPATH": "1", "PYTHONPATH": ""}
    sys.exit(subprocess.run([*words, *options.tests], cwd=HERE, env=alone).returncode)


if __name__ == "__main__":
    main()
