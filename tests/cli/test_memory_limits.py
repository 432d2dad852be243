"""A run that needs more memory than it may use is refused before it uses it."""

import gc
import gzip
import lzma
import tracemalloc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cwtool import memory, registry
from cwtool.data.labels import Labels
from cwtool.data.names import bytes_of_names
from cwtool.data.pipeline import ReadOptions, read_blocks
from cwtool.data.reading_memory import SMALLEST, bytes_of_reading
from cwtool.data.reading_sizes import source_of
from cwtool.data.rows import Rows
from cwtool.data.spans import Span
from cwtool.data.spool import Spool
from cwtool.errors import DataError, UsageError
from cwtool.export.covariance import covariance_of
from cwtool.metrics.ranking import ROW, Ranking
from cwtool.model import Model, file
from cwtool.predict import MOST_SCORES, scored, unlabelled
from cwtool.validation import held_bytes

READER = 600_000  # bytes, for a file of some kilobytes
Run = Callable[..., Any]


def beside_reading(path: str, left: float, times: int = 1, learners: int = 0) -> list[str]:
    """Options with a limit that leaves so many bytes beside reading the file so many times, and
    the counts of what models predict before they learn it."""
    found = source_of(path, ReadOptions())
    needed = memory.counted(bytes_of_reading(SMALLEST, 2, times * found.size))
    needed += memory.bytes_of_counts(learners, times * found.lines)
    return ["-j", "2", "--max-memory", f"{left + needed:.0f}B"]


@pytest.mark.parametrize("algo", registry.names())
def test_every_algorithm_keeps_to_the_limit(
    algo: str, cwtool: Run, planted: Run, brief: Callable[[str], list[str]]
) -> None:
    rows = planted("a.svm", 1, 60, width=3000, entries=40)
    ended = cwtool("train", rows, *brief(algo), "--max-memory", "4kB", "-m", "m.cw")
    assert ended.code == 2, ended.err
    assert "4 kB may be used" in ended.err
    assert "hint: " in ended.err
    assert not Path("m.cw").exists()


def test_what_would_fit_fits(cwtool: Run, ok: Run, planted: Run) -> None:
    rows = planted("a.svm", 1, 60, width=3000, entries=40)
    said = cwtool("train", rows, "--max-memory", "8kB", "-m", "m.cw").err
    option, bits = said.split("hint: ")[1].split("with ")[1].split(",")[0].split()
    assert option == "--hash-bits"
    ok("train", rows, "--max-memory", "8kB", option, bits, "-m", "m.cw")
    more = cwtool("train", rows, "--max-memory", "8kB", option, int(bits) + 2, "-m", "n.cw")
    assert more.code == 2


def test_each_class_counts(cwtool: Run, ok: Run) -> None:
    lines = [f"{k % 20} {k + 1}:1 {k + 200}:1" for k in range(100)]
    Path("a.svm").write_text("\n".join(lines))
    full = ["--covariance", "full", "-m", "m.cw"]
    assert cwtool("train", "a.svm", *full, "--max-memory", "1MB").code == 2
    ok("train", "a.svm", *full, "--max-memory", "20MB")
    ok("train", "a.svm", *full, "--positive", "3", "--max-memory", "1MB")


def test_processes_share_the_limit(cwtool: Run, ok: Run, planted: Run) -> None:
    rows = planted("a.svm", 1, 60, width=60)
    command = ["tune", rows, "--covariance", "full", "--grid", "r=1,2", "--max-memory", "80kB"]
    ok(*command, "-j", "1")
    ended = cwtool(*command, "-j", "2")
    assert ended.code == 3
    assert "28.6 kB may be used" in ended.err  # half of what the rows leave


