"""Work on items, in threads, ahead of the consumer of the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

# results that may wait for the consumer; with only 2, workers and consumer waited for each other
AHEAD = 6


def ahead(
    function: Callable[[T], R],
    items: Iterable[T],
    jobs: int,
    waiting_most: int = AHEAD,
    *,
    endless: bool = False,
) -> Iterator[R]:
    """Like map(function, items), in `jobs` threads that work ahead of the consumer.

    The order is kept, and no more than about jobs + waiting_most results wait. The consumer is one
    of the threads: it works on an item itself where it would wait for a result. That saves most of
    the hand-overs between threads, but while it draws an item it cannot take results: if drawing
    one may take for ever, as from a pipe, the items are `endless`, and all threads are others.
    """
    if jobs <= 1:
        yield from map(function, items)
        return
    from threading import Thread

    work = _Work(function, iter(items), jobs + waiting_most)
    for _ in range(jobs if endless else jobs - 1):
        Thread(target=work.others, name="cwtool-ahead", daemon=True).start()
    try:
        while work.wait(helping=not endless):
            yield work.take()
    finally:
        work.stop()


def beside(function: Callable[[T], R], items: Iterable[T]) -> Iterator[tuple[T, R]]:
    """Each item with function(item), in their order. The function runs in another thread, for one
    item at a time, while the next item is drawn and the consumer has the one before. A failure to
    draw an item is raised when the consumer has had all items before it."""
    source, failure = iter(items), None
    running: _Call[T, R] | None = None
    try:
        while failure is None:
            drawn = None
            try:
                drawn = (next(source),)
            except Exception as raised:  # StopIteration is one of them
                failure = raised
            done, running = running, None
            if done is not None:
                done.join()
            if drawn is not None and (done is None or done.failure is None):
                running = _Call(function, *drawn)
            if done is not None:
                yield done.item, done.result()
        if not isinstance(failure, StopIteration):
            raise failure
    finally:
        if running is not None:
            running.join()


class _Call(Generic[T, R]):
    """A call of a function in a thread."""

    def __init__(self, function: Callable[[T], R], item: T) -> None:
        from threading import Thread

        self.function, self.item = function, item
        self.failure: BaseException | None = None
        thread = Thread(target=self._run, name="cwtool-beside")
        self.join = thread.join
        thread.start()

    def _run(self) -> None:
        try:
            self.found = self.function(self.item)
        except BaseException as failure:
            self.failure = failure

    def result(self) -> R:
        if self.failure is not None:
            raise self.failure
        return self.found


class _Work(Generic[T, R]):
    """Items that are worked on in several threads, and the results that wait."""

    def __init__(self, function: Callable[[T], R], items: Iterator[T], most: int) -> None:
        from threading import Condition, Lock

        self.function, self.items, self.most = function, items, most
        self.drawing = Lock()  # held by the one who draws an item
        self.changed = Condition(Lock())  # a result was made or taken, or there are no more
        self.results: dict[int, R] = {}
        self.failures: dict[int, BaseException] = {}
        self.drawn = self.taken = 0  # numbers of items
        self.ended = False  # whether there is no further item

    def ready(self) -> bool:
        """Whether the next result or failure waits."""
        return self.taken in self.results or self.taken in self.failures

    def room(self) -> bool:
        return self.drawn - self.taken < self.most

    def over(self) -> bool:
        """Whether the source has no further item and every result has been taken."""
        return self.ended and self.taken == self.drawn

    def wait(self, *, helping: bool) -> bool:
        """Wait until the next result is there, and work if `helping`; False: there is no other."""
        while not self.ready():
            if self.over():
                return False
            if helping and not self.ended and self.room():
                self.one(unless=self.ready)
                continue
            with self.changed:
                self.changed.wait_for(lambda: self.ready() or self.over())
        return True

    def take(self) -> R:
        """The next result, which waits; or raise the failure in its place."""
        number, self.taken = self.taken, self.taken + 1
        with self.changed:
            self.changed.notify_all()
        if number in self.failures:
            raise self.failures.pop(number)
        return self.results.pop(number)

    def one(self, unless: Callable[[], bool] = lambda: False) -> None:
        """Draw an item and work on it."""
        with self.drawing:
            if self.ended or unless():
                return
            number = self.drawn
            try:
                item = next(self.items)
                self.drawn += 1
            except StopIteration:
                self.stop()
                return
            except BaseException as failure:  # raised where its result would be
                self.failures[number] = failure
                self.drawn += 1
                self.stop()
                return
        self.work(number, item)

    def work(self, number: int, item: T) -> None:
        try:
            self.results[number] = self.function(item)
        except BaseException as failure:
            self.failures[number] = failure
            if not isinstance(failure, Exception):  # an interrupt does not wait for other threads
                raise
        finally:
            with self.changed:
                self.changed.notify_all()

    def others(self) -> None:
        """What the threads beside the consumer do."""
        while not self.ended:
            with self.changed:
                self.changed.wait_for(lambda: self.ended or self.room())
            self.one()

    def stop(self) -> None:
        """Draw no further item."""
        self.ended = True
        with self.changed:
            self.changed.notify_all()
