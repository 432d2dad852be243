"""Work on several items at once."""

from threading import Barrier, current_thread

import pytest

from cwtool.parallel import together


def test_together_keeps_the_order() -> None:
    for jobs in (1, 3):
        assert together(lambda k: k * k, range(20), jobs) == [k * k for k in range(20)]


def test_together_is_at_the_same_time() -> None:
    """Each waits for the other; one after the other, none would ever go on."""
    both = Barrier(2, timeout=20)

    def meet(k: int) -> str:
        both.wait()
        return current_thread().name

    assert len(set(together(meet, range(2), 2))) == 2


def test_together_passes_failures_on() -> None:
    with pytest.raises(ZeroDivisionError):
        together(lambda k: 1 // k, [1, 0], 2)


def test_together_begins_nothing_after_a_failure() -> None:
    begun = []

    def fail(k: int) -> None:
        begun.append(k)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        together(fail, range(1000), 2)
    assert len(begun) <= 2


def test_together_within_together() -> None:
    def inner(k: int) -> list[int]:
        return together(lambda j: k * j, range(5), 3)

    assert together(inner, range(100), 3) == [[k * j for j in range(5)] for k in range(100)]
