"""Batch learners in shards."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cwtool.algorithms.base import Selects
from cwtool.model import Model
from cwtool.shards import change

Run = Callable[..., str]
Fails = Callable[..., Any]

SETTINGS: dict[str, tuple[Any, ...]] = {
    "bcw": (),
    "dcd": (),
    "sbcw": ("--features", 6, "--group-size", 2),
    "fgm": ("--features", 6, "--group-size", 2),
    "l1svm": ("--features", 0, "--C", 2, "--tol", 1e-10),  # one machine makes Newton steps
}
NEAR = {"rtol": 1e-6, "atol": 1e-8}
EVERY = pytest.mark.parametrize("algo", list(SETTINGS))


@pytest.fixture
def files(planted: Callable[..., str]) -> list[str]:
    return [planted("a.svm", 1, 500), planted("b.svm", 2, 300, first=11)]


def plain(algo: str) -> tuple[Any, ...]:
    return ("--algo", algo, *SETTINGS[algo])


def given(algo: str, shards: int = 3) -> tuple[Any, ...]:
    return (*plain(algo), "--shards", shards)


def model_of(name: str) -> Model:
    return Model.load(Path(name))


def bytes_of(name: str) -> bytes:
    return Path(name).read_bytes()


@pytest.mark.slow
@EVERY
def test_every_engine_gives_the_same_bits(algo: str, ok: Run, files: list[str]) -> None:
    ok("train", *files, "-m", "inline.cw", *given(algo), "--engine", "inline")
    ok("train", *files, "-m", "loky.cw", *given(algo), "--engine", "loky", "--jobs", 2)
    ok("train", *files, "-m", "local.cw", *given(algo), "--block-size", 65536)
    assert bytes_of("loky.cw") == bytes_of("inline.cw") == bytes_of("local.cw")


SHORT = ("--features", 20, "--group-size", 5, "--shards", 6, "--head", "1KB",
         "--max-memory", "7.2MB")  # fmt: skip


@pytest.mark.parametrize("algo", ["sbcw", "fgm"])
def test_columns_stay_in_the_shards_where_memory_is_short(
    algo: str, cwtool: Fails, planted: Callable[..., str]
) -> None:
    name = planted("c.svm", 3, 4000)
    ended = cwtool("train", name, "-m", "m.cw", "--algo", algo, *SHORT, "--json")
    assert ended.code == 0
    assert "they stay in the shards" in ended.err
    events = [json.loads(line) for line in ended.out.splitlines()]
    rounds = [e for e in events if e["event"] == "round"]
    assert {"gram of chosen", "ascend", "sums of rows"} < {e["step"] for e in rounds}
    run = model_of("m.cw").history[0]
    assert run["rounds"] == len(rounds)
    assert run["bytes_sent"] == sum(e["bytes"] for e in rounds)
    assert events[-1]["fitted"]["auc"] > 0.94
    assert np.count_nonzero(model_of("m.cw").weights().weight) == 20


@pytest.mark.slow
def test_every_engine_gives_the_same_bits_where_columns_stay(
    ok: Run, planted: Callable[..., str]
) -> None:
    asked = ("train", planted("c.svm", 3, 4000), "--algo", "sbcw", *SHORT)
    ok(*asked, "-m", "inline.cw", "--engine", "inline")
    ok(*asked, "-m", "loky.cw", "--engine", "loky", "--jobs", 2)
    ok(*asked, "-m", "dask.cw", "--engine", "dask", "--jobs", 2)
    assert bytes_of("loky.cw") == bytes_of("inline.cw") == bytes_of("dask.cw")


@EVERY
def test_one_shard_is_plain_training(algo: str, ok: Run, files: list[str]) -> None:
    ok("train", *files, "-m", "plain.cw", *plain(algo))
    ok("train", *files, "-m", "one.cw", *given(algo, 1))
    one = model_of("one.cw")
    assert one.history[0].pop("shards") == 1
    assert one.to_bytes() == model_of("plain.cw").to_bytes()


@EVERY
def test_counts_are_those_of_plain_training(algo: str, ok: Run, files: list[str]) -> None:
    joined = bytes_of("a.svm") + bytes_of("b.svm")
    Path("c.svm").write_bytes(joined)
    out = ok("train", "c.svm", "-m", "m.cw", *given(algo), "--json")
    alone = ok("train", "c.svm", "-m", "plain.cw", *plain(algo), "--json")
    model, wanted = model_of("m.cw"), model_of("plain.cw")
    events = [json.loads(line) for line in out.splitlines()]
    rounds = [e for e in events if e["event"] == "round"]
    run = model.history[0]
    assert run["files"] == wanted.history[0]["files"]
    assert (run["shards"], run["rounds"]) == (3, len(rounds))
    assert run["bytes_sent"] == sum(e["bytes"] for e in rounds) > 0
    assert run["rows"] == model.rows == 800
    assert (model.index.count, model.scale.value) == (wanted.index.count, wanted.scale.value)
    assert model.known.hashes.tolist() == wanted.known.hashes.tolist()
    assert model.calibration.rows == wanted.calibration.rows
    (ended,) = [e for e in events if e["event"] == "train"]
    assert ended["fitted"]["rows"] == 800
    here = json.loads(alone.splitlines()[-1])["fitted"]
    assert ended["fitted"]["error"] == pytest.approx(here["error"], abs=0.02)
    if isinstance(model.algorithm, Selects):
        near = NEAR if algo == "l1svm" else {"rtol": 1e-10, "atol": 1e-12}
        assert np.allclose(model.weights().weight, wanted.weights().weight, **near)
        assert model.slope == pytest.approx(wanted.slope, rel=near["rtol"])  # the head has all rows
    assert "3 shards in" in ok("inspect", "m.cw")
    assert "bytes sent" in ok("inspect", "m.cw")


@EVERY
def test_weights_and_several_classes(algo: str, ok: Run, files: list[str]) -> None:
    rng = np.random.default_rng(1)
    lines = []
    for _ in range(400):
        k = int(rng.integers(3))
        x = rng.random(4) + 2 * (np.arange(4) == k)
        if k == 2 and len(lines) < 350:  # a class that only the last shard has
            continue
        entries = " ".join(f"{j + 1}:{v:.3f}" for j, v in enumerate(x))
        lines.append(f"{k + 1}:{rng.integers(3)} {entries}")
    Path("c.svm").write_text("\n".join(lines) + "\n")
    more = ("--class-weight", "balanced", "--multiclass", "ovr")
    ok("train", "c.svm", "-m", "m.cw", *given(algo), *more)
    ok("train", "c.svm", "-m", "p.cw", *plain(algo), *more)
    model, wanted = model_of("m.cw"), model_of("p.cw")
    assert model.labels.several == wanted.labels.several
    assert model.class_weight.counts == wanted.class_weight.counts
    assert model.history[0]["weight"] == wanted.history[0]["weight"]
    found, here = model.weights().weight, wanted.weights().weight
    assert found.shape == here.shape
    if isinstance(model.algorithm, Selects):
        near = NEAR if algo == "l1svm" else {"rtol": 1e-9, "atol": 1e-11}
        assert np.allclose(found, here, **near)
    ok("predict", "c.svm", "-m", "m.cw")


@EVERY
def test_resuming(algo: str, ok: Run, files: list[str]) -> None:
    ok("train", "a.svm", "-m", "m.cw", *plain(algo))
    own = SETTINGS[algo]  # of which a very small tolerance has to be given again
    ok("train", "b.svm", "--resume", "m.cw", "-m", "n.cw", *own, "--shards", 3)
    ok("train", "b.svm", "--resume", "m.cw", "-m", "p.cw", *own)
    model, wanted = model_of("n.cw"), model_of("p.cw")
    assert [run.get("shards") for run in model.history] == [None, 3]
    for name in ("rows", "error", "auc", "features"):  # all predicted by the model before
        assert model.history[1][name] == wanted.history[1][name]
    assert model.progress.summary() == wanted.progress.summary()
    assert model.state.numbers["batches"] == 2
    ok("train", "a.svm", "--resume", "n.cw", "-m", "o.cw", *own, "--again")


def test_knn_is_what_plain_training_gives(ok: Run, planted: Callable[..., str]) -> None:
    planted("a.svm", 1, 1500)
    ok("train", "a.svm", "-m", "p.cw", "--algo", "knn")
    ok("train", "a.svm", "-m", "m.cw", "--algo", "knn", "--shards", 3, "--head", "1KB")
    found, wanted = (model_of(name).state.pack() for name in ("m.cw", "p.cw"))
    assert all(np.array_equal(found[name], wanted[name]) for name in wanted)


def test_compressed_files_stay_whole(ok: Run, files: list[str]) -> None:
    for name in files:
        Path(f"{name}.gz").write_bytes(gzip.compress(bytes_of(name)))
    ok("train", "a.svm.gz", "b.svm.gz", "-m", "m.cw", *given("bcw", 2), "--engine", "inline",
       "--precision-divisor", 10)  # fmt: skip
    model = model_of("m.cw")
    assert (model.rows, model.history[0]["rounds"]) == (800, 4)


def test_finished_steps_are_used_again(
    ok: Run, cwtool: Fails, files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["train", *files, "-m", "m.cw", *given("bcw"), "--precision-divisor", 10]
    ok(*asked)
    expected = bytes_of("m.cw")

    def stops(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    kept: list[dict[Path, int]] = []
    for _ in range(2):
        with monkeypatch.context() as broken:
            broken.setattr("cwtool.shards.batch_driver.BatchTrainer._fitted", stops)
            ended = cwtool(*asked, "--work-dir", "w")
        assert ended.code == 130
        steps = (p for p in Path("w").iterdir() if p.suffix != ".cw")
        kept.append({p: p.stat().st_mtime_ns for p in steps})
    assert kept[0] == kept[1]
    assert len([p for p in kept[0] if p.suffix == ".part"]) == 3 * 4
    ok(*asked, "--work-dir", "w")
    assert bytes_of("m.cw") == expected
    assert list(Path("w").iterdir()) == []


@pytest.mark.parametrize("removed", [1, 2, 6, 8, 10, 12])
def test_a_run_killed_while_it_removes_its_files_can_be_repeated(
    removed: int, ok: Run, cwtool: Fails, files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps whose results are gone are taken again, and find what the step before has kept."""
    asked = ["train", *files, "-m", "m.cw", "--algo", "dcd", "--shards", 2, "--rounds", 4]
    ok(*asked)
    expected, remove, unlink = bytes_of("m.cw"), change.remove, Path.unlink
    left = [removed]

    def stops(path: Path, missing_ok: bool = False) -> None:
        if left[0] == 0:
            raise KeyboardInterrupt
        left[0] -= 1
        unlink(path, missing_ok)

    def removing(*args: Any) -> None:
        with monkeypatch.context() as broken:
            broken.setattr(Path, "unlink", stops)
            remove(*args)

    with monkeypatch.context() as broken:
        broken.setattr("cwtool.shards.driver.remove", removing)
        assert cwtool(*asked, "--work-dir", "w").code == 130
    assert any(p.suffix == ".part" for p in Path("w").iterdir())
    ok(*asked, "--work-dir", "w")
    assert bytes_of("m.cw") == expected
    assert list(Path("w").iterdir()) == []


