"""Rows without labels, of which the first item is read as a label with a weight."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cwtool.data.line_parts import seems_unlabelled

Run = Callable[..., Any]


@pytest.mark.parametrize("step", [1, 100])
def test_train_warns_once_of_a_file_without_labels(cwtool: Run, folder: Path, step: int) -> None:
    rows = [f"{k % 15 + 1}:{1 + k % 3} {k % 15 + 20}:1 40:1" for k in range(40 * step)]
    (folder / "a.svm").write_text("\n".join(rows) + "\n")
    ended = cwtool("train", "a.svm", "-m", "m.cw")
    assert ended.code == 0
    assert ended.err.count("a.svm: the first item of its rows seems to be a feature") == 1


def test_labels_with_weights_are_no_features(ok: Run, cwtool: Run, planted: Run) -> None:
    """They are few different numbers, or 0 and -1, or not below all ids."""
    text = Path(planted("a.svm", 1, 300, first=20)).read_text().splitlines()
    features = [line.split(" ", 1)[1] for line in text]
    for labels in (["1", "-1"], ["0", "1"], ["1", "2", "3", "4", "5", "6", "7"]):
        pairs = (f"{labels[k % len(labels)]}:{k % 5 + 1} {x}" for k, x in enumerate(features))
        Path("b.svm").write_text("\n".join(pairs) + "\n")
        assert "seems to be" not in cwtool("train", "b.svm", "-m", "m.cw").err
    assert seems_unlabelled("".join(f"{k}:2 50:1\n" for k in range(1, 20)).encode())
    assert not seems_unlabelled("".join(f"{k}:2 15:1\n" for k in range(1, 20)).encode())
    assert not seems_unlabelled("".join(f"{k} 50:1\n" for k in range(1, 20)).encode())
    assert not seems_unlabelled(b"# nothing\n\n")


def test_an_id_of_thousands_of_digits_is_a_bad_line(cwtool: Run, folder: Path) -> None:
    (folder / "a.svm").write_text(f"1 {5000 * '1'}:1\n")
    ended = cwtool("train", "a.svm", "-m", "m.cw")
    assert ended.code == 3 and "a.svm:1:3: feature index 11111" in ended.err
