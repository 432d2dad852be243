"""Folders that last as long as a run."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from cwtool import scratch
from cwtool.scratch import Scratch

KILLED = """
import os, signal, sys, tempfile
from pathlib import Path
from cwtool.scratch import Scratch
tempfile.tempdir = sys.argv[1]
made = Scratch()
(Path(made.name) / "rows").write_text("many")
print("made", flush=True)
sys.stdin.readline()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_is_removed_with_what_is_in_it(place: Path) -> None:
    with Scratch() as name:
        (Path(name) / "rows").write_text("some")
        assert list(place.iterdir()) == [Path(name)]
    assert list(place.iterdir()) == []
    made = Scratch()
    made.close()
    assert list(place.iterdir()) == []
    made = Scratch()
    del made
    assert list(place.iterdir()) == []


def test_an_interrupt_does_not_stop_the_removal(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed, calls = shutil.rmtree, []

    def interrupted(path: str, ignore_errors: bool) -> None:
        calls.append(path)
        if len(calls) == 1:
            raise KeyboardInterrupt
        removed(path, ignore_errors=ignore_errors)

    made = Scratch()
    monkeypatch.setattr(scratch.shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made.close()
    assert list(place.iterdir()) == []


def test_the_next_run_removes_what_a_killed_one_has_left(place: Path) -> None:
    """And nothing that is in use, or that somebody else has made."""
    for name in ("cwtool-mine", ".cwtool-.tmp", ".cwtool-a.tmp.old"):
        (place / name).mkdir()
    (place / ".cwtool-file.tmp").touch()
    theirs = {path.name for path in place.iterdir()}
    run = subprocess.Popen(
        [sys.executable, "-c", KILLED, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert run.stdout is not None
    assert run.stdout.readline() == b"made\n"
    with Scratch() as name:
        assert len(list(place.iterdir())) == len(theirs) + 2  # this one, and that of the other run
        run.communicate(b"\n")
        assert len(list(place.iterdir())) == len(theirs) + 2
        with Scratch():
            assert len(list(place.iterdir())) == len(theirs) + 2
        assert {path.name for path in place.iterdir()} == theirs | {Path(name).name}


def test_a_folder_that_another_run_takes_away_is_made_again(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the moment before it is locked."""
    made = tempfile.mkdtemp
    names = []

    def taken_away(**more: str) -> str:
        names.append(made(**more))
        if len(names) == 1:
            scratch.remove_left()
        return names[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", taken_away)
    with Scratch() as name:
        assert [name] == names[1:]
        assert Path(name).is_dir()