def test_rounds_and_gap(ok: Run, cwtool: Fails, files: list[str]) -> None:
    ok("train", *files, "-m", "m.cw", *given("bcw"), "--rounds", 2, "--precision-divisor", 10)
    assert model_of("m.cw").history[0]["rounds"] == 1 + 2
    ended = cwtool("train", *files, "-m", "m.cw", "--algo", "dcd", "--shards", 3, "--rounds", 2,
                   "--gap", 1e-6)  # fmt: skip
    assert ended.code == 0
    assert "before --gap 1e-06 was reached" in ended.err


def test_a_bad_line_has_its_place(cwtool: Fails, files: list[str]) -> None:
    lines = Path("a.svm").read_text().splitlines()
    lines[400] = "+1 3:x"
    Path("a.svm").write_text("\n".join(lines) + "\n")
    ended = cwtool("train", *files, "-m", "m.cw", *given("dcd"))
    assert (ended.code, Path("m.cw").exists()) == (3, False)
    assert "a.svm:401:6: value x" in ended.err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--algo", "spar-dca"), "spar-dca cannot be learned in shards: "),
        (("--algo", "stsgd"), "stsgd cannot be learned in shards: "),
        (("--algo", "sdist"), "sdist cannot be learned in shards: "),
        (("--algo", "rff-markov"), "rff-markov cannot be learned in shards: "),
        (("--algo", "bcw", "--batch-rows", 100), "--batch-rows does not work with --shards"),
    ],
)
def test_refusals_before_anything_is_read(more: tuple[Any, ...], words: str, cwtool: Fails) -> None:
    ended = cwtool("train", "missing.svm", "-m", "m.cw", "--shards", 2, *more)
    assert ended.code == 2
    assert words in ended.err


