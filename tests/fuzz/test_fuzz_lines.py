"""Changed lines through the parser and through a slow one: the same rows to the bit, or the same
fault at the same place. `make fuzz` tries many more."""

import line_mutants
import pytest
from slow_libsvm import check


@pytest.mark.parametrize("seed", range(20))
def test_changed_lines(seed: int) -> None:
    check(line_mutants.text(seed, 500), seed % 2)