def test_points_that_do_not_fit_side_by_side_are_judged_alone(
    cwtool: Run, ok: Run, planted: Run
) -> None:
    """A model of 60 features takes 2,160 bytes with the copy that is saved, and three of them more
    than 7,000. The rows take 15,072."""
    rows = planted("a.svm", 1, 60, width=60)
    command = ["tune", rows, "--grid", "r=0.1,1,10", "--json", "-j", "1"]
    assert ok(*command, "--max-memory", "17.5kB") == ok(*command)
    ended = cwtool(*command, "--max-memory", "16kB")
    assert (ended.code, "and 928 B may be used" in ended.err) == (3, True)


def test_models_of_several_passes_count(cwtool: Run, ok: Run, planted: Run) -> None:
    """Beside the model there are five fold models, the model before, the best one, and a copy that
    is saved; rows have what these leave."""
    rows = planted("a.svm", 1, 60, width=60)
    command = ["train", rows, "--covariance", "full", "-m", "m.cw", "--max-memory"]
    ok(*command, "60kB")
    one = 8 * 60**2  # bytes of a covariance, which two of them are for what is saved
    assert cwtool(*command, f"{4 * one}B", "--passes", "2").code == 2
    ended = cwtool(*command, f"{9 * one}B", "--passes", "2")  # after the first pass
    assert (ended.code, "60 rows, which need" in ended.err) == (2, True)
    models = float(ended.err.split("beside models of ")[1].split(" kB")[0])
    assert 8 * one < 1000 * models < 11 * one
    ok(*command, f"{11 * one + 3 * 60 * (12 * 8 + 20) + 24 * 60}B", "--passes", "2")


def test_windows_are_put_away_when_models_grow(planted: Run) -> None:
    """Rows that were kept in memory are the same when they come from the file."""
    (block,) = read_blocks([planted("a.svm", 1, 500, width=60)])
    rows = Labels().encode(block, learning=True)
    one, two = Spool(), Spool()
    for spool in (one, two):
        for _ in range(200):
            spool.add(rows)
    assert all(isinstance(window, Rows) for window in one.windows)
    one.limit(one.stored - 1)
    assert not any(isinstance(window, Rows) for window in one.windows)
    for a, b in zip(one.all(), two.all(), strict=True):
        assert (a.indices == b.indices).all() and (a.values == b.values).all()


@pytest.mark.parametrize("algo", ["arow", "bcw"])
def test_days_of_feed_keep_to_the_limit(algo: str, cwtool: Run, ok: Run, planted: Run) -> None:
    """The first day and later ones; the model stays as it was."""
    one, two = (planted(f"{k}.svm", k, 60, width=3000, entries=40) for k in (1, 2))
    first = cwtool("feed", one, "-a", algo, "-m", "m.cw", "--max-memory", "4kB")
    assert (first.code, "4 kB may be used" in first.err) == (2, True)
    assert not Path("m.cw").exists()
    ok("feed", one, "-a", algo, "-m", "m.cw")
    before = Path("m.cw").read_bytes()
    second = cwtool("feed", two, "-m", "m.cw", "--accept", "--max-memory", "4kB")
    assert (second.code, "hint: " in second.err) == (2, True)
    assert Path("m.cw").read_bytes() == before


SUITE = """
title = "One cell"
paper = "Nobody 2000"
repeats = 1

[data.made]
make = "words"
rows = 60
features = 300
[method.a]
label = "AROW"
algo = "arow"
params = { covariance = "full" }
[[experiment]]
name = "first"
task = "test"
"""


def test_bench_keeps_to_the_limit(cwtool: Run, ok: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.BOUNDS, "limit", 0)  # so that it is 0 again afterwards
    Path("one.toml").write_text(SUITE)
    ended = cwtool("bench", "one.toml", "-o", "out", "-j", "1", "--max-memory", "10kB")
    assert ended.code != 0
    said = "".join(path.read_text() for path in Path("out").rglob("*.json*"))
    assert "10 kB may be used" in said
    ok("bench", "one.toml", "-o", "out", "-j", "1", "--max-memory", "10MB")


