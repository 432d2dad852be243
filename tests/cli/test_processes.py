"""cwtool as a process among others: signals, pipes, locks, terminals, and sudden death."""

import errno
import fcntl
import os
import pty
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cwtool.model import file as modelfile

Run = Callable[..., Any]
Start = Callable[..., "subprocess.Popen[bytes]"]
LOCK = Path(".m.cw.lock")


def finish(process: "subprocess.Popen[bytes]") -> tuple[int, str, str]:
    out, err = process.communicate(timeout=60)
    return process.returncode, (out or b"").decode(), (err or b"").decode()


def wait_for(what: Callable[[], bool]) -> None:
    for _ in range(6000):
        if what():
            return
        time.sleep(0.01)
    raise AssertionError("it never came")


@pytest.fixture
def model(ok: Run, planted: Run) -> bytes:
    ok("train", planted("a.svm", 1, 300), "-m", "m.cw")
    return Path("m.cw").read_bytes()


# --- signals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "code", "words", "jobs"),
    [(signal.SIGINT, 130, "interrupted", 1), (signal.SIGTERM, 143, "terminated", 2)],
)
def test_interrupted(
    number: int, code: int, words: str, jobs: int, process: Start, model: bytes, planted: Run
) -> None:
    """Ctrl-C in the middle of the data: the old model, and nothing left behind."""
    rows = Path(planted("b.svm", 2, 3000)).read_bytes()
    run = process(
        "train", "-", "-m", "m.cw", "--jobs", jobs, "--block-size", 65536, stdin=subprocess.PIPE
    )
    assert run.stdin is not None
    run.stdin.write(rows)
    run.stdin.flush()  # and it waits for more
    wait_for(LOCK.exists)
    run.send_signal(number)
    run.wait(timeout=60)
    ended, _, err = finish(run)
    assert ended == code
    assert f"{words}; no model was changed" in err
    assert "Traceback" not in err
    assert Path("m.cw").read_bytes() == model
    assert sorted(p.name for p in Path().iterdir()) == ["a.svm", "b.svm", "m.cw"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupted_prediction(jobs: int, process: Start, model: bytes, planted: Run) -> None:
    """In the middle: the first block is predicted, and the second one is not complete."""
    rows = Path(planted("b.svm", 2, 2000)).read_bytes()
    assert 65536 < len(rows) < 2 * 65536
    args = ["-m", "m.cw", "--output", "all", "--jobs", jobs, "--block-size", 65536]
    run = process("predict", "-", *args, stdin=subprocess.PIPE)
    assert run.stdin is not None
    assert run.stdout is not None
    run.stdin.write(rows)
    run.stdin.flush()
    assert run.stdout.readline().startswith(b"label")
    run.send_signal(signal.SIGINT)
    run.wait(timeout=60)
    code, _, err = finish(run)
    assert code == 130
    assert "Fatal" not in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_workers_end_with_a_terminated_run(process: Start, model: bytes) -> None:
    """They hold stderr open as long as they live."""
    grid = "r=" + ",".join(map(str, range(1, 2000)))
    command = ["tune", "a.svm", "--grid", grid, "--passes", 50, "--engine", "loky", "--jobs", 2]
    run = process(*command, "-m", "m.cw")
    wait_for(LOCK.exists)
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
    wait_for(lambda: len(children.read_text().split()) > 2)
    run.send_signal(signal.SIGTERM)
    code, _, err = finish(run)
    assert code == 143
    assert "Traceback" not in err


@pytest.mark.slow
def test_workers_end_after_a_killed_run(process: Start, model: bytes) -> None:
    """They hold stderr open as long as they live."""
    grid = "r=" + ",".join(map(str, range(1, 2000)))
    command = ["tune", "a.svm", "--grid", grid, "--passes", 50, "--engine", "loky", "--jobs", 2]
    run = process(*command)
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
    wait_for(lambda: len(children.read_text().split()) > 2)
    run.kill()
    assert finish(run)[0] == -signal.SIGKILL


# --- sudden death -------------------------------------------------------------------------------


@pytest.mark.parametrize("kills", [3, pytest.param(40, marks=pytest.mark.slow)])
def test_killed_at_any_moment(kills: int, process: Start, ok: Run) -> None:
    """After kill -9 the model is the old one or the new one, byte for byte."""
    draw = random.Random(kills)
    for name, first in (("a.svm", 1), ("b.svm", 50_001)):
        rows = [range(first + 50 * k, first + 50 * k + 50) for k in range(1000)]
        lines = [f"{'+-'[k % 2]}1 " + " ".join(f"{j}:1" for j in row) for k, row in enumerate(rows)]
        Path(name).write_text("\n".join(lines))
    ok("train", "a.svm", "-m", "old.cw")
    ok("train", "--resume", "old.cw", "b.svm", "-m", "new.cw")
    old, new = Path("old.cw").read_bytes(), Path("new.cw").read_bytes()
    assert len(modelfile.load(Path("new.cw"))[1]["ids"]) == 100_000

    def start() -> "subprocess.Popen[bytes]":
        Path("m.cw").write_bytes(old)
        run = process("train", "--resume", "m.cw", "b.svm", "-m", "m.cw")
        wait_for(lambda: LOCK.exists() or run.poll() is not None)
        return run

    run, began = start(), time.monotonic()
    assert finish(run)[0] == 0
    duration = time.monotonic() - began
    assert Path("m.cw").read_bytes() == new
    for _ in range(kills):
        run = start()
        time.sleep(draw.uniform(0, 1.1 * duration))
        run.kill()
        finish(run)
        LOCK.unlink(missing_ok=True)
        assert Path("m.cw").read_bytes() in (old, new)
    Path("m.cw").write_bytes(old)
    ok("train", "--resume", "m.cw", "b.svm", "-m", "m.cw")
    assert Path("m.cw").read_bytes() == new
    assert not list(Path().glob(".*.tmp"))


def dying_after(function: Callable[..., Any]) -> Callable[..., Any]:
    def once(*args: Any, **more: Any) -> None:
        function(*args, **more)
        os._exit(9)

    return once


def in_a_child(work: Callable[[], None]) -> int:
    """How a copy of this process ends that does the work: exit code, or -signal."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.fixture
def new_model(ok: Run, model: bytes) -> bytes:
    ok("train", "a.svm", "-a", "cw", "-m", "new.cw")
    return Path("new.cw").read_bytes()


@pytest.mark.parametrize("step", ["fchmod", "fsync", "replace"])
def test_killed_between_the_steps_of_saving(
    step: str, ok: Run, model: bytes, new_model: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work() -> None:
        where = Path if step == "replace" else os
        monkeypatch.setattr(where, step, dying_after(getattr(where, step)))
        ok("train", "a.svm", "-a", "cw", "-m", "m.cw")

    assert in_a_child(work) == 9
    assert Path("m.cw").read_bytes() == (new_model if step == "replace" else model)
    ok("train", "a.svm", "-a", "cw", "-m", "m.cw")
    assert Path("m.cw").read_bytes() == new_model
    assert not list(Path().glob(".*.tmp"))


@pytest.mark.parametrize("share", [0.01, 0.3, 0.7, 0.99])
@pytest.mark.parametrize("how", ["killed", "told"])
def test_no_room_in_the_middle_of_a_write(
    share: float, how: str, cwtool: Run, ok: Run, model: bytes, new_model: bytes
) -> None:
    """The system stops the file at some byte, with a signal that kills or with an error."""

    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL if how == "killed" else signal.SIG_IGN)
        most = int(share * len(new_model))
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        ended = cwtool("train", "a.svm", "-a", "cw", "-m", "m.cw")
        os._exit(ended.code if "cannot write the model" in ended.err else 99)

    assert in_a_child(work) == (-signal.SIGXFSZ if how == "killed" else 4)
    assert Path("m.cw").read_bytes() == model
    assert bool(list(Path().glob(".*.tmp"))) == (how == "killed")
    ok("train", "a.svm", "-a", "cw", "-m", "m.cw")
    assert Path("m.cw").read_bytes() == new_model
    assert not list(Path().glob(".*.tmp"))


def test_leftovers_of_this_model_only_are_removed(ok: Run, model: bytes) -> None:
    for name in (".m.cw.123.tmp", ".m.cw.99999.tmp", ".other.cw.7.tmp", ".m.cw2.7.tmp"):
        Path(name).write_bytes(b"half a model")
    ok("train", "a.svm", "-m", "m.cw")
    assert sorted(p.name for p in Path().glob(".*")) == [".m.cw2.7.tmp", ".other.cw.7.tmp"]


def test_a_dead_lock_does_not_stop(ok: Run, model: bytes) -> None:
    LOCK.write_bytes(b"")
    ok("train", "a.svm", "-m", "m.cw")
    assert not LOCK.exists()


# --- two runs at once ---------------------------------------------------------------------------


def test_locked_by_another_run(cwtool: Run, ok: Run, model: bytes) -> None:
    """A lock belongs to an open file, so that this process can play both runs."""
    with LOCK.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        ended = cwtool("train", "a.svm", "-m", "m.cw")
        assert (ended.code, ended.out) == (75, "")
        assert "m.cw is being written by another run" in ended.err
        assert Path("m.cw").read_bytes() == model
        ok("predict", "a.svm", "-m", "m.cw")  # reading is free
        ok("train", "a.svm", "-m", "other.cw")
        assert LOCK.exists(), "it belongs to the other run"


def test_waiting_for_the_lock(process: Start, model: bytes) -> None:
    with LOCK.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        run = process(
            "train", "--resume", "m.cw", "--again", "a.svm", "-m", "m.cw", "--lock", "wait"
        )
        time.sleep(0.7)
        assert run.poll() is None
        assert Path("m.cw").read_bytes() == model
        fcntl.flock(held, fcntl.LOCK_UN)
        assert finish(run)[0] == 0
    assert modelfile.load(Path("m.cw"))[0]["rows"] == 600


def test_two_real_runs(process: Start, model: bytes) -> None:
    slow = process("train", "-", "-m", "m.cw", stdin=subprocess.PIPE)
    wait_for(LOCK.exists)
    assert finish(process("train", "a.svm", "-m", "m.cw"))[0] == 75
    queue = ["train", "--resume", "m.cw", "a.svm", "--lock", "wait", "-m", "m.cw"]
    waiting = [process(*queue, "--again") for _ in range(2)]
    slow.communicate(b"+1 1:1\n-1 2:1\n", timeout=60)
    assert slow.returncode == 0
    assert [finish(run)[0] for run in waiting] == [0, 0]
    assert modelfile.load(Path("m.cw"))[0]["rows"] == 2 + 2 * 300
    assert not LOCK.exists()


# --- pipes --------------------------------------------------------------------------------------


def test_reader_that_has_enough(process: Start, model: bytes, planted: Run) -> None:
    planted("b.svm", 2, 20_000)
    run = process("predict", "b.svm", "-m", "m.cw", "--output", "all")
    assert run.stdout is not None
    assert run.stderr is not None
    assert run.stdout.readline() == b"label\tscore\tvariance\tprobability\tfile\tline\n"
    run.stdout.close()
    err = run.stderr.read()
    assert run.wait(timeout=60) == 0
    assert err == b""


@pytest.mark.parametrize("args", [["inspect", "m.cw"], ["train", "--help"], ["--version"]], ids=str)
def test_nobody_reads(args: list[str], process: Start, model: bytes) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    code, _, err = finish(process(*args, stdout=writing))
    os.close(writing)
    assert (code, err) == (0, "")


def test_disk_full(process: Start, model: bytes, planted: Run) -> None:
    """A limit on the size of files stands for the end of a disk."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))

    planted("b.svm", 2, 3000)
    with Path("out.tsv").open("w") as out:
        run = process("predict", "b.svm", "-m", "m.cw", stdout=out, preexec_fn=limited)
        code, _, err = finish(run)
    assert Path("out.tsv").stat().st_size == 4000
    assert code != 0
    assert os.strerror(errno.EFBIG) in err
    assert "Traceback" not in err


def closed_stdin(*args: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "cwtool", *args]
    ended = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *command], capture_output=True, text=True
    )
    return ended.returncode, ended.stderr


