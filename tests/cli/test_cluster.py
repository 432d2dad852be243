"""Work on a Dask cluster of real processes on this machine, some of which are killed."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import deaths
import pytest

from cwtool import cluster
from cwtool.cluster import connected

pytest.importorskip(
    "distributed", reason="runs a Dask cluster: pip install 'cwtool[cluster]' to run these too"
)

Run = Callable[..., Any]
DEALT = ("--shards", 3, "--head", "20KB", "--tail-rows", 300)
TESTS = Path(deaths.__file__).parent


class Processes:
    """A scheduler and two workers, or none, as processes."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        told = folder / "scheduler.json"
        self.scheduler = self._start(
            "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", told
        )
        for _ in range(6000):
            if told.exists() and told.read_text().endswith("}"):
                break
            time.sleep(0.01)
        self.address: str = json.loads(told.read_text())["address"]
        self.started = [self.scheduler]
        if workers:
            self.started += [self._start(
                "worker", self.address, "--nworkers", workers, "--nthreads", "1", "--no-dashboard",
                "--local-directory", folder,
            )]  # fmt: skip

    def _start(self, *args: object) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *map(str, args), "--host", "127.0.0.1"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def stop(self) -> None:
        for process in reversed(self.started):  # workers end with the process of theirs
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    found = Processes(tmp_path_factory.mktemp("dask"))
    yield found
    found.stop()


@pytest.fixture
def files(planted: Callable[..., str]) -> list[str]:
    return [planted("a.svm", 1, 3000), planted("b.svm", 2, 1500, first=11)]


@pytest.fixture
def expected(cwtool: Run, files: list[str]) -> bytes:
    assert cwtool("train", *files, "-m", "inline.cw", *DEALT, "--engine", "inline").code == 0
    return Path("inline.cw").read_bytes()


def on(started: Processes) -> tuple[str, ...]:
    return ("--engine", "dask", "--scheduler", started.address, "--work-dir", "work")


@pytest.mark.slow
def test_items_and_their_failures(started: Processes) -> None:
    with connected(started.address, 1) as engine:
        found = dict(engine.each(deaths.double, [1, 2, 3], lambda n: -n))
        again = dict(engine.each(deaths.double, [1, 2, 3], lambda n: -n))
        assert found == again == {0: 2, 1: 4, 2: 6}
        with pytest.raises(ZeroDivisionError, match="three"):
            dict(engine.each(deaths.refuses_three, [3], lambda n: -n))


