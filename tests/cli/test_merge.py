"""cwtool merge: what it writes, what it says, and what it refuses."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cwtool.model import Model

Run = Callable[..., str]


@pytest.fixture
def parts(ok: Run, planted: Run) -> list[str]:
    """Two models that continue h.cw."""
    ok("train", planted("h.svm", 1, 300), "-m", "h.cw")
    for k in (1, 2):
        ok("train", planted(f"p{k}.svm", 1 + k, 200), "--resume", "h.cw", "-m", f"p{k}.cw")
    planted("last.svm", 4, 100)
    planted("next.svm", 5, 100)
    return ["p1.cw", "p2.cw"]


def test_parts_of_one_model(ok: Run, parts: list[str]) -> None:
    shown = ok("merge", *parts, "--base", "h.cw", "--tail", "last.svm", "-m", "all.cw")
    assert "2 models merged from h.cw by " in shown
    assert "tail 100 rows, error " in shown
    assert "800 rows  features " in shown
    assert "wrote all.cw" in shown
    model = Model.load(Path("all.cw"))
    assert model.rows == 800
    assert list(model.learned().values()) == ["h.svm", "p1.svm", "p2.svm", "last.svm"]
    assert len(model.known) == 800
    history = ok("inspect", "all.cw")
    assert "4. merged p1.cw (200 rows), p2.cw (200 rows) from h.cw by " in history
    assert "; last.svm: 100 rows, error " in history


def test_a_merged_model_predicts_resumes_exports_and_merges_again(
    ok: Run, cwtool: Callable[..., Any], parts: list[str]
) -> None:
    ok("merge", *parts, "--base", "h.cw", "-m", "all.cw")
    assert "error" in ok("predict", "last.svm", "-m", "all.cw", "--evaluate")
    ok("export", "all.cw", "--format", "liblinear", "-o", "all.model")
    assert ok("report", "all.cw", "--text")
    for k, name in enumerate(("last", "next")):
        ok("train", f"{name}.svm", "--resume", "all.cw", "-m", f"q{k}.cw")
    assert "skipped" in cwtool("train", "p1.svm", "--resume", "all.cw", "-m", "r.cw").err
    ok("merge", "q0.cw", "q1.cw", "--base", "all.cw", "-m", "next.cw")
    merged = Model.load(Path("next.cw"))
    assert merged.rows == 900
    assert [run.get("base") for run in merged.history if "merged" in run] == ["h.cw", "all.cw"]


def test_the_event(ok: Run, parts: list[str]) -> None:
    args = ["merge", *parts, "--base", "h.cw", "-m", "all.cw", "--json"]
    event = json.loads(ok(*args, "--tail", "last.svm", "next.svm"))
    assert event["event"] == "merge"
    assert event["merged"] == [{"name": "p1.cw", "rows": 200}, {"name": "p2.cw", "rows": 200}]
    assert [f["name"] for f in event["files"]] == ["last.svm", "next.svm"]
    assert event["tail_rows"] == 200 and event["rows"] == 900
    assert list(event["losses"]) == ["inc", "nat(1/4)", "nat(1/2)", "nat(3/4)", "nat(1)"]
    assert event["chosen"] == min(event["losses"], key=event["losses"].get)
    assert 0 < event["tail_error"] < 1
    assert json.loads(ok(*args))["chosen"] == "inc"
    assert ok(*args[:-1], "-q") == ""


def test_the_order_is_that_of_the_arguments(ok: Run, parts: list[str]) -> None:
    ok("merge", *parts, "--base", "h.cw", "-m", "all.cw")
    ok("merge", *parts[::-1], "--base", "h.cw", "-m", "back.cw")
    one, two = (Model.load(Path(name)) for name in ("all.cw", "back.cw"))
    assert list(one.learned().values()) == ["h.svm", "p1.svm", "p2.svm"]
    assert list(two.learned().values()) == ["h.svm", "p2.svm", "p1.svm"]
    np.testing.assert_allclose(one.weights().weight, two.weights().weight, rtol=1e-9)


def test_models_before_and_behind_the_tail(ok: Run, parts: list[str]) -> None:
    ok("merge", "--tail", "last.svm", *parts, "--base", "h.cw", "-m", "a.cw")
    ok("merge", *parts, "--base", "h.cw", "--tail", "last.svm", "-m", "b.cw")
    assert Path("a.cw").read_bytes() == Path("b.cw").read_bytes()


def test_one_model_is_written_as_it_is(ok: Run, parts: list[str]) -> None:
    for base in ([], ["--base", "h.cw"]):
        assert "1 model merged" in ok("merge", "p1.cw", *base, "-m", "one.cw")
        assert Path("one.cw").read_bytes() == Path("p1.cw").read_bytes()


def test_models_without_a_base(ok: Run, planted: Run) -> None:
    for k in (1, 2):
        ok("train", planted(f"d{k}.svm", k, 300), "-m", f"d{k}.cw")
    assert "by nat(1)" in ok("merge", "d1.cw", "d2.cw", "-m", "both.cw")
    assert Model.load(Path("both.cw")).rows == 600


# -- refusals -------------------------------------------------------------------------------------

LABELS = (("+1 ", "2 "), ("-1 ", "0 "))


def relabelled(text: str) -> str:
    for old, new in LABELS:
        text = "\n".join(
            new + line[len(old) :] if line.startswith(old) else line for line in text.split("\n")
        )
    return text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--algo", "cw"], "d1.cw is a model of arow, and d2.cw one of cw"),
        (["-r", "1"], "d1.cw was trained with -r 0.1, and d2.cw with -r 1.0"),
        (["--bias"], "d1.cw was trained without --bias, and d2.cw with --bias"),
        (["--normalize", "l2"], "with --normalize none, and d2.cw with --normalize l2"),
        (["--class-weight", "balanced"], "without --class-weight, and d2.cw with --class-weight"),
    ],
)
def test_settings_that_differ(
    cwtool: Callable[..., Any], ok: Run, planted: Run, options: list[str], message: str
) -> None:
    ok("train", planted("d1.svm", 1, 300), "-m", "d1.cw")
    ok("train", planted("d2.svm", 2, 300), "-m", "d2.cw", *options)
    ended = cwtool("merge", "d1.cw", "d2.cw", "-m", "both.cw")
    assert ended.code == 4
    assert message in ended.err and "hint: only models " in ended.err
    assert not Path("both.cw").exists()


def test_labels_that_differ(cwtool: Callable[..., Any], ok: Run, planted: Run) -> None:
    ok("train", planted("d1.svm", 1, 300), "-m", "d1.cw")
    Path("d2.svm").write_text(relabelled(Path(planted("x.svm", 2, 300)).read_text()))
    ok("train", "d2.svm", "-m", "d2.cw")
    ended = cwtool("merge", "d1.cw", "d2.cw", "-m", "both.cw")
    assert ended.code == 4
    assert "d1.cw has the labels -1, +1, and d2.cw the labels 0, 2" in ended.err


def three(ok: Run, name: str, seed: int, labels: tuple[str, ...]) -> None:
    """A model of rows with these labels, which are told by their own feature."""
    random = np.random.default_rng(seed)
    picked = random.integers(0, len(labels), 120)
    rows = [f"{labels[k]} {labels[k]}:1 {30 + int(random.integers(9))}:0.5" for k in picked]
    Path(f"{name}.svm").write_text("\n".join(rows) + "\n")
    ok("train", f"{name}.svm", "-m", f"{name}.cw", "--multiclass", "rival")


def test_labels_of_several_classes(cwtool: Callable[..., Any], ok: Run) -> None:
    three(ok, "a", 1, ("1", "2", "3"))
    three(ok, "b", 2, ("4", "3", "2"))
    three(ok, "c", 3, ("7", "8", "9"))
    ok("merge", "a.cw", "b.cw", "-m", "ab.cw")
    assert sorted(Model.load(Path("ab.cw")).labels.values) == [1, 2, 3, 4]
    Path("t.svm").write_text("".join(f"{k} {k}:1\n" for k in (1, 2, 3, 4)))
    assert ok("predict", "t.svm", "-m", "ab.cw").split() == ["1", "2", "3", "4"]
    ended = cwtool("merge", "a.cw", "c.cw", "-m", "ac.cw")
    assert ended.code == 4 and "a.cw has the labels " in ended.err


def test_row_scales_that_differ(cwtool: Callable[..., Any], ok: Run, planted: Run) -> None:
    ok("train", planted("d1.svm", 1, 300), "-m", "d1.cw")
    lines = Path(planted("x.svm", 2, 300)).read_text().splitlines()
    for factor, code in ((2.0, 0), (9.0, 4)):
        scaled = []
        for line in lines:
            label, *pairs = line.split()
            values = [pair.split(":") for pair in pairs]
            scaled.append(" ".join([label, *(f"{j}:{factor * float(v)}" for j, v in values)]))
        Path("d2.svm").write_text("\n".join(scaled) + "\n")
        ok("train", "d2.svm", "-m", "d2.cw")
        ended = cwtool("merge", "d1.cw", "d2.cw", "-m", "both.cw")
        assert ended.code == code, ended.err
    assert "row scales may differ by a factor of 4 at most" in ended.err


def test_models_that_do_not_belong_together(
    cwtool: Callable[..., Any], ok: Run, parts: list[str]
) -> None:
    ended = cwtool("merge", *parts, "-m", "all.cw")
    assert ended.code == 4
    assert "p1.cw and p2.cw both learned h.svm" in ended.err
    assert "hint: give the model that both were resumed from as --base" in ended.err
    ended = cwtool("merge", *parts, "p1.cw", "--base", "h.cw", "-m", "all.cw")
    assert ended.code == 4 and "p1.cw and p1.cw both learned p1.svm" in ended.err
    ok("train", "last.svm", "-m", "other.cw")
    ended = cwtool("merge", "p1.cw", "other.cw", "--base", "h.cw", "-m", "all.cw")
    assert ended.code == 4 and "other.cw does not continue h.cw" in ended.err
    ended = cwtool("merge", "h.cw", "other.cw", "--base", "p1.cw", "-m", "all.cw")
    assert ended.code == 4 and "h.cw does not continue p1.cw" in ended.err
    assert not Path("all.cw").exists()


def test_algorithms_that_cannot_be_merged(
    cwtool: Callable[..., Any], ok: Run, planted: Run
) -> None:
    for algo in ("tg", "dcd"):
        for k in (1, 2):
            ok("train", planted(f"d{k}.svm", k, 60), "-m", f"d{k}.cw", "--algo", algo)
        ended = cwtool("merge", "d1.cw", "d2.cw", "-m", "both.cw")
        assert ended.code == 2
        assert f"models of {algo} cannot be merged: " in ended.err
        assert "hint: train one model on all files" in ended.err
    ok("merge", "d1.cw", "-m", "same.cw")
    assert Path("same.cw").read_bytes() == Path("d1.cw").read_bytes()


def test_rows_of_the_tail_must_be_new(
    cwtool: Callable[..., Any], ok: Run, parts: list[str]
) -> None:
    shutil.copy("p1.svm", "copy.svm")
    ended = cwtool("merge", *parts, "--base", "h.cw", "--tail", "copy.svm", "-m", "all.cw")
    assert ended.code == 3
    assert "p1.cw has learned copy.svm" in ended.err
    Path("empty.svm").write_text("")
    ended = cwtool("merge", *parts, "--base", "h.cw", "--tail", "empty.svm", "-m", "all.cw")
    assert ended.code == 3 and "no rows to choose the merge by" in ended.err
    ended = cwtool("merge", *parts, "--base", "h.cw", "--tail", "none.svm", "-m", "all.cw")
    assert ended.code == 3
    Path("bad.svm").write_text("+1 3:1 2:1\n")
    ended = cwtool("merge", *parts, "--base", "h.cw", "--tail", "bad.svm", "-m", "all.cw")
    assert ended.code == 3 and "bad.svm:1:" in ended.err
    assert not Path("all.cw").exists()


def test_files_that_are_no_models(cwtool: Callable[..., Any], parts: list[str]) -> None:
    assert cwtool("merge", "p1.cw", "none.cw", "-m", "all.cw").code == 4
    assert cwtool("merge", "p1.cw", "p1.svm", "-m", "all.cw").code == 4
    assert cwtool("merge", *parts, "--base", "h.cw", "-m", "h.svm").code == 4
    assert cwtool("merge", "-m", "all.cw").code == 2
    assert cwtool("merge", *parts).code == 2
    damaged = Path("p1.cw").read_bytes()
    Path("p1.cw").write_bytes(damaged[:-40])
    assert cwtool("merge", *parts, "--base", "h.cw", "-m", "all.cw").code == 4
    assert not Path("all.cw").exists()


def test_a_model_may_be_replaced_by_its_merge(ok: Run, parts: list[str]) -> None:
    ok("merge", *parts, "--base", "h.cw", "-m", "all.cw")
    ok("merge", *parts, "--base", "h.cw", "-m", "h.cw")
    assert Path("h.cw").read_bytes() == Path("all.cw").read_bytes()


def test_rows_that_both_models_have_learned_are_told(
    cwtool: Callable[..., Any], ok: Run, planted: Run
) -> None:
    text = Path(planted("d1.svm", 1, 300)).read_text()
    Path("d2.svm").write_text(text + Path(planted("x.svm", 2, 20)).read_text())
    for k in (1, 2):
        ok("train", f"d{k}.svm", "-m", f"d{k}.cw")
    ended = cwtool("merge", "d1.cw", "d2.cw", "-m", "both.cw")
    assert ended.code == 0
    assert "d2.cw: about 94 % of its rows are also rows of d1.cw" in ended.err


def test_nearest_neighbours_of_all_rows(ok: Run, planted: Run) -> None:
    """What training on the files of both gives."""
    for k in (1, 2):
        ok("train", planted(f"d{k}.svm", k, 80), "-m", f"d{k}.cw", "--algo", "knn")
    ok("merge", "d1.cw", "d2.cw", "-m", "both.cw")
    ok("train", "d1.svm", "d2.svm", "-m", "one.cw", "--algo", "knn")
    planted("t.svm", 3, 50)
    one, two = (ok("predict", "t.svm", "-m", m, "--output", "score") for m in ("both.cw", "one.cw"))
    assert one == two