def test_stdin_closed(model: bytes) -> None:
    assert closed_stdin("train", "a.svm", "-m", "new.cw") == (0, "")
    code, err = closed_stdin("train", "-", "-m", "m.cw")
    assert code == 3
    assert "stdin" in err
    assert "Traceback" not in err
    assert Path("m.cw").read_bytes() == model


def test_fifo(process: Start, model: bytes) -> None:
    os.mkfifo("pipe.svm")
    run = process("train", "pipe.svm", "-m", "m2.cw")
    Path("pipe.svm").write_bytes(Path("a.svm").read_bytes())
    assert finish(run)[0] == 0
    mine, want = (modelfile.load(Path(p))[1] for p in ("m2.cw", "m.cw"))
    assert {k: a.tobytes() for k, a in mine.items()} == {k: a.tobytes() for k, a in want.items()}


def test_resume_from_a_fifo(process: Start, model: bytes) -> None:
    """It can be read only once, so nothing may look at it before."""
    os.mkfifo("pipe.svm")
    run = process("train", "--resume", "m.cw", "pipe.svm", "-m", "m2.cw")
    writer = subprocess.Popen(["sh", "-c", "printf '+1 1:1\\n-1 2:1\\n' > pipe.svm"])
    try:
        assert run.wait(timeout=60) == 0
        assert modelfile.load(Path("m2.cw"))[0]["rows"] == 302
    finally:
        run.kill()
        writer.kill()
        finish(run)
        writer.wait()


