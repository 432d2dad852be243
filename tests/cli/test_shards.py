"""Training in shards: the same bits from every engine, and what plain training promises."""

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cwtool.model import Model

Run = Callable[..., str]
Fails = Callable[..., Any]

DEALT = ("--shards", 3, "--head", "20KB", "--tail-rows", 300)


@pytest.fixture
def files(planted: Callable[..., str]) -> list[str]:
    return [planted("a.svm", 1, 3000), planted("b.svm", 2, 1500, first=11)]


def bytes_of(name: str) -> bytes:
    return Path(name).read_bytes()


def model_of(name: str) -> Model:
    return Model.load(Path(name))


def without(model: Model, *names: str) -> bytes:
    for name in names:
        model.history[-1].pop(name, None)
    return model.to_bytes()


def test_one_shard_is_plain_training(ok: Run, files: list[str]) -> None:
    ok("train", *files, "-m", "plain.cw")
    ok("train", *files, "-m", "one.cw", "--shards", 1)
    assert model_of("one.cw").history[0]["shards"] == 1
    assert without(model_of("one.cw"), "shards") == without(model_of("plain.cw"))


def test_every_engine_gives_the_same_bits(ok: Run, files: list[str]) -> None:
    ok("train", *files, "-m", "inline.cw", *DEALT, "--engine", "inline")
    ok("train", *files, "-m", "loky.cw", *DEALT, "--engine", "loky", "--jobs", 2)
    ok("train", *files, "-m", "local.cw", *DEALT, "--engine", "local", "--block-size", 65536)
    assert bytes_of("loky.cw") == bytes_of("inline.cw") == bytes_of("local.cw")


def test_history_counts_and_features_are_those_of_plain_training(ok: Run, files: list[str]) -> None:
    ok("train", *files, "-m", "plain.cw")
    out = ok("train", *files, "-m", "dealt.cw", *DEALT, "--json")
    plain, dealt = model_of("plain.cw"), model_of("dealt.cw")
    events = [json.loads(line) for line in out.splitlines()]
    rounds = [e for e in events if e["event"] == "round"]
    assert dealt.history[0]["files"] == plain.history[0]["files"]
    assert (dealt.rows, dealt.index.count) == (4500, plain.index.count)
    assert dealt.known.hashes.tolist() == plain.known.hashes.tolist()
    assert dealt.scale.value == plain.scale.value
    assert dealt.calibration.rows == 4500
    run = dealt.history[0]
    assert run["shards"] == 3
    assert run["rounds"] == len(rounds) == len(run["chosen"]) > 1
    assert run["chosen"] == [r["chosen"] for r in rounds]
    assert run["tail_error"] == rounds[-1]["tail_error"]
    by_file = [e["rows"] for e in events if e["event"] == "file"]
    assert by_file == [3000, 1500]
    assert abs(run["error"] - plain.history[0]["error"]) < 0.05
    assert "3 shards" in ok("inspect", "dealt.cw")


@pytest.mark.parametrize("algo", ["cw", "pa1", "narow", "cw-fact", "sgd"])
def test_families(algo: str, ok: Run, files: list[str]) -> None:
    ok("train", *files, "-m", "m.cw", *DEALT, "--algo", algo, "--rounds", 2)
    ok("train", *files, "-m", "plain.cw", "--algo", algo)
    ok("predict", "b.svm", "-m", "m.cw")
    model, plain = model_of("m.cw"), model_of("plain.cw")
    assert model.history[0]["rounds"] == 2
    assert model.rows == 4500
    assert abs(model.history[0]["error"] - plain.history[0]["error"]) < 0.06


def test_several_classes_and_weights(ok: Run, files: list[str]) -> None:
    texts = Path("a.svm").read_text().splitlines()
    third = [f"{k % 3 + 1}:{1 + k % 2} {line.split(' ', 1)[1]}" for k, line in enumerate(texts)]
    Path("c.svm").write_text("\n".join(third) + "\n")
    ok("train", "c.svm", "-m", "m.cw", *DEALT, "--class-weight", "balanced")
    ok("train", "c.svm", "-m", "p.cw", "--class-weight", "balanced")
    model, plain = model_of("m.cw"), model_of("p.cw")
    assert model.labels.several == plain.labels.several
    assert model.class_weight.counts == plain.class_weight.counts
    assert model.history[0]["weight"] == plain.history[0]["weight"]


def test_a_model_that_is_resumed_needs_no_head(ok: Run, files: list[str]) -> None:
    ok("train", "a.svm", "-m", "m.cw")
    ok("train", "b.svm", "--resume", "m.cw", "-m", "n.cw", "--shards", 4)
    model = model_of("n.cw")
    assert [run.get("shards") for run in model.history] == [None, 4]
    assert model.history[1]["rounds"] == 1  # not longer than all before it
    assert model.rows == 4500


