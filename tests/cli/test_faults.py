"""Kills, full disks, closed streams and clocks that go back: nothing is lost, and each has its
sentence."""

import errno
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cwtool import cli
from cwtool.feed import run as feed
from cwtool.model import Model

Run = Callable[..., Any]
KILLING = Path(__file__).with_name("killing.py")


@pytest.mark.parametrize("kills", [4, pytest.param(200, marks=pytest.mark.slow)])
def test_killed_at_random_moments(kills: int, folder: Path) -> None:
    """No model is lost or half-written, and the next run leaves no lock and no temporary file."""
    done = subprocess.run(
        [sys.executable, KILLING, str(kills), str(kills)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert f"{kills} kills" in done.stdout


@pytest.mark.parametrize(
    ("interrupt", "code"), [(KeyboardInterrupt, 130), (cli.Terminated, 143), (ValueError, 1)]
)
def test_interrupts_that_python_turns_into_failures(
    interrupt: type[BaseException],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An interrupt while a module is imported may come as the cause of a RuntimeError."""

    def invoke(ctx: Any) -> None:
        raise RuntimeError("Error calling __set_name__") from interrupt()

    monkeypatch.setattr(cli.group, "invoke", invoke)
    assert cli.run(["algorithms"]) == code
    assert ("a bug in cwtool" in capsys.readouterr().err) == (code == 1)


@pytest.fixture
def model(ok: Run, planted: Run) -> bytes:
    ok("train", planted("a.svm", 1, 100), "-m", "m.cw")
    return Path("m.cw").read_bytes()


WRITING = {
    "train": ["train", "a.svm", "--again", "--resume", "m.cw", "-m", "m.cw"],
    "feed": ["feed", "b.svm", "-m", "m.cw", "--accept"],
    "predict": ["predict", "a.svm", "-m", "m.cw", "--output", "all", "-o", "out.txt"],
    "report": ["report", "m.cw", "-o", "out.txt"],
    "select": ["select-features", "a.svm", "--algo", "l1svm", "--features", "25", "--project",
               "made"],
    "export": ["export", "m.cw", "--format", "json", "-o", "out.txt"],
}  # fmt: skip


def no_room() -> None:
    """Files may have 900 bytes: what a full disk, or a quota, is to a program."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (900, 900))


@pytest.mark.parametrize("name", WRITING)
def test_no_room(name: str, model: bytes, planted: Run, process: Run) -> None:
    planted("b.svm", 2, 100)
    Path("out.txt").write_text("old")
    run = process(*WRITING[name], preexec_fn=no_room)
    _, err = run.communicate()
    assert run.returncode in (4, 74), err
    assert b"File too large" in err
    assert b"Traceback" not in err
    assert Path("m.cw").read_bytes() == model
    assert Path("out.txt").read_text() == "old"
    assert not [p for p in Path().glob(".*") if p.suffix in (".tmp", ".lock")]


@pytest.mark.parametrize("place", ["/proc/m.cw", "/dev/null/m.cw"])
def test_a_place_that_cannot_be_written(place: str, model: bytes, cwtool: Run) -> None:
    ended = cwtool("train", "a.svm", "-m", place)
    assert ended.code == 4
    assert "Traceback" not in ended.err
    assert place in ended.err


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams(closed: str, model: bytes) -> None:
    """The model is written although stdout or stderr is closed."""
    command = f"{sys.executable} -m cwtool train a.svm -m n.cw {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0
    assert Path("n.cw").read_bytes() == model


@pytest.mark.parametrize(
    "streams", ["2>/dev/full", "2>&1 | true", "--json | true", "--json 2>/dev/full | true"]
)
def test_streams_that_take_nothing(streams: str, model: bytes) -> None:
    """Notes that the disk has no room for, and events whose reader is gone, do not end a run that
    has a model to write."""
    command = f"{sys.executable} -m cwtool tune a.svm --grid r=5,6 -m n.cw {streams}"
    done = subprocess.run(["bash", "-c", f"{command}; exit ${{PIPESTATUS[0]}}"])
    assert done.returncode == 0
    assert Path("n.cw").exists()


def test_an_error_that_nobody_reads_has_its_exit_code(model: bytes) -> None:
    line = f"{sys.executable} -m cwtool train none.svm -m n.cw 2>/dev/full"
    assert subprocess.run(["sh", "-c", line]).returncode == 3


def test_a_clock_that_goes_back(ok: Run, planted: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Days are learned, and shown, in the order they come."""
    times = iter(["2026-03-02T00:00:00Z", "2026-03-01T00:00:00Z", "1970-01-01T00:00:00Z"])
    monkeypatch.setattr(feed, "now", lambda: next(times))
    for k in range(3):
        ok("feed", planted(f"{k}.svm", k, 100), "-m", "m.cw", "--accept")
    assert "last 9.00 %" in ok("report", "m.cw", "--text").splitlines()[3]


def test_a_quota(model: bytes, cwtool: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(os, "fsync", refuse)
    ended = cwtool("train", "a.svm", "--again", "--resume", "m.cw", "-m", "m.cw")
    assert ended.code == 4
    assert f"m.cw: cannot write the model: {os.strerror(errno.EDQUOT)}" in ended.err
    assert Path("m.cw").read_bytes() == model
    assert not [p for p in Path().glob(".*") if p.suffix in (".tmp", ".lock")]


@pytest.mark.parametrize("sent", [signal.SIGWINCH, signal.SIGCONT])
def test_a_slow_pipe_and_signals_that_interrupt_reads(
    sent: signal.Signals, model: bytes, process: Run
) -> None:
    """Rows that come byte by byte, with signals in between, make the same model."""
    text = Path("a.svm").read_bytes()
    run = process("train", "-", "-m", "n.cw", "-q", stdin=subprocess.PIPE)
    for at in range(0, len(text), 97):
        run.stdin.write(text[at : at + 97])
        run.stdin.flush()
        run.send_signal(sent)
    _, err = run.communicate()
    assert run.returncode == 0, err
    assert weights("n.cw") == weights("m.cw")


def weights(path: str) -> bytes:
    words = [sys.executable, "-m", "cwtool", "inspect", path, "--weights", "-"]
    return subprocess.run(words, capture_output=True, check=True).stdout


def test_a_file_system_without_locks(
    model: bytes, cwtool: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", refuse)
    ended = cwtool("train", "a.svm", "--again", "--resume", "m.cw", "-m", "m.cw")
    assert ended.code == 4
    assert "m.cw: cannot be locked: No locks available" in ended.err
    assert Path("m.cw").read_bytes() == model


def test_an_interrupt_after_the_model_was_written_says_so(
    model: bytes, planted: Run, cwtool: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = Model.save

    def saved(*args: Any, **more: Any) -> None:
        save(*args, **more)
        raise KeyboardInterrupt

    planted("b.svm", 2, 100)
    monkeypatch.setattr(Model, "save", saved)
    ended = cwtool("train", "b.svm", "-m", "m.cw")
    assert ended.code == 130 and "interrupted; m.cw was already written" in ended.err
    assert Path("m.cw").read_bytes() != model


OVER = {
    "predict": ["predict", "a.svm", "-m", "m.cw", "-o"],
    "inspect": ["inspect", "m.cw", "--weights"],
    "export": ["export", "m.cw", "--format", "json", "-o"],
    "report": ["report", "m.cw", "-o"],
    "select": ["select-features", "a.svm", "--features", "2", "-o"],
    "convert": ["convert", "a.svm", "--to", "vw", "-o"],
}


@pytest.mark.parametrize("name", OVER)
def test_results_do_not_replace_another_model(name: str, model: bytes, cwtool: Run) -> None:
    Path("other.cw").write_bytes(model)
    ended = cwtool(*OVER[name], "other.cw")
    assert ended.code == 2 and "other.cw is a model; it will not be replaced" in ended.err
    assert Path("other.cw").read_bytes() == model
