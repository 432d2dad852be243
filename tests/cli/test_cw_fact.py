"""--covariance factored: where it is offered, what it shows, and that cw-fact is cw with it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cwtool import registry
from cwtool.model import file as modelfile

Run = Callable[..., Any]
OWN = ("--rank", "--buffer", "--fit", "--em-iterations")
FACTORED = ("cw", "cw-var", "cw-fact", "arow", "scw1", "scw2")


@pytest.mark.parametrize("algo", registry.names())
def test_offered_where_it_applies(algo: str, ok: Run) -> None:
    shown = ok("train", "--algo", algo, "--help")
    assert all((f"{option} " in shown) == (algo in FACTORED) for option in OWN)
    assert ("full|factored]" in shown) == (algo in FACTORED and algo != "cw-fact")
    assert ("dense factor R" in " ".join(shown.split())) == (algo in FACTORED)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["-a", "nherd", "--covariance", "factored"], "one of diag, full"),
        (["-a", "sop", "--rank", "3"], "option of cw, cw-var, cw-fact, arow, scw1, scw2"),
        (["-a", "cw-fact", "--covariance", "full"], "option of"),
        (["-a", "cw-fact", "--rank", "0"], "at least 1"),
        (["-a", "cw-fact", "--fit", "em", "--em-iterations", "0"], "at least 1"),
        (["-a", "cw-fact", "--fit", "ml"], "one of spectral, em"),
    ],
    ids=str,
)
def test_refused(given: list[str], words: str, cwtool: Run, planted: Run) -> None:
    ended = cwtool("train", *given, planted("a.svm", 1, 20), "-m", "m.cw")
    assert ended.code == 2
    assert words in " ".join(ended.err.split())
    assert not Path("m.cw").exists()


def test_short_name(ok: Run, planted: Run) -> None:
    a = planted("a.svm", 1, 400)
    ok("train", "-a", "cw-fact", "--rank", "2", "--buffer", "5", a, "-m", "short.cw")
    long = ["-a", "cw", "--covariance", "factored", "--rank", "2", "--buffer", "5"]
    ok("train", *long, a, "-m", "long.cw")
    one, other = (modelfile.load(Path(name))[1] for name in ("short.cw", "long.cw"))
    assert one.keys() == other.keys()
    assert all(np.array_equal(one[name], other[name]) for name in one)
    ok("train", "-a", "cw", a, "-m", "diag.cw")
    scores = [ok("predict", a, "-m", m, "--output", "score") for m in ("short.cw", "diag.cw")]
    assert scores[0] != scores[1]


def test_spectrum(ok: Run) -> None:
    rows = [(2 * (k % 2) - 1, k % 7 + 1, k % 3 + 8) for k in range(60)]
    lines = [f"{side} {i}:{side} {j}:{2 * side}" for side, i, j in rows]
    sure = "1 " + " ".join(f"{j}:1" for j in range(1, 11)) + " 99:0.001"  # needs no update
    Path("a.svm").write_text("\n".join([*lines, sure]))
    ok("train", "-a", "cw-fact", "--rank", "3", "--buffer", "4", "a.svm", "-m", "m.cw")
    found = json.loads(ok("inspect", "m.cw", "--json"))
    counts = modelfile.load(Path("m.cw"))[1]["array.counts"]
    assert len(found["spectrum"]) == counts[0] >= 3
    assert found["spectrum"] == sorted(found["spectrum"], reverse=True)
    assert found["spectrum"][2] > 0
    assert (found["updated_features"], found["features"]) == (10, 11)
    shown = ok("inspect", "m.cw")
    assert f"spectrum     {found['spectrum'][0]:.3g} " in shown
    assert f"{found['updated_features']:,} features" in shown
    ok("train", "-a", "cw", "a.svm", "-m", "d.cw")
    assert "spectrum" not in json.loads(ok("inspect", "d.cw", "--json"))
    assert "spectrum" not in ok("inspect", "d.cw")


def test_variance_of_a_row(ok: Run, planted: Run) -> None:
    """x'Sigma x of one feature is x^2 times what inspect says; unseen ones have the prior's."""
    ok("train", "-a", "cw-fact", "--rank", "2", "--buffer", "3", "--prior", "4",
       planted("a.svm", 1, 300), "-m", "m.cw")  # fmt: skip
    ok("inspect", "m.cw", "--weights", "w.tsv")
    rows = [line.split("\t") for line in Path("w.tsv").read_text().splitlines()]
    Path("b.svm").write_text("".join(f"1 {j}:3\n" for j, _, _ in rows) + "1 500:3\n")
    said = ok("predict", "b.svm", "-m", "m.cw", "--output", "variance", "-q").split()
    expected = [9 * float(v) for _, _, v in rows] + [36]
    assert [float(v) for v in said] == pytest.approx(expected, rel=1e-9)
    assert min(expected) < 4


def test_the_best_pass_is_kept_as_it_was(ok: Run, planted: Run) -> None:
    """Later passes change R in place; the pass that is kept is not changed by them."""
    a, b = planted("a.svm", 1, 300), planted("b.svm", 2, 200)
    common = ["-a", "cw-fact", "--rank", "2", "--buffer", "3", a, "--validation", b]
    said = ok("train", *common, "--passes", "6", "-m", "best.cw", "--json")
    best = json.loads(said.splitlines()[-1])["best_pass"]
    assert best < 6
    ok("train", *common, "--passes", best, "-m", "stopped.cw")
    one, other = (modelfile.load(Path(name))[1] for name in ("best.cw", "stopped.cw"))
    assert all(np.array_equal(one[name], other[name]) for name in one)