def test_compressed_files_stay_whole(ok: Run, planted: Callable[..., str]) -> None:
    names = []
    for k in range(6):
        text = Path(planted(f"{k}.svm", k, 800)).read_bytes()
        Path(f"{k}.svm.gz").write_bytes(gzip.compress(text))
        names.append(f"{k}.svm.gz")
    ok("train", *names, "-m", "plain.cw")
    ok("train", *names, "-m", "m.cw", "--shards", 2, "--head", "1KB", "--engine", "inline")
    ok("train", *names, "-m", "n.cw", "--shards", 2, "--head", "1KB", "--block-size", 65536)
    plain, model = model_of("plain.cw"), model_of("m.cw")
    assert bytes_of("m.cw") == bytes_of("n.cw")
    assert model.history[0]["files"] == plain.history[0]["files"]
    assert (model.rows, model.history[0]["rounds"]) == (4800, 1)


@pytest.mark.slow
def test_further_passes_and_validation(ok: Run, files: list[str]) -> None:
    given = ("-m", "m.cw", *DEALT, "--passes", 3, "--validation", "b.svm")
    out = ok("train", *files, *given, "--json")
    events = [json.loads(line) for line in out.splitlines()]
    assert [e["pass"] for e in events if e["event"] == "validation"] == [1, 2, 3]
    assert all(e["error"] > 0 for e in events if e["event"] == "pass")
    first = bytes_of("m.cw")
    ok("train", *files, *given, "--engine", "loky", "--jobs", 2)
    assert bytes_of("m.cw") == first
    run = model_of("m.cw").history[0]
    assert run["rounds"] == len([e for e in events if e["event"] == "round"])
    assert (run["rows"], run["passes"]) == (4500, 3)


def test_data_shorter_than_the_head_is_learned_in_sequence(cwtool: Fails, files: list[str]) -> None:
    ended = cwtool("train", *files, "-m", "m.cw", "--shards", 5)
    assert ended.code == 0
    assert "in sequence" in ended.err
    cwtool("train", *files, "-m", "p.cw")
    dealt = ("shards", "rounds", "chosen", "tail_error", "head", "tail_rows", "growth")
    assert without(model_of("m.cw"), *dealt) == without(model_of("p.cw"))


def test_rows_sorted_by_class_have_a_head_with_both(ok: Run, files: list[str]) -> None:
    lines = sorted(Path("a.svm").read_text().splitlines(), reverse=True)
    Path("s.svm").write_text("\n".join(lines) + "\n")
    ok("train", "s.svm", "-m", "m.cw", *DEALT)
    assert model_of("m.cw").rows == 3000


@pytest.mark.parametrize(
    ("line", "words"),
    [("+1 3:x", ":2501:6: value x"), ("3 3:1", ":2501: label 3 is a third class")],
)
def test_faults_have_their_place(line: str, words: str, cwtool: Fails, files: list[str]) -> None:
    lines = Path("a.svm").read_text().splitlines()
    lines[2500] = line
    Path("a.svm").write_text("\n".join(lines) + "\n")
    Path("b.svm").write_text("+1 4:y\n" + Path("b.svm").read_text())
    ended = cwtool("train", *files, "-m", "m.cw", *DEALT)
    assert (ended.code, Path("m.cw").exists()) == (3, False)
    assert f"a.svm{words}" in ended.err


def test_bad_lines_are_summed(cwtool: Fails, ok: Run, files: list[str]) -> None:
    lines = Path("a.svm").read_text().splitlines()
    for k in range(1, 3000, 300):
        lines[k] = "bad"
    Path("a.svm").write_text("\n".join(lines) + "\n")
    skip = ("--on-bad-line", "skip", "--max-bad-lines")
    ended = cwtool("train", *files, "-m", "m.cw", *DEALT, *skip, 9)
    assert ended.code == 3
    assert "more than 9 bad lines" in ended.err
    ended = cwtool("train", *files, "-m", "m.cw", *DEALT, *skip, 10)
    assert ended.code == 0
    assert "a.svm: 10 bad lines skipped; a.svm:2:1" in ended.err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--holdout", 0.1), "--holdout does not work with --shards"),
        (("--trace", 100), "--trace does not work with --shards"),
        (("--algo", "spar-dca"), "cannot be learned in shards"),
        (("--scheduler", "tcp://127.0.0.1:1"), "--scheduler needs --work-dir"),
        (("--growth", 3, "--rounds", 2), "leave out --growth"),
        (("--engine", "loky", "--scheduler", "tcp://x:1", "--work-dir", "w"), "--engine dask"),
    ],
)
def test_refusals_before_anything_is_read(
    given: tuple[Any, ...], words: str, cwtool: Fails
) -> None:
    ended = cwtool("train", "missing.svm", "-m", "m.cw", "--shards", 2, *given)
    assert ended.code == 2
    assert words in ended.err