@pytest.mark.parametrize("jobs", [1, 2])
def test_file_cut_short_while_it_is_read(
    jobs: int, process: Start, model: bytes, planted: Run
) -> None:
    """The prediction waits for its reader; meanwhile the data goes away."""
    planted("b.svm", 2, 20_000)
    args = ["--output", "all", "--jobs", jobs, "--block-size", 65536]
    run = process("predict", "b.svm", "-m", "m.cw", *args)
    assert run.stdout is not None
    assert run.stdout.readline().startswith(b"label")
    assert run.stdout.readline().count(b"\t") == 5
    os.truncate("b.svm", 0)
    code, _, err = finish(run)
    assert code == 3
    assert "b.svm became shorter while it was read" in err
    assert "Traceback" not in err


def test_threads_of_blas_do_not_matter(process: Start, planted: Run) -> None:
    a = planted("a.svm", 1, 300, width=250, entries=200)
    for threads in ("1", "4"):
        env = os.environ | {"OPENBLAS_NUM_THREADS": threads}
        run = process("train", "-a", "bcw", a, "-m", f"{threads}.cw", env=env)
        assert finish(run)[0] == 0
    assert Path("1.cw").read_bytes() == Path("4.cw").read_bytes()


def test_names_that_are_not_text(process: Start, ok: Run, model: bytes) -> None:
    data, target = os.fsdecode(b"d\xff.svm"), os.fsdecode(b"m\xff.cw")
    Path(data).write_bytes(Path("a.svm").read_bytes())
    code, _, err = finish(process("train", data, "-m", target))
    assert (code, err) == (0, "")
    ok("predict", data, "-m", target, "--evaluate", "--json")
    assert finish(process("inspect", target))[0] == 0
    assert finish(process("train", os.fsdecode(b"\xff"), "-m", target))[0] == 3