def in_gzip(data: bytes) -> bytes:
    return gzip.compress(data, 1)


def in_xz(data: bytes) -> bytes:
    return lzma.compress(data, preset=0)


@pytest.mark.parametrize(
    ("pack", "filling"),
    [(in_gzip, b"\0"), (in_gzip, b" "), (in_gzip, b"1:"), (in_xz, b"\0"), (bytes, b"\0")],
)
def test_a_bomb_does_not_grow(pack: Callable[[bytes], bytes], filling: bytes, folder: Path) -> None:
    """A line that does not end is refused long before it is in memory."""
    text = b"+1 1:1\n-1 2:" + filling * (40_000_000 // len(filling))
    (folder / "bomb.svm").write_bytes(pack(text))
    tracemalloc.start()
    with pytest.raises(DataError, match=r"bomb\.svm:2: a line is longer than 1 GiB, or no text"):
        list(read_blocks([str(folder / "bomb.svm")], ReadOptions(jobs=1)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40_000_000


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("pack", [bytes, in_gzip])
def test_a_line_without_end_is_named(
    pack: Callable[[bytes], bytes], jobs: int, folder: Path
) -> None:
    """Behind several chunks of a second file, and at the start of a third, or of a part of it."""
    lines = b"+1 1:1 2:1 3:1\n" * 20_000
    (folder / "good.svm").write_bytes(lines)
    (folder / "late.svm").write_bytes(pack(lines + b"-1 2:" + b"1" * 3_000_000))
    options = ReadOptions(jobs=jobs, block_bytes=1 << 16)
    with pytest.raises(DataError, match=r"^late\.svm:20001: a line is longer"):
        list(read_blocks(["good.svm", "late.svm"], options))
    (folder / "early.svm").write_bytes(pack(b"1:" * 2_000_000))
    with pytest.raises(DataError, match=r"^early\.svm:1: a line is longer"):
        list(read_blocks(["good.svm", "early.svm"], options))
    part = Span("late.svm", 15 * 10_000) if pack is bytes else Span("late.svm", name="of.gz")
    with pytest.raises(DataError, match=r"^(late\.svm|of\.gz):20001: a line is longer"):
        list(read_blocks([part], options))


@pytest.mark.parametrize("divisor", ["auto", "10"])
def test_long_rows_that_bcw_keeps_count(divisor: str, cwtool: Run, planted: Run) -> None:
    """Ten rows have a small matrix, and 2,000 entries each."""
    rows = planted("long.svm", 1, 10, width=4000, entries=4000)
    command = ["train", rows, "-a", "bcw", "--precision-divisor", divisor, "-m", "m.cw"]
    ended = cwtool(*command, *beside_reading(rows, 1e6))
    assert ended.code == 2
    assert "rows needs" in ended.err
    assert "for these and its precision matrix, and 1 MB may be used, beside" in ended.err
    assert cwtool(*command, *beside_reading(rows, 5e6)).code == 0


@pytest.mark.parametrize(("n_rows", "room"), [(40, "500kB"), (1000, "20MB")])
def test_features_far_apart_count_with_their_pages(
    n_rows: int, room: str, folder: Path, cwtool: Run
) -> None:
    """Rows of a table between two features are in the same page as one of them."""
    rows = (f"{k % 2} {4000 * k + 1}:1 {4000 * k + 2000}:1\n" for k in range(n_rows))
    (folder / "far.svm").write_text("".join(rows))
    few = beside_reading("far.svm", 200e3, learners=1)
    ended = cwtool("train", "far.svm", *few, "-m", "m.cw")
    assert ended.code == 2
    assert f"for {2 * n_rows:,} features, and 200 kB may be used" in ended.err
    bits = ended.err.split("--hash-bits ")[1].split(",")[0]
    assert cwtool("train", "far.svm", "--max-memory", room, "-m", "m.cw").code == 2 * (n_rows > 40)
    folded = cwtool("train", "far.svm", *few, "-m", "m.cw", "--hash-bits", bits)
    assert folded.code == 0


def needed(said: str) -> float:
    """The bytes that a message says are needed."""
    number, unit = said.split(" needs ")[1].replace(",", " ").split()[:2]
    return float(number) * {"B": 1, "kB": 1e3, "MB": 1e6}[unit]


@pytest.mark.parametrize(("algo", "each"), [("arow", 16), ("perceptron", 8), ("sofs", 18)])
def test_the_copy_that_is_saved_counts(algo: str, each: int, cwtool: Run, folder: Path) -> None:
    """Two tables of `each` bytes a feature, and the ids; sofs has 4 bytes more for each."""
    rows = (f"{k % 2} " + " ".join(f"{j}:1" for j in range(1, 1001)) for k in range(4))
    (folder / "a.svm").write_text("\n".join(rows))
    ended = cwtool("train", "a.svm", "-a", algo, "--max-memory", "10kB", "-m", "m.cw")
    assert needed(ended.err) == 1000 * (2 * each + 4)


@pytest.mark.parametrize(
    ("algo", "entry", "feature"),
    [("dcd", 24, 0), ("l1svm", 36, 112), ("spar-dca", 48, 112), ("fgm", 72, 0)],
)
def test_rows_of_a_batch_count_with_what_is_made_of_them(
    algo: str, entry: int, feature: int, cwtool: Run, folder: Path
) -> None:
    rows = (f"{k % 2} " + " ".join(f"{j}:1" for j in range(1, 1001)) for k in range(100))
    (folder / "a.svm").write_text("\n".join(rows))
    ended = cwtool("train", "a.svm", "-a", algo, "-m", "m.cw", *beside_reading("a.svm", 2.42e6))
    assert ended.code == 2
    assert "for 100 rows of 1,000 features, and 2.42 MB may be used, beside" in ended.err
    assert "use smaller batches with --batch-rows, or raise --max-memory" in ended.err
    assert needed(ended.err) >= 100_000 * entry + 1000 * (20 + feature)


@pytest.mark.parametrize("command", [["tune", "--grid", "r=1,2"], ["select-features"]])
def test_rows_that_are_kept_count(command: list[str], cwtool: Run, ok: Run, planted: Run) -> None:
    """They are refused while they are read, or with the copies of them, before anything is
    learned."""
    rows = planted("a.svm", 1, 60, width=60)
    ended = cwtool(*command, rows, "--max-memory", "2kB")
    assert (ended.code, "and 2 kB may be used" in ended.err) == (2, True)
    assert "all rows are kept in memory; the first of them need 3.94 kB" in ended.err
    ended = cwtool(*command, rows, "--max-memory", "5kB", "-j", "1")
    assert ended.code != 0
    assert "the rows, which are kept in memory, need" in ended.err
    assert "with copies of them, and 5 kB may be used" in ended.err
    ok(*command, rows, "--max-memory", "670kB")


def test_processes_hold_rows_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.BOUNDS, "processes", 3)
    assert memory.beside(100, 1000) == 600  # three times, and where they were started
    assert memory.allowed(memory.beside(100, 1000)) == 200
    monkeypatch.setattr(memory.BOUNDS, "threads", 2)
    assert memory.allowed(600) == 100
    assert memory.of_process(600) == 200
    with pytest.raises(UsageError, match="need 1 kB with copies of them, and 900 B may be used"):
        memory.beside(250, 900)
    assert memory.beside(100) == 0


@pytest.mark.parametrize("pack", [bytes, in_gzip])
def test_blocks_of_short_rows_have_as_many_rows_as_others(
    pack: Callable[[bytes], bytes], folder: Path
) -> None:
    """A few long rows come before them, so that the first block is one of usual text."""
    line = b"1 " + b" ".join(b"%d:1" % k for k in range(1, 500)) + b"\n"
    (folder / "short.svm").write_bytes(pack(line * 4 + b"1 1:1\n" * 500_000))
    lengths = [block.n_rows for block in read_blocks([str(folder / "short.svm")])]
    assert sum(lengths) == 500_004
    assert max(lengths[1:]) <= 1 << 17
    assert len(lengths) >= 4


@pytest.mark.parametrize("kept", [["--passes", "2"], ["--holdout", "0.5"]])
def test_rows_for_another_pass_keep_to_the_limit(
    kept: list[str], cwtool: Run, ok: Run, planted: Run
) -> None:
    """A window takes three times its rows; windows that wait are written to a file."""
    rows = planted("a.svm", 1, 2000, width=20, entries=10)
    command = ["train", rows, "-m", "m.cw", *kept]
    ended = cwtool(*command, *beside_reading(rows, 200e3, learners=1))
    assert ended.code == 2
    assert "rows, which need" in ended.err
    assert "beside models of" in ended.err
    assert "and 200 kB may be used" in ended.err
    room = (3.1 + 3) * 2000 * (12 * 5.5 + 20) + 60_000  # and three times for probabilities
    ok(*command, *beside_reading(rows, room, learners=1))


def test_a_model_counts_before_it_is_loaded(cwtool: Run, ok: Run, planted: Run) -> None:
    """400 features in a table of 16 bytes each, a file of 20 bytes each, and more."""
    rows = planted("a.svm", 1, 200, width=400, entries=40)
    ok("train", rows, "-m", "m.cw")
    size = Path("m.cw").stat().st_size
    for command in (["predict"], ["train", "--again", "--resume", "m.cw"]):
        ended = cwtool(*command, rows, "-m", "m.cw", "--max-memory", str(size))
        assert (ended.code, "m.cw with its " in ended.err) == (2, True)
        assert size + 16 * 300 < needed(ended.err) < 3 * size + 20_000
    ok("predict", rows, "-m", "m.cw", *beside_reading(rows, 200e3))


SCORING = [
    (["knn"], 30),  # points that become dense
    (["knn"], 3000),
    (["sdist", "--steps", "4", "--runs", "1", "--k", "3"], 30),
    (["sdist", "--steps", "4", "--runs", "1", "--k", "3", "--w0", "1"], 3000),
    (["rff-markov", "--iterations", "50", "--discriminant", "nn"], 30),
    (["bcw"], 3000),  # by rows
    (["bcw"], 100),  # by pairs of features
    (["bcw", "--precision-divisor", "10"], 3000),
]


@pytest.mark.parametrize(("algo", "width"), SCORING)
@pytest.mark.parametrize("classes", [2, 4])
def test_what_predicting_computes_counts(
    algo: list[str], width: int, classes: int, cwtool: Run, ok: Run, planted: Run
) -> None:
    """It is refused before it is computed, and fits into what the message says. NumPy tells how
    much it really was."""
    text = Path(planted("a.svm", 1, 400, width=width)).read_text().splitlines()
    rows = [f"{k % classes} {line.split(' ', 1)[1]}\n" for k, line in enumerate(text)]
    Path("a.svm").write_text("".join(rows))
    ok("train", "a.svm", "-m", "m.cw", "-j", "1", "--algo", *algo)
    command = ["predict", "a.svm", "-m", "m.cw", "-j", "1", "--max-memory"]
    loading = needed(cwtool(*command, "1B").err)
    ended = cwtool(*command, f"{1.01 * loading:.0f}B")
    assert (ended.code, f"{algo[0]} with " in ended.err) == (2, True)
    assert "to predict, and" in ended.err
    assert "use a model of fewer rows or features, or raise --max-memory" in ended.err
    most = 1.01 * needed(ended.err)
    ok(*command, f"{most:.0f}B")
    model = Model.load(Path("m.cw"))
    tracemalloc.start()
    for _ in scored(model, ["a.svm"], ReadOptions()):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < most + READER


def test_commands_that_show_a_model_refuse_it_before_it_is_read(
    cwtool: Run, ok: Run, planted: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = planted("a.svm", 1, 300, width=3000, entries=40)
    ok("train", rows, "-m", "m.cw", "--hash-bits", "8", "-q")  # with a smaller old model
    Path("m.cw").rename("m.cw.1")
    ok("train", rows, "-m", "m.cw")
    features = Model.load(Path("m.cw")).index.count
    commands = [
        (["inspect", "m.cw"], 60),
        (["inspect", "m.cw", "--top", "2000"], 700),
        (["export", "m.cw", "--format", "tsv", "-o", "out"], 60),
        (["export", "m.cw", "--format", "onnx", "-o", "out"], 100),
        (["report", "m.cw", "--text"], 60),
    ]
    for command, each in commands:
        Path("out").unlink(missing_ok=True)
        ended = cwtool(*command, "--max-memory", "10kB")
        assert (ended.code, "m.cw with its " in ended.err) == (2, True)
        assert needed(ended.err) > each * features
        assert not Path("out").exists()
        if "onnx" not in command:
            ok(*command, "--max-memory", f"{1.01 * needed(ended.err):.0f}B")
    with monkeypatch.context() as patched:
        patched.setattr(Model, "load", None)  # it is not called
        assert all(cwtool(*one, "--max-memory", "10kB").code == 2 for one, _ in commands)


def test_covariances_of_an_export_count(ok: Run, planted: Run) -> None:
    ok("train", planted("a.svm", 1, 300, width=200), "-m", "m.cw", "--covariance", "full")
    model = Model.load(Path("m.cw"))
    ids = np.arange(200, dtype=np.int32)
    with pytest.raises(UsageError, match=r"arow with 200 features needs .* to predict, and 4 MB"):
        covariance_of(model, ids, 4_000_000)
    tracemalloc.start()
    assert covariance_of(model, ids, 5_000_000) is not None
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("algo", ["arow", "perceptron"])
def test_weights_that_are_imported_count(algo: str, cwtool: Run, ok: Run, folder: Path) -> None:
    """With three classes a feature has four places, or eight with variances, and a copy."""
    head = "solver_type MCSVM_CS\nnr_class 3\nlabel 1 2 3\nnr_feature 900\nbias -1\nw\n"
    (folder / "a.model").write_text(head + "0.1 0.2 0.3 \n" * 900)
    command = ["import", "a.model", "-m", "m.cw", "--algo", algo, "--max-memory"]
    ended = cwtool(*command, "10kB")
    assert (ended.code, "a.model with its 900 features needs" in ended.err) == (2, True)
    ended = cwtool(*command, f"{1.01 * needed(ended.err):.0f}B")
    assert (ended.code, f"{algo} with 900 features needs" in ended.err) == (2, True)
    assert needed(ended.err) > 900 * (24 + (64 if algo == "perceptron" else 128))
    assert not Path("m.cw").exists()
    ok(*command, f"{1.01 * needed(ended.err):.0f}B")


def test_fewer_threads_are_proposed_where_they_fit(cwtool: Run, ok: Run, planted: Run) -> None:
    rows = planted("a.svm", 1, 400, width=3000)
    ok("train", rows, "-m", "m.cw", "--algo", "knn")
    command = ["predict", rows, "-m", "m.cw", "--max-memory"]
    one = needed(cwtool(*command, "300kB", "-j", "1").err)
    ended = cwtool(*command, f"{1.01 * one:.0f}B", "-j", "3")
    assert (ended.code, "use --jobs 1, or raise --max-memory" in ended.err) == (2, True)


@pytest.mark.parametrize("algo", ["perceptron", "dcd", "knn"])
def test_scores_of_many_classes_come_in_parts(algo: str, ok: Run, folder: Path) -> None:
    """They are those of all rows at once, and so are the comments and lines of the rows."""
    lines = [f"{k % 50} {k % 7 + 1}:{k % 3 + 1} {k % 50 + 8}:1 # row {k}\n" for k in range(3000)]
    (folder / "a.svm").write_text("# first\n" + "".join(lines))
    ok("train", "a.svm", "-m", "m.cw", "--algo", algo)
    model = Model.load(Path("m.cw"))
    options = ReadOptions(comments=True)
    (whole,) = read_blocks(["a.svm"], options)
    expected = model.scores(unlabelled(whole)).score
    for jobs in (1, 2):
        found = list(scored(model, ["a.svm"], ReadOptions(comments=True, jobs=jobs)))
        assert max(one.score.size for _, one in found) <= MOST_SCORES
        assert (np.concatenate([one.score for _, one in found]) == expected).all()
        assert [text for block, _ in found for text in block.comments or []] == whole.comments
        places = [block.origin.place(k) for block, _ in found for k in range(block.n_rows)]
        assert places == [f"a.svm:{k + 2}" for k in range(3000)]


def test_comments_of_a_file_of_rows_count(cwtool: Run, ok: Run, folder: Path) -> None:
    """They are packed to a hundredth of their size, and are not unpacked beyond the limit."""
    lines = (f"{k % 2} {k % 9 + 1}:1 # {'x' * 20_000}{k}\n" for k in range(400))
    (folder / "a.svm").write_text("".join(lines))
    ok("convert", "a.svm", "-o", "a.cwrows", "--block-size", 1 << 24)
    assert (folder / "a.cwrows").stat().st_size < 200_000
    ok("train", "a.cwrows", "-m", "m.cw", "-q")
    command = ["predict", "a.cwrows", "-m", "m.cw", "-j", "1", "--max-memory", "12MB"]
    ok(*command)
    ended = cwtool(*command, "--id")
    assert (ended.code, "the comments of 400 rows, which are read" in ended.err) == (2, True)
    assert "leave out --id, or raise --max-memory" in ended.err
    assert ok(*command[:-1], "120MB", "--id").count("x399\t") == 1


def test_the_models_of_a_merge_count(cwtool: Run, ok: Run, planted: Run) -> None:
    for k in (1, 2):
        ok("train", planted(f"{k}.svm", k, 200, width=400, entries=40), "-m", f"{k}.cw")
    both = sum(Path(f"{k}.cw").stat().st_size for k in (1, 2))
    ended = cwtool("merge", "1.cw", "2.cw", "-m", "m.cw", "-j", "1", "--max-memory", "9kB")
    assert (ended.code, "a merge of 2 models" in ended.err) == (2, True)
    assert needed(ended.err) > both / 2
    assert not Path("m.cw").exists()
    ok("merge", "1.cw", "2.cw", "-m", "m.cw", "-j", "1", "--max-memory", "900kB")


def test_names_of_convert_keep_to_the_limit(cwtool: Run, ok: Run, folder: Path) -> None:
    cells = (f"{k % 2},word{k}\n" for k in range(1000))
    (folder / "a.csv").write_text("label,text\n" + "".join(cells))
    command = ["convert", "a.csv", "-o", "a.svm", "--max-memory"]
    ended = cwtool(*command, "50kB")
    assert (ended.code, "need more than 50 kB" in ended.err) == (2, True)
    assert not Path("a.svm").exists()
    ok(*command, "50kB", "--hash-bits", "10")
    ok(*command, "500kB")


def test_what_reading_leaves_is_named(cwtool: Run, ok: Run, planted: Run) -> None:
    """Of a file of 2 MB, which takes more than the smallest blocks."""
    rows = planted("a.svm", 1, 20_000, width=400, entries=20)
    full = ["train", rows, "-m", "m.cw", "-j", "1", "--covariance", "full", "--max-memory"]
    reading = bytes_of_reading(SMALLEST, 1) + memory.COUNTS
    ended = cwtool(*full, f"{reading + 10_000}B")
    assert ended.code == 2
    assert f"10 kB may be used, beside {memory.words(reading)} for reading" in ended.err
    assert memory.BOUNDS.reading == 0  # for the next command
    ok(*full, f"{reading + 1.05 * needed(ended.err):.0f}B")


def test_scores_that_are_ranked_count(cwtool: Run, ok: Run, planted: Run) -> None:
    rows = planted("a.svm", 1, 2000, width=60)
    ok("train", rows, "-m", "m.cw")
    command = ["predict", rows, "-m", "m.cw"]
    ok(*command, *beside_reading(rows, ROW * 1500))
    for times, more in ((1, ["--evaluate"]), (2, ["--validation", rows, "--threshold", "f1"])):
        ended = cwtool(*command, *more, *beside_reading(rows, ROW * 1500, times))
        assert (ended.code, "by their scores needs 300 kB" in ended.err) == (2, True)
    ok(*command, "--evaluate", *beside_reading(rows, ROW * 2500))


def test_ranking_takes_no_more_than_is_counted() -> None:
    """Where every score is another one."""
    n, ranking = 100_000, Ranking()
    tracemalloc.start()
    for k in range(10):
        score = np.arange(n // 10) * 1.5 + k
        ranking.add(np.arange(n // 10, dtype=np.int32) % 2, score, score / (1 + score), score)
        del score
    ranking.summary()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert ROW * n / 2 < peak < ROW * n


def test_files_of_names_count(cwtool: Run, ok: Run, planted: Run) -> None:
    rows = planted("a.svm", 1, 60, width=60)
    ok("train", rows, "-m", "m.cw")
    Path("names.tsv").write_text("".join(f"{k}\tname {k}\n" for k in range(1, 5000)))
    named = bytes_of_names(Path("names.tsv"))
    commands = [
        ["inspect", "m.cw"],
        ["report", "m.cw", "--text"],
        ["select-features", rows, "--features", "5"],
    ]
    for command in commands:
        ok(*command, "--max-memory", "0.9MB")
        ended = cwtool(*command, "--feature-names", "names.tsv", "--max-memory", "0.9MB")
        assert (ended.code, "needs 1." in ended.err) == (2, True)
        limit = f"{named + 900_000}B"
        ok(*command, "--feature-names", "names.tsv", "--max-memory", limit)


def test_counts_of_models_that_are_judged_count(planted: Run) -> None:
    (block,) = read_blocks([planted("a.svm", 1, 2000, width=60)])
    rows = Labels().encode(block, learning=True)
    few = rows.take(np.arange(100))
    for models in (1, 3):
        others = rows.nbytes + 56 * rows.n_rows + rows.nbytes + (32 + 32 * models) * rows.n_rows
        found = held_bytes(rows, copied=True, models=models)
        assert found == others + models * memory.COUNTS
        assert held_bytes(few, copied=True, models=models) < memory.COUNTS


@pytest.mark.parametrize("algo", registry.names())
@pytest.mark.parametrize("classes", [2, 3])
def test_a_model_does_not_keep_the_bytes_of_its_file(
    algo: str, classes: int, ok: Run, planted: Run, brief: Callable[[str], list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    lines = Path(planted("a.svm", 1, 90, width=30)).read_text().splitlines()
    rows = (f"{k % classes} {line.split(' ', 1)[1]}\n" for k, line in enumerate(lines))
    Path("a.svm").write_text("".join(rows))
    ok("train", "a.svm", *brief(algo), "-m", "m.cw")
    room = np.frombuffer(Path("m.cw").read_bytes(), dtype=np.uint8).copy()
    kept = weakref.ref(room)
    monkeypatch.setattr(file, "_read", lambda path, data=[room]: data.pop().data.toreadonly())
    del room
    model = Model.load(Path("m.cw"))
    gc.collect()
    assert model.rows == 90
    assert kept() is None
