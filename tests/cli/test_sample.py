"""The bundled sample, and the examples of the help texts, which are run on it."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]
SAMPLE = Path(__file__).parents[2] / "examples" / "sample"


def labels(name: str) -> list[str]:
    return [line.split()[0] for line in (SAMPLE / name).read_text().splitlines()]


def test_a_topic_comes_late() -> None:
    train, test = labels("topics.svm"), labels("topics_test.svm")
    assert (len(train), len(test)) == (1000, 400)
    assert set(train[:500]) == {"1", "2", "3", "4"}
    assert set(train[500:]) == set(test) == {"1", "2", "3", "4", "5"}
    counts = [train.count(topic) for topic in "12345"]
    assert counts == sorted(counts, reverse=True)
    assert (SAMPLE / "topics.svm").stat().st_size < 80_000


def test_examples_of_the_help_texts(ok: Run) -> None:
    for path in SAMPLE.iterdir():
        shutil.copy(path, path.name)
    shutil.copy("topics_test.svm", "new.svm")
    for command in ("train", "predict", "inspect"):
        _, _, shown = ok(command, "--help").partition("  Examples:\n")
        lines = [line.split() for line in shown.splitlines()]
        assert len(lines) >= 2
        for name, *args in lines:
            assert (name, args[0]) == ("cwtool", command)
            ok(*args)
    assert Path("topics.tsv").read_text().split("\n", 1)[0] == "1\t2\t3\t4\t5"
    assert len(Path("weights.tsv").read_text().splitlines()[0].split("\t")) > 5