def test_the_same_bits_though_workers_are_killed(
    started: Processes,
    cwtool: Run,
    files: list[str],
    expected: bytes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = cwtool("train", *files, "-m", "m.cw", *DEALT, *on(started))
    assert ended.code == 0, ended.err
    assert Path("m.cw").read_bytes() == expected
    monkeypatch.setattr("cwtool.shards.working.perform", deaths.perform_at_second_try)
    ended = cwtool("train", *files, "-m", "n.cw", *DEALT, *on(started))
    assert ended.code == 0, ended.err
    assert Path("n.cw").read_bytes() == expected
    assert list(Path("work").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("algo", ["bcw", "dcd", "sbcw"])
def test_batches_have_the_same_bits_though_workers_are_killed(
    algo: str,
    started: Processes,
    cwtool: Run,
    files: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = ("--algo", algo, "--shards", 3)
    assert cwtool("train", *files, "-m", "inline.cw", *given, "--engine", "inline").code == 0
    monkeypatch.setattr("cwtool.shards.asking.perform", deaths.step_at_second_try)
    ended = cwtool("train", *files, "-m", "m.cw", *given, *on(started))
    assert ended.code == 0, ended.err
    assert Path("m.cw").read_bytes() == Path("inline.cw").read_bytes()
    assert list(Path("work").iterdir()) == []


@pytest.mark.slow
def test_a_shard_that_always_kills_its_worker_is_named(
    started: Processes, cwtool: Run, files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cwtool.shards.working.perform", deaths.perform_never)
    ended = cwtool("train", *files, "-m", "m.cw", *DEALT, *on(started))
    assert (ended.code, Path("m.cw").exists()) == (3, False)
    assert "shard 2 of round 1 (a.svm, bytes " in ended.err


def test_a_bad_line_has_its_place(started: Processes, cwtool: Run, files: list[str]) -> None:
    lines = Path("a.svm").read_text().splitlines()
    lines[2500] = "+1 3:x"
    Path("a.svm").write_text("\n".join(lines) + "\n")
    ended = cwtool("train", *files, "-m", "m.cw", *DEALT, *on(started))
    assert ended.code == 3
    assert "a.svm:2501:6: value x" in ended.err


def test_other_versions_are_refused_with_the_list(
    started: Processes, cwtool: Run, files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cwtool.__version__", "99.0")
    ended = cwtool("train", *files, "-m", "m.cw", *DEALT, *on(started))
    assert ended.code == 2
    assert "cwtool 0." in ended.err
    assert ", 99.0 here" in ended.err


def test_no_scheduler(cwtool: Run, files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT", 0.5)
    given = ("--scheduler", "tcp://127.0.0.1:1", "--work-dir", "work")
    ended = cwtool("train", *files, "-m", "m.cw", *DEALT, *given)
    assert ended.code == 75
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in ended.err


@pytest.mark.slow
def test_a_scheduler_without_workers(
    tmp_path_factory: pytest.TempPathFactory,
    cwtool: Run,
    files: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "WORKERS", 0.5)
    alone = Processes(tmp_path_factory.mktemp("dask"), workers=0)
    try:
        ended = cwtool("train", *files, "-m", "m.cw", *DEALT, *on(alone))
    finally:
        alone.stop()
    assert (ended.code, Path("m.cw").exists()) == (75, False)
    assert f"the Dask scheduler at {alone.address} has no workers" in ended.err


def test_distributed_is_missing(
    cwtool: Run, files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    ended = cwtool("train", *files, "-m", "m.cw", *DEALT, "--engine", "dask")
    assert ended.code == 2
    assert "pip install 'cwtool[cluster]'" in ended.err


@pytest.mark.slow
def test_a_lost_scheduler_keeps_what_is_finished(
    tmp_path_factory: pytest.TempPathFactory,
    cwtool: Run,
    files: list[str],
    expected: bytes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = Processes(tmp_path_factory.mktemp("dask"))
    try:
        Path("work").mkdir()
        Path("work/scheduler.pid").write_text(str(started.scheduler.pid))
        with monkeypatch.context() as killing:
            killing.setattr("cwtool.shards.working.perform", deaths.perform_and_end_scheduler)
            ended = cwtool("train", *files, "-m", "m.cw", *DEALT, *on(started))
        assert (ended.code, Path("m.cw").exists()) == (75, False)
        assert "connection to the Dask scheduler was lost" in ended.err
    finally:
        started.stop()
    kept = {p: p.stat().st_mtime_ns for p in Path("work").glob("001-*.change")}
    assert len(kept) == 3
    second = Processes(tmp_path_factory.mktemp("dask"))
    try:
        times: dict[Path, int] = {}
        with monkeypatch.context() as watching:
            watching.setattr(Path, "unlink", lambda path, **_: times.update({path: 1}))
            ended = cwtool("train", *files, "-m", "m.cw", *DEALT, *on(second))
        assert ended.code == 0, ended.err
    finally:
        second.stop()
    assert {p: p.stat().st_mtime_ns for p in Path("work").glob("001-*.change")} == kept
    assert Path("m.cw").read_bytes() == expected


@pytest.mark.slow
def test_a_local_cluster_is_started_and_stopped(
    process: Run, files: list[str], expected: bytes
) -> None:
    run = process("train", *files, "-m", "m.cw", *DEALT, "--engine", "dask", "--jobs", 2)
    out, err = run.communicate()
    assert (run.returncode, err) == (0, b""), out
    assert Path("m.cw").read_bytes() == expected


@pytest.mark.slow
def test_other_commands_give_what_they_give_here(
    started: Processes, ok: Run, planted: Callable[..., str]
) -> None:
    planted("a.svm", 1, 200)
    there = ("--engine", "dask", "--scheduler", started.address)

    def both(*command: object) -> None:
        here = ok(*command, "--json", "--jobs", 1)
        assert untimed(ok(*command, "--json", *there)) == untimed(here)

    both("tune", "a.svm", "--algo", "arow", "--grid", "r=0.1,1", "--cv", 3)
    both("select-features", "a.svm", "--features", 5, "--algo", "sbcw", "--stability", 3)
    rff = ("--algo", "rff-markov", "--iterations", 300, "--chains", 2)
    ok("train", "a.svm", "-m", "here.cw", *rff)
    ok("train", "a.svm", "-m", "there.cw", *rff, *there)
    assert Path("here.cw").read_bytes() == Path("there.cw").read_bytes()


def untimed(out: str) -> list[dict[str, Any]]:
    events = [json.loads(line) for line in out.splitlines()]
    return [{k: v for k, v in event.items() if k != "seconds"} for event in events]


SUITE = """
title = "a small suite"
repeats = 2
folds = 2
[data.made]
make = "words"
rows = 100
features = 300
[method.a]
label = "AROW"
algo = "arow"
grid = { r = [0.1, 1.0] }
[[experiment]]
name = "first"
task = "test"
"""


@pytest.mark.slow
def test_bench_gives_what_it_gives_here(started: Processes, ok: Run, folder: Path) -> None:
    Path("small.toml").write_text(SUITE)
    there = ("--engine", "dask", "--scheduler", started.address)
    ok("bench", "small.toml", "-o", "here", "--jobs", 1)
    ok("bench", "small.toml", "-o", "there", *there)
    found = [
        {p.name: json.loads(p.read_text())["result"].get("error") for p in Path(at).iterdir()}
        for at in ("here/cells", "there/cells")
    ]
    assert found[0] == found[1]
    assert len(found[0]) == 4