def test_slow_stdin(process: Start, ok: Run, model: bytes) -> None:
    """Bytes that come a few at a time are the same rows."""
    run = process("predict", "-", "-m", "m.cw", "--output", "score", stdin=subprocess.PIPE)
    assert run.stdin is not None
    for piece in (b"+", b"1 1:0.", b"5 2:1\n-1", b" 3:1", b"\n"):
        run.stdin.write(piece)
        run.stdin.flush()
        time.sleep(0.02)
    run.stdin.close()
    assert run.stdout is not None
    Path("b.svm").write_bytes(b"+1 1:0.5 2:1\n-1 3:1\n")
    want = ok("predict", "b.svm", "-m", "m.cw", "--output", "score")
    assert run.stdout.read().decode() == want
    assert run.wait(timeout=60) == 0


# --- terminals ----------------------------------------------------------------------------------


def test_no_codes_without_a_terminal(process: Start, model: bytes) -> None:
    for args in (["train", "a.svm", "-m", "m.cw"], ["train", "none.svm", "-m", "m.cw"]):
        _, out, err = finish(process(*args))
        assert "\x1b" not in out + err
        assert "\r" not in out + err


def read_all(master: int) -> str:
    shown = b""
    try:
        while piece := os.read(master, 1 << 16):
            shown += piece
    except OSError:  # the other end is closed
        pass
    return shown.decode()


@pytest.mark.parametrize("plain", [False, True], ids=["colour", "NO_COLOR"])
def test_errors_on_a_terminal(plain: bool, process: Start) -> None:
    master, terminal = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | (
        {"NO_COLOR": "1"} if plain else {}
    )
    run = process("train", "none.svm", "-m", "m.cw", stderr=terminal, env=env)
    os.close(terminal)
    shown = read_all(master)
    assert run.wait(timeout=60) == 3
    assert "none.svm: no such file" in shown
    assert ("\x1b[31m" in shown) != plain


@pytest.mark.parametrize("quiet", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_live_line_on_a_terminal(quiet: bool, process: Start, planted: Run) -> None:
    """The line is rewritten in place while rows come, and gone at the end."""
    rows = Path(planted("b.svm", 2, 3000)).read_bytes()
    master, terminal = pty.openpty()
    args = ["train", "-", "-m", "m.cw", "--block-size", 65536, *(["-q"] if quiet else [])]
    run = process(*args, stdin=subprocess.PIPE, stderr=terminal)
    os.close(terminal)
    assert run.stdin is not None
    wait_for(LOCK.exists)
    for _ in range(10):
        run.stdin.write(rows)
        run.stdin.flush()
        time.sleep(0.1)
    out, _ = run.communicate(timeout=60)
    shown = read_all(master)
    assert run.returncode == 0
    if quiet:
        assert (out, shown) == (b"", "")
        return
    assert "\rarow  " in shown
    assert "rows/s" in shown
    assert "error" in shown
    assert shown.endswith("\r")
    assert "\r" not in out.decode()
