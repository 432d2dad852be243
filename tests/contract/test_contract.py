"""What every registered algorithm has to keep, in each of its variants."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cwtool import modelfile, registry
from cwtool.algorithms.slotted import Slotted
from cwtool.model import Model
from cwtool.params import declared

BORDER = 4_194_304  # ids below are their own slot, ids above are hashed
BLOCK = 65536  # the smallest block, so that a file of some hundred kB has several


def variants() -> list[Any]:
    found = []
    for name in registry.names():
        own = {p.name: p for p in declared(registry.algorithm(name).Params)}
        choices: dict[str, list[str]] = {name: []}
        if "covariance" in own:
            choices = {
                f"{name}-kl": ["--projection", "kl"],
                f"{name}-l2": ["--projection", "l2"],
                f"{name}-full": ["--covariance", "full"],
            }
            if "factored" in own["covariance"].choices:
                # a buffer so small that every file fills it many times
                small = ["--covariance", "factored", "--rank", "3", "--buffer", "5"]
                choices[f"{name}-factored"] = small
                choices[f"{name}-em"] = [*small, "--fit", "em", "--em-iterations", "2"]
        if "solver" in own:
            choices[f"{name}-exact"] = ["--solver", "exact", "--sigma", "0.1"]
            choices[f"{name}-restart"] = ["--carry", "restart"]
        if "k" in own:  # a plane in 30 dimensions wants more neighbours than 3
            choices = {name: ["--k", "25", "--scale", "std"]}
        if "engine" in own:
            short = ["--k", "9", "--steps", "40", "--scale", "std", "--update-every", "25"]
            last = ["--order", "1", "--stop", "last"]
            stsgd = ["--engine", "stsgd", "--kappa", "6", "--steps", "12"]
            choices = {
                name: short,
                f"{name}-fw": [*short, *last, "--predict", "fw", "--w0", "0.1"],
                f"{name}-stsgd": [*short, *last, *stsgd],
            }
        if "discriminant" in own:
            choices = {name: ["--iterations", "2000", "--chains", "2", "--d-max", "15"]}
        if "average" in own:
            switch = "--no-average" if own["average"].default else "--average"
            choices[f"{name}{switch[1:]}"] = [switch]
        if "mode" in own:
            choices = {f"{name}-{mode}": ["--mode", mode] for mode in own["mode"].choices}
        if "budget" in own:
            choices |= {f"{k}-of-29": [*o, "--budget", "29"] for k, o in choices.items()}
        if "burst" in own:
            short = ["--burst", "50", "--rejection", "0.5", "--stability", "0.3"]
            choices[f"{name}-short"] = [*short, "--gravity", "count", "--paths", "2"]
            choices[f"{name}-std"] = [*short, "--scale", "std", "--least", "20"]
        if "loss" in own:
            other = own["loss"].choices[-1]
            choices[f"{name}-{other}"] = [*choices.get(name, []), "--loss", other]
        found += [pytest.param(["--algo", name, *o], id=k) for k, o in choices.items()]
    return found


def row_by_row() -> list[Any]:
    """Those that learn single rows, so that passes in a random order make sense."""
    return [v for v in variants() if not issubclass(registry.algorithm(v.values[0][1]), Slotted)]


every = pytest.mark.parametrize("algo", variants())
online = pytest.mark.parametrize("algo", row_by_row())
Run = Callable[..., str]


def essence(path: str) -> tuple[dict[str, Any], dict[str, tuple[str, tuple[int, ...], bytes]]]:
    """Everything a model file holds but its history, fit for =="""
    header, arrays = modelfile.load(Path(path))
    del header["history"]
    return header, {k: (a.dtype.str, a.shape, a.tobytes()) for k, a in arrays.items()}


def predictions(ok: Run, model: str, *data: str) -> str:
    return ok("predict", *data, "-m", model, "--output", "all", "-q")


@every
def test_saved_and_loaded_is_the_same(algo: list[str], ok: Run, planted: Run) -> None:
    ok("train", *algo, planted("a.svm", 1, 300), "-m", "a.cw")
    Model.load(Path("a.cw")).save(Path("copy.cw"))
    assert Path("copy.cw").read_bytes() == Path("a.cw").read_bytes()
    assert predictions(ok, "copy.cw", "a.svm") == predictions(ok, "a.cw", "a.svm")


@every
@pytest.mark.parametrize(("first", "second"), [(300, 400), (700, 900), (1200, 300)])
def test_resumed_equals_one_long_run(
    algo: list[str], first: int, second: int, ok: Run, planted: Run
) -> None:
    a = planted("a.svm", 1, first)
    b = planted("b.svm", 2, second + 1, first=20)  # with ids that a does not have
    ok("train", *algo, a, b, "-m", "long.cw")
    ok("train", *algo, a, "-m", "day1.cw")
    ok("train", "--resume", "day1.cw", b, "-m", "day2.cw")
    assert essence("day2.cw") == essence("long.cw")
    assert predictions(ok, "day2.cw", a, b) == predictions(ok, "long.cw", a, b)


@every
@pytest.mark.parametrize(
    "reading",
    [["--hash-bits", "10", "--bias"], ["--zero-based", "--normalize", "l2"]],
    ids=["hashed with bias", "normalized from 0"],
)
def test_reading_options_resume_exactly(
    algo: list[str], reading: list[str], ok: Run, planted: Run
) -> None:
    a, b = planted("a.svm", 1, 200), planted("b.svm", 2, 200, first=1020)
    ok("train", *algo, a, b, *reading, "-m", "long.cw")
    ok("train", *algo, a, *reading, "-m", "day1.cw")
    ok("train", "--resume", "day1.cw", b, "-m", "day2.cw")
    assert essence("day2.cw") == essence("long.cw")
    said = predictions(ok, "long.cw", a, b)
    assert predictions(ok, "day2.cw", a, b) == said
    assert predictions(ok, "long.cw", a) + said.split("\n", 201)[201] == said


@every
def test_jobs_and_blocks_do_not_matter(algo: list[str], ok: Run, planted: Run) -> None:
    files = [planted("a.svm", 1, 5000), planted("b.svm", 2, 2000)]
    assert Path("a.svm").stat().st_size > 3 * BLOCK
    one = ["train", *algo, *files, "--seed", "3"]
    ok(*one, "--jobs", "1", "-m", "1.cw")
    ok(*one, "--jobs", "2", "--block-size", BLOCK, "-m", "2.cw")
    ok(*one, "--jobs", "3", "--block-size", 2 * BLOCK, "-m", "3.cw")
    want = Path("1.cw").read_bytes()
    assert Path("2.cw").read_bytes() == want
    assert Path("3.cw").read_bytes() == want


@every
def test_features_still_to_come_do_not_matter(algo: list[str], ok: Run, planted: Run) -> None:
    """A block may hold rows with new features far below the row at hand."""
    parts = [planted(f"{k}.svm", k, 1000, first=1 + 25 * k) for k in range(4)]
    Path("a.svm").write_text("".join(Path(part).read_text() for part in parts))
    ok("train", *algo, "a.svm", "-m", "1.cw")
    ok("train", *algo, "a.svm", "--block-size", BLOCK, "-m", "2.cw")
    assert Path("2.cw").read_bytes() == Path("1.cw").read_bytes()


@online
def test_jobs_and_blocks_do_not_matter_over_passes(algo: list[str], ok: Run, planted: Run) -> None:
    one = ["train", *algo, planted("a.svm", 1, 3500), "--passes", "2", "--holdout", "0.2"]
    ok(*one, "--jobs", "1", "-m", "1.cw")
    ok(*one, "--jobs", "2", "--block-size", BLOCK, "-m", "2.cw")
    assert Path("2.cw").read_bytes() == Path("1.cw").read_bytes()


@online
def test_seed_decides_the_passes(algo: list[str], ok: Run, planted: Run) -> None:
    a = planted("a.svm", 1, 300)
    for seed, model in (("5", "one.cw"), ("5", "same.cw"), ("6", "other.cw")):
        ok("train", *algo, a, "--passes", "3", "--seed", seed, "-m", model)
    assert Path("same.cw").read_bytes() == Path("one.cw").read_bytes()
    assert essence("other.cw")[1] != essence("one.cw")[1]


@online
def test_one_pass_does_not_depend_on_the_seed(algo: list[str], ok: Run, planted: Run) -> None:
    a = planted("a.svm", 1, 300)
    ok("train", *algo, a, "--seed", "5", "-m", "one.cw")
    ok("train", *algo, a, "--seed", "6", "-m", "other.cw")
    assert essence("other.cw") == essence("one.cw")


@every
@pytest.mark.parametrize("first", [BORDER - 15, 2**31 - 30], ids=str)
def test_new_features_of_any_id(algo: list[str], first: int, ok: Run, planted: Run) -> None:
    a, b = planted("a.svm", 1, 150), planted("b.svm", 2, 150, first=first)
    ok("train", *algo, a, "-m", "day1.cw")
    before = len(modelfile.load(Path("day1.cw"))[1]["ids"])
    ok("train", "--resume", "day1.cw", b, "-m", "day2.cw")
    ok("train", *algo, a, b, "-m", "long.cw")
    assert essence("day2.cw") == essence("long.cw")
    ids = modelfile.load(Path("day2.cw"))[1]["ids"]
    assert len(ids) == before + 30
    assert len(np.unique(ids)) == len(ids)
    assert ids.max() == first + 28  # 0-based
    assert Path("day2.cw").stat().st_size < 100_000


@every
def test_only_the_large_ids_are_another_name(algo: list[str], ok: Run, planted: Run) -> None:
    """The same rows under small, hashed, and mixed ids give the same scores."""
    said = []
    for first in (1, BORDER - 15, 2_000_000_000):
        text = planted("a.svm", 1, 200)
        rows = [line.split() for line in Path(text).read_text().splitlines()]
        shifted = [
            " ".join(
                [label, *(f"{int(j) + first - 1}:{x}" for j, x in (c.split(":") for c in row))]
            )
            for label, *row in rows
        ]
        Path("shifted.svm").write_text("\n".join(shifted))
        ok("train", *algo, "shifted.svm", "-m", "m.cw")
        said.append(predictions(ok, "m.cw", "shifted.svm"))
    assert said[1] == said[0]
    assert said[2] == said[0]


@every
def test_empty_rows(algo: list[str], ok: Run, folder: Path) -> None:
    Path("a.svm").write_text("-1\n+1\n+1 1:1\n-1 2:1\n+1\n" * 30)
    ok("train", *algo, "a.svm", "-m", "m.cw")
    header, arrays = modelfile.load(Path("m.cw"))
    assert header["rows"] == 150
    assert all(np.isfinite(a).all() for a in arrays.values())
    rows = predictions(ok, "m.cw", "a.svm").splitlines()[1:]
    assert len(rows) == 150
    if registry.algorithm(algo[1]).measure == "weight":  # else the origin is a place like others
        _, score, variance, probability = rows[0].split("\t")
        assert (float(score), float(variance), float(probability)) == (0, 0, 0.5)
    assert [r.split("\t")[0] for r in rows[2:4]] == ["+1", "-1"]


@every
def test_only_empty_rows(algo: list[str], ok: Run, folder: Path) -> None:
    Path("a.svm").write_text("-1\n+1\n")
    ok("train", *algo, "a.svm", "-m", "m.cw")
    assert modelfile.load(Path("m.cw"))[0]["features"] == 0
    assert len(predictions(ok, "m.cw", "a.svm").splitlines()) == 3


@every
def test_predicting_changes_nothing(algo: list[str], ok: Run, planted: Run) -> None:
    ok("train", *algo, planted("a.svm", 1, 200), "-m", "m.cw")
    before = Path("m.cw").read_bytes()
    ok("predict", planted("b.svm", 2, 200, first=25), "-m", "m.cw", "--evaluate")
    assert Path("m.cw").read_bytes() == before
    assert (
        predictions(ok, "m.cw", "b.svm", "b.svm").splitlines()[1:201]
        == (predictions(ok, "m.cw", "b.svm").splitlines()[1:])
    )


@every
def test_one_class(algo: list[str], cwtool: Callable[..., Any], ok: Run, planted: Run) -> None:
    Path("one.svm").write_text("+1 1:1 2:0.5\n+1 2:1\n")
    ended = cwtool("train", *algo, "one.svm", "-m", "m.cw")
    assert ended.code == 3
    assert "two classes are needed" in ended.err
    assert not Path("m.cw").exists()
    a = planted("a.svm", 1, 100)
    ok("train", *algo, a, "-m", "m.cw")
    ok("train", "--resume", "m.cw", "one.svm", "-m", "m.cw")
    assert modelfile.load(Path("m.cw"))[0]["rows"] == 102


@every
@pytest.mark.parametrize("value", ["1e200", "1e-200", "1e308"])
def test_extreme_values_leave_a_finite_model(
    algo: list[str], value: str, ok: Run, planted: Run
) -> None:
    usual = Path(planted("usual.svm", 1, 1100)).read_text().splitlines()
    strange = [f"+1 1:{value} 2:1 40:{value}", f"-1 1:{value} 41:-{value}", f"-1 2:3 40:{value}"]
    alone = [f"+1 1:{value} 40:{value}", f"-1 1:{value} 41:-{value}"]
    for rows in (strange + usual, usual + strange, strange * 10, alone * 10):
        Path("a.svm").write_text("\n".join(rows))
        ok("train", *algo, "a.svm", "-m", "m.cw")
        _, arrays = modelfile.load(Path("m.cw"))
        assert all(np.isfinite(a).all() for a in arrays.values())
        Path("strange.svm").write_text("\n".join(strange + usual[:3]))
        for line in predictions(ok, "m.cw", "strange.svm").splitlines()[1:]:
            _, score, variance, probability = map(float, line.split("\t"))
            assert not np.isnan(score)
            assert variance >= 0
            assert 0 <= probability <= 1
        ok("inspect", "m.cw", "--json")
        ok("train", "--resume", "m.cw", "--again", "a.svm", "-m", "m.cw")


@every
def test_learns(algo: list[str], ok: Run, planted: Run) -> None:
    """Far better than guessing on rows it has not seen."""
    ok("train", *algo, planted("a.svm", 1, 2000), "-m", "m.cw")
    found = json.loads(
        ok("predict", planted("b.svm", 2, 500), "-m", "m.cw", "--evaluate", "--json")
    )
    assert found["error"] < 0.2
    assert found["auc"] > 0.85