def test_tables_that_do_not_fit_are_refused(cwtool: Fails, planted: Callable[..., str]) -> None:
    wide = planted("wide.svm", 1, 3000, width=20_000, entries=4)
    ended = cwtool("train", wide, "-m", "m.cw", *given("dcd", 30), "--max-memory", "6.2MB")
    assert (ended.code, Path("m.cw").exists()) == (2, False)
    assert "may be used, beside 6.09 MB for reading" in ended.err


def test_numbers_of_a_model_that_cannot_be_computed_with(
    ok: Run, cwtool: Fails, files: list[str]
) -> None:
    ok("train", files[0], "-m", "m.cw", *plain("bcw"))
    model = model_of("m.cw")
    model.state.squares["curvature"][20, 3] = 1e9
    model.save(Path("m.cw"))
    ended = cwtool("train", files[1], "--resume", "m.cw", "-m", "new.cw", "--shards", 2,
                   "--engine", "inline")  # fmt: skip
    assert (ended.code, Path("new.cw").exists()) == (4, False)
    assert "not positive definite" in ended.err


@EVERY
def test_empty_files_are_told(algo: str, cwtool: Fails, folder: Path) -> None:
    Path("a.svm").write_text("")
    ended = cwtool("train", "a.svm", *given(algo), "-m", "m.cw")
    assert ended.code == 3
    assert "a.svm: no rows to learn from; the file is empty" in ended.err
    assert not Path("m.cw").exists()
