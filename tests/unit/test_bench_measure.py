"""The benchmark's own instruments: what a child costs, and the corpus it is measured on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from cwtool.bench import corpus
from cwtool.bench.corpus import libsvm, lines_of, vowpal, write_once
from cwtool.bench.duel import Contender, Duel, faster, run, verdicts, within
from cwtool.bench.measure import CommandFailed, Cost, measure

SIZE = 200_000


@pytest.fixture(scope="module", autouse=True)
def small_chunks() -> Iterator[None]:
    """As many rows as the tests need."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus, "ROWS_PER_CHUNK", 150)
        yield


@pytest.fixture(scope="module")
def text(small_chunks: None) -> bytes:
    return b"".join(libsvm(SIZE))


def python(code: str, **options: object) -> Cost:
    return measure([sys.executable, "-c", code], **options)  # type: ignore[arg-type]


def test_sleeping_costs_wall_time_and_no_cpu() -> None:
    asleep = python("import time; time.sleep(0.5)")
    assert asleep.wall >= 0.5
    assert asleep.cpu < asleep.wall - 0.45  # one thread: the rest of the time it slept or waited


def test_memory_is_the_childs_own_when_the_caller_is_small() -> None:
    caller = """
import json, sys
from cwtool.bench.measure import measure
idle, big = (measure([sys.executable, "-c", c]).rss for c in ("pass", "b'x' * (10**8 + len('x'))"))
print(json.dumps({"idle": idle, "big": big}))
"""
    rss = python(caller).facts
    assert rss["idle"] < 50
    assert 100 < rss["big"] < 150


def test_cpu_is_the_childs_own() -> None:
    assert python("import time\nwhile time.process_time() < 0.3: pass").cpu >= 0.3


def test_last_json_line_is_kept_and_can_replace_the_times() -> None:
    code = 'print("{}"); print(\'{"cpu": 7.0, "wall": 8.0, "features": 9}\')'
    outside, inside = python(code), python(code, inside=True)
    assert outside.facts["features"] == 9
    assert outside.cpu < 7
    assert (inside.cpu, inside.wall) == (7.0, 8.0)


def test_only_the_expected_end_is_accepted() -> None:
    with pytest.raises(CommandFailed, match="exit code 1: too bad"):
        python("raise SystemExit('too bad')")
    with pytest.raises(CommandFailed, match="exit code 1: too bad"):
        python("raise SystemExit('too bad')", refusal="eps <= 0")
    with pytest.raises(CommandFailed, match="exit code 0"):
        python("import sys; print('eps <= 0', file=sys.stderr)", refusal="eps <= 0")
    assert python("raise SystemExit('ERROR: eps <= 0')", refusal="eps <= 0").wall > 0


def test_corpus_is_deterministic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "IDS", 10_000)
    one, same, other = (b"".join(libsvm(20_000, seed=seed)) for seed in (0, 0, 1))
    assert same == one
    assert other != one


def test_corpus_is_libsvm_of_the_promised_shape(text: bytes) -> None:
    assert SIZE - 5000 < len(text) <= SIZE
    assert text.endswith(b"\n")
    nonzeros = ones = positives = 0
    lines = text.decode().splitlines()
    for line in lines:
        label, *pairs = line.split(" ")
        assert label in {"1", "-1"}
        ids = [int(pair.split(":")[0]) for pair in pairs]
        values = [float(pair.split(":")[1]) for pair in pairs]
        assert all(a < b for a, b in pairwise(ids))
        assert ids[0] >= 1 and ids[-1] < 10**6
        assert all(0 < value <= 1 for value in values)
        nonzeros += len(pairs)
        ones += values.count(1.0)
        positives += label == "1"
    assert 110 < nonzeros / len(lines) < 120
    assert 0.45 < ones / nonzeros < 0.55
    assert 0.3 < positives / len(lines) < 0.7


def test_vowpal_rows_are_the_same_rows() -> None:
    svm = b"-1 1:1 11:0.1 31:1\n1 2:0.5 1000:1\n"
    assert vowpal(svm) == b"-1 | 1 11:0.1 31\n1 | 2:0.5 1000\n"


def test_pieces_of_a_file_end_at_line_ends(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "rows.svm"
    path.write_bytes(text)
    pieces = list(lines_of(path, size=10_000))
    assert len(pieces) > 1
    assert all(piece.endswith(b"\n") for piece in pieces)
    assert b"".join(pieces) == text


def test_write_once_keeps_a_finished_file_and_drops_a_broken_one(tmp_path: Path) -> None:
    def broken() -> list[bytes]:
        raise RuntimeError

    path = tmp_path / "rows.svm"
    with pytest.raises(RuntimeError):
        write_once(path, broken)
    assert list(tmp_path.iterdir()) == []
    write_once(path, lambda: [b"a", b"b"])
    write_once(path, broken)
    assert path.read_bytes() == b"ab"


def test_duel_judges_what_ran_and_lists_what_did_not() -> None:
    report = 'print(\'{{"cpu": {0}, "wall": {0}}}\')'
    fast, slow = (
        Contender(name, (sys.executable, "-c", report.format(seconds)), inside=True)
        for name, seconds in [("fast", 1.0), ("slow", 4.0)]
    )
    broken = Contender("broken", (sys.executable, "-c", "raise SystemExit('no')"))
    absent = Contender("absent", absent="not installed")
    targets = [
        faster("fast", "slow", "cpu", 3),
        faster("fast", "slow", "cpu", 5),
        within("slow", "fast", "wall", 4),
        within("slow", "absent", "wall", 4),
    ]
    outcome = run(Duel("t", "", "fast", [fast, slow, broken, absent], targets), rounds=2)
    assert [len(runs) for runs in outcome.runs.values()] == [2, 2]
    assert outcome.missing == {"absent": "not installed", "broken": "exit code 1: no"}
    assert [verdict for *_, verdict in verdicts(outcome)] == ["met", "missed", "met", "-"]
