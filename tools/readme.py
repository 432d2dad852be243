"""Fill in what README.md shows of the program: the transcript, by running its commands on the
bundled sample, and the table of commands. `--check` only says whether it is as it should be; speeds
may differ."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import cwtool
from cwtool.cli import COMMANDS

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
SAMPLE = ROOT / "examples" / "sample"
TRANSCRIPT = re.compile(r"(?<=## Five minutes\n)(.*?```console\n)(.*?)(?=```)", re.DOTALL)
TABLE = re.compile(r"(?<=\| command \| what it does \|\n\|---\|---\|\n)(\|.*\n)*")
SPEED = re.compile(r"[\d,]+ rows/s")


def output(command: str, folder: str) -> str:
    """What a command of the transcript prints, on both streams."""
    words = shlex.split(command)
    if words[0] == "cd":
        return ""
    if words[0] == "cwtool":
        words = [sys.executable, "-m", "cwtool", *words[1:]]
    here = str(Path(cwtool.__file__).parents[1])
    settings = {**os.environ, "PYTHONPATH": here, "PYTHONUNBUFFERED": "1"}
    done = subprocess.run(
        words, cwd=folder, env=settings, text=True, check=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.stdout


def transcript(block: str) -> str:
    """The commands of the block with what they print."""
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    with TemporaryDirectory() as folder:
        shutil.copytree(SAMPLE, folder, dirs_exist_ok=True)
        return "".join(f"$ {command}\n{output(command, folder)}" for command in commands)


def filled(text: str) -> str:
    """The README with its generated parts anew."""
    rows = "".join(f"| `cwtool {name}` | {meaning} |\n" for name, meaning in COMMANDS.items())
    text = TABLE.sub(lambda _: rows, text, count=1)
    return TRANSCRIPT.sub(lambda found: found[1] + transcript(found[2]), text, count=1)


def masked(text: str) -> str:
    return SPEED.sub("N rows/s", text)


def main() -> None:
    old = README.read_text()
    new = filled(old)
    if masked(new) == masked(old):
        return
    if "--check" in sys.argv:
        sys.exit("README.md is out of date; run `make reference`")
    README.write_text(new)
    print(README)


if __name__ == "__main__":
    main()
