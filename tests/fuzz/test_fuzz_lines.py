"""Changed lines through the parser and through a slow one: the same rows to the bit, or the same
fault at the same place. `make fuzz` tries many more."""

from ast import literal_eval
from pathlib import Path

import line_mutants
import pytest
from slow_libsvm import check


@pytest.mark.parametrize("seed", range(20))
def test_changed_lines(seed: int) -> None:
    check(line_mutants.text(seed, 500), seed % 2)


@pytest.mark.parametrize("seed", range(20))
def test_changed_lines_one_by_one(seed: int) -> None:
    """The parser reads pairs in another way when many before were unusual."""
    for line in line_mutants.text(seed, 500).split(b"\n"):
        check(b"1 1:1 2:0.5\n" + line, seed % 2)


def test_what_libfuzzer_found() -> None:
    """Few inputs that reach all that it has reached in the parser: see tools/fuzz_coverage.py."""
    corpus = Path(__file__).with_name("corpus.txt").read_text().splitlines()
    for line in corpus:
        first, text = literal_eval(line)[:1], literal_eval(line)[1:]
        check(text, (first or b"\0")[0] & 1)
    assert len(corpus) > 100
