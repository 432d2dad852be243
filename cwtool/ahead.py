"""Threads that compute function(item) for the next items while earlier results are used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

# results that may wait for the consumer; with only 2, workers and consumer waited for each other
AHEAD = 6
WAITING = 2  # items that may wait for a function beside the consumer


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
    item at a time, while further items are drawn and the consumer has the one before. Up to two
    items wait for the function, so that it goes on without waiting for the consumer. A failure to
    draw an item is raised when the consumer has had all items before it."""
    source, failure = iter(items), None
    calls: _Calls[T, R] = _Calls(function)
    given: list[T] = []  # items whose results were not taken, the oldest first
    try:
        while failure is None:
            try:
                given.append(next(source))
                calls.ask(given[-1])
            except Exception as raised:  # StopIteration is one of them
                failure = raised
            while given and (len(given) > WAITING or failure is not None or calls.answered):
                yield given.pop(0), calls.result()
        if not isinstance(failure, StopIteration):
            raise failure
    finally:
        calls.stop()


class _Calls(Generic[T, R]):
    """Calls of a function in a thread of their own, one after the other until one fails."""

    def __init__(self, function: Callable[[T], R]) -> None:
        from queue import SimpleQueue
        from threading import Thread

        self.function = function
        self.asked: SimpleQueue[tuple[T] | None] = SimpleQueue()
        self.answers: SimpleQueue[tuple[R | None, BaseException | None]] = SimpleQueue()
        self.stopped = False
        self.thread = Thread(target=self._run, name="cwtool-beside", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while (item := self.asked.get()) is not None and not self.stopped:
            try:
                self.answers.put((self.function(*item), None))
            except BaseException as failure:
                self.answers.put((None, failure))
                return
            del item  # it is not kept while the next one is waited for

    def ask(self, item: T) -> None:
        self.asked.put((item,))

    @property
    def answered(self) -> bool:
        """Whether a result waits."""
        return not self.answers.empty()

    def result(self) -> R:
        """The result of the first item whose result was not taken; or raise what failed."""
        found, failure = self.answers.get()
        if failure is not None:
            raise failure
        return found  # type: ignore[return-value]

    def stop(self) -> None:
        """Wait for the call that is running, and start none of those that are queued."""
        self.stopped = True
        self.asked.put(None)
        self.thread.join()


class _Work(Generic[T, R]):
    """Items that are worked on in several threads, and the results that wait."""

    def __init__(self, function: Callable[[T], R], items: Iterator[T], most: int) -> None:
        from threading import Condition, Lock

        self.function, self.items, self.most = function, items, most
        self.drawing = Lock()  # held by the thread that draws an item
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
        """Work on items until there are no more, as each thread other than the consumer does."""
        while not self.ended:
            with self.changed:
                self.changed.wait_for(lambda: self.ended or self.room())
            self.one()

    def stop(self) -> None:
        """Draw no further item."""
        self.ended = True
        with self.changed:
            self.changed.notify_all()