def test_other_refusals(cwtool: Fails, files: list[str]) -> None:
    rows = bytes_of("a.svm")
    ended = cwtool("train", "-", "-m", "m.cw", "--shards", 2, stdin=rows)
    assert (ended.code, "can be read only once" in ended.err) == (2, True)
    ended = cwtool("train", "a.svm", "-m", "m.cw", "--rounds", 2)
    assert (ended.code, "--rounds needs --shards" in ended.err) == (2, True)


def test_a_gate_on_the_metrics_of_the_shards(cwtool: Fails, files: list[str]) -> None:
    ended = cwtool("train", *files, "-m", "m.cw", *DEALT, "--require", "error<0.0001")
    assert ended.code == 5
    assert Path("m.cw.rejected").exists()


def test_finished_shards_are_used_again(
    ok: Run, cwtool: Fails, files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ok("train", *files, "-m", "m.cw", *DEALT)
    expected = bytes_of("m.cw")

    def stops(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr("cwtool.shards.driver.merge", stops)
        assert cwtool("train", *files, "-m", "m.cw", *DEALT, "--work-dir", "w").code == 130
    kept = sorted(p for p in Path("w").iterdir() if p.suffix == ".change")
    assert len(kept) == 3
    times = [p.stat().st_mtime_ns for p in kept]
    with monkeypatch.context() as broken:  # again, to see that nothing was learned anew
        broken.setattr("cwtool.shards.driver.merge", stops)
        assert cwtool("train", *files, "-m", "m.cw", *DEALT, "--work-dir", "w").code == 130
    assert [p.stat().st_mtime_ns for p in kept] == times
    ok("train", *files, "-m", "m.cw", *DEALT, "--work-dir", "w")
    assert bytes_of("m.cw") == expected
    assert list(Path("w").iterdir()) == []


def test_feed_in_shards(ok: Run, files: list[str]) -> None:
    ok("feed", *files, "-m", "f.cw", "--shards", 3, "--rounds", 2, "--accept")
    ok("feed", *files, "-m", "g.cw", "--shards", 3, "--rounds", 2, "--accept", "--engine", "inline")
    model, other = model_of("f.cw"), model_of("g.cw")
    assert [run["shards"] for run in model.history] == [3, 3]
    assert model.history[1]["rounds"] == 2
    assert model.weights().weight.tolist() == other.weights().weight.tolist()


def test_urls_are_read_by_the_workers(ok: Run, cwtool: Fails, files: list[str]) -> None:
    pytest.importorskip("fsspec")
    urls = [f"file://{Path(name).absolute()}" for name in files]
    ok("train", *files, "-m", "plain.cw")
    ok("train", *urls, "-m", "urls.cw")
    assert model_of("urls.cw").weights().weight.tolist() == (
        model_of("plain.cw").weights().weight.tolist()
    )
    ok("train", *urls, "-m", "dealt.cw", *DEALT)
    run = model_of("dealt.cw").history[0]
    assert [f["digest"] for f in run["files"]] == list(model_of("plain.cw").learned())
    assert (run["rows"], run["rounds"]) == (4500, 1)
    ended = cwtool("train", "file:///no/such/file.svm", "-m", "m.cw")
    assert (ended.code, "no such file" in ended.err) == (3, True)


@pytest.mark.parametrize("algo", ["arow", "dcd"])
def test_classes_that_come_late_in_shards(algo: str, folder: Path, ok: Run) -> None:
    """Each shard numbers the classes that it meets for the first time by itself."""
    draw = random.Random(3)

    def text(n: int, labels: list[int]) -> str:
        drawn = [draw.choice(labels) for _ in range(n)]
        return "".join(f"{y} {y}:1 {draw.randint(9, 20)}:0.5\n" for y in drawn)

    (folder / "a.svm").write_text(text(1200, [1, 2, 3]))
    (folder / "b.svm").write_text(text(60, [1, 2, 3, 5]) + text(60, [1, 2, 3, 4]))
    ok("train", "a.svm", "-a", algo, "-m", "a.cw")
    said = ok("train", "b.svm", "--resume", "a.cw", "-m", "b.cw", "--shards", "2",
              "--engine", "inline", "--json")  # fmt: skip
    [found] = [line for line in map(json.loads, said.splitlines()) if line["event"] == "file"]
    assert found["classes"] == ["1", "2", "3", "4", "5"]
    labels = [line.split()[0] for line in Path("b.svm").read_text().splitlines()]
    rows = [sum(row) for row in found["confusion"]]
    if "unpredicted" in found:
        rows = [a + b for a, b in zip(rows, found["unpredicted"][:-1], strict=True)]
    assert rows == [labels.count(name) for name in found["classes"]]
    inside = Model.load(Path("b.cw"))
    assert sorted(inside.labels.several) == [1, 2, 3, 4, 5]
    assert inside.progress.counts.sum() == 1320
