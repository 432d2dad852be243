"""Results in the order of the items, computed before they are asked for."""

from collections.abc import Iterator
from threading import Barrier, Event, current_thread, main_thread
from threading import enumerate as enumerate_threads

import pytest

from cwtool.ahead import ahead, beside


@pytest.mark.parametrize("endless", [False, True])
@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_the_order_is_kept(jobs: int, endless: bool) -> None:
    for n in (0, 1, 2, 200):
        found = list(ahead(lambda k: k * k, iter(range(n)), jobs, 1, endless=endless))
        assert found == [k * k for k in range(n)]


def test_the_consumer_works_too() -> None:
    """Each waits for the other; one after the other, none would ever go on."""
    both = Barrier(2, timeout=60)

    def meet(k: int) -> str:
        both.wait()
        return current_thread().name

    assert main_thread().name in set(ahead(meet, range(4), 2))


def test_the_consumer_does_not_draw_what_may_never_come() -> None:
    """The item after the first one is there only when the first result was taken."""
    taken = Event()

    def items() -> Iterator[int]:
        yield 1
        assert taken.wait(60)
        assert current_thread() is not main_thread()
        yield 2

    found = ahead(lambda k: k, items(), 2, endless=True)
    assert next(found) == 1
    taken.set()
    assert list(found) == [2]


def nine(*, drawing: bool) -> Iterator[int]:
    """The numbers 0 to 8; with `drawing`, an error instead of the number 5."""
    yield from range(5)
    if drawing:
        raise OSError("drawn")
    yield from range(5, 9)


@pytest.mark.parametrize("endless", [False, True])
@pytest.mark.parametrize("drawing", [False, True])
def test_a_failure_comes_in_the_place_of_its_result(drawing: bool, endless: bool) -> None:
    def one(k: int) -> int:
        if k == 5:
            raise OSError("worked on")
        return k

    found = []
    with pytest.raises(OSError, match="drawn" if drawing else "worked on"):
        for result in ahead(one, nine(drawing=drawing), 3, endless=endless):
            found.append(result)
    assert found == [0, 1, 2, 3, 4]


def test_no_more_is_drawn_than_may_wait() -> None:
    drawn = []

    def items() -> Iterator[int]:
        for k in range(1000):
            drawn.append(k)
            yield k

    results = ahead(lambda k: k, items(), 3, 4)
    for taken in range(100):
        assert next(results) == taken
        assert len(drawn) <= taken + 2 + 3 + 4 + 3
    results.close()
    left = len(drawn)
    assert left <= 100 + 1 + 3 + 4 + 3


def test_no_result_is_kept() -> None:
    """Blocks are used again as soon as they have no other reference."""

    class Item:
        alive = 0

        def __init__(self) -> None:
            Item.alive += 1

        def __del__(self) -> None:
            Item.alive -= 1

    for result in ahead(lambda _: Item(), range(300), 2, 1):
        assert Item.alive <= 3 + 2 + 2
        del result
    assert Item.alive == 0


def test_calls_beside_are_one_at_a_time_in_another_thread() -> None:
    running, order = [], []

    def one(k: int) -> int:
        assert current_thread() is not main_thread()
        running.append(k)
        assert len(running) == 1
        order.append(running.pop())
        return k * k

    for n in (0, 1, 2, 50):
        order.clear()
        assert list(beside(one, iter(range(n)))) == [(k, k * k) for k in range(n)]
        assert order == list(range(n))


def test_calls_beside_run_while_the_next_item_is_drawn_and_the_last_one_is_used() -> None:
    """Each waits for the other; one after the other, none would ever go on."""
    drawing, using = Barrier(2, timeout=60), Barrier(2, timeout=60)

    def items() -> Iterator[int]:
        yield 0
        drawing.wait()
        yield 1

    def one(k: int) -> int:
        (drawing, using)[k].wait()
        return k

    found = beside(one, items())
    assert next(found) == (0, 0)
    using.wait()
    assert list(found) == [(1, 1)]


def test_calls_beside_go_on_while_the_consumer_has_an_item() -> None:
    """Two items wait behind the first one, and are computed before they are asked for."""
    drawn, done = Event(), [Event() for _ in range(3)]

    def items() -> Iterator[int]:
        yield from (0, 1)
        drawn.set()
        yield 2

    def one(k: int) -> None:
        assert drawn.wait(60)
        done[k].set()

    found = beside(one, items())
    assert next(found) == (0, None)
    assert done[1].wait(60)
    assert done[2].wait(60)
    found.close()


def test_the_thread_beside_ends_with_the_consumer() -> None:
    def threads() -> list[str]:
        return [thread.name for thread in enumerate_threads()]

    found = beside(abs, iter(range(9)))
    next(found)
    assert "cwtool-beside" in threads()
    found.close()
    assert "cwtool-beside" not in threads()


@pytest.mark.parametrize("drawing", [False, True])
def test_a_failure_beside_comes_after_all_items_before_it(drawing: bool) -> None:
    begun, found = [], []

    def one(k: int) -> int:
        begun.append(k)
        if k == 5:
            raise OSError("worked on")
        return k

    with pytest.raises(OSError, match="drawn" if drawing else "worked on"):
        for item, _ in beside(one, nine(drawing=drawing)):
            found.append(item)
    assert found == [0, 1, 2, 3, 4]
    assert begun == found + [5] * (not drawing)
