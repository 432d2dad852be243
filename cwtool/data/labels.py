"""The labels of a file as class numbers, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cwtool.data.parse import Block
from cwtool.data.rows import Ints, Origin, Rows
from cwtool.errors import DataError, ModelError
from cwtool.records import dataclass

T = TypeVar("T")

PEEK_ROWS = 1000  # rows that decide what the classes are, whatever the size of blocks
OTHER = -1  # the class number of a label that was never learned
REST = "rest"  # the name of the negative class where it has several labels


def written(label: float) -> str:
    """A label as people write it: 1, -1, 0.5."""
    return str(int(label)) if label == int(label) else repr(label)


@dataclass
class Labels:
    """The labels of the classes. Two classes are the negative one, 0, and the positive one, 1;
    their labels are None as long as they have not been seen. Several classes are numbered in the
    order of their first rows."""

    negative: float | None = None
    positive: float | None = None
    multiclass: str = "auto"  # auto, no, rival or ovr
    several: list[float] | None = None  # labels by class number; None: there are two classes
    # how many labels other than `positive` were met, 2 standing for any number; 0: two labels
    rest: int = 0
    doubted: str = ""  # the model file with these labels, if it has no history that confirms them

    @classmethod
    def against_rest(cls, positive: float) -> Labels:
        """One label against all others, which are one negative class."""
        return cls(positive=positive, multiclass="no", rest=1)

    @property
    def values(self) -> Sequence[float | None]:
        """The label of each class, by class number."""
        return (self.negative, self.positive) if self.several is None else self.several

    @property
    def complete(self) -> bool:
        """Whether there are rows of more than one class."""
        if self.several is not None:
            return len(self.several) > 0
        return None not in self.values

    @property
    def names(self) -> list[str]:
        """The labels as text, by class number."""
        return [self.name(class_) for class_ in range(len(self.values))]

    def name(self, class_: int) -> str:
        """The label of a class as text; +1 where the other one is -1, ? where none was seen."""
        label = self.values[class_]
        if class_ == 0 and self.rest > 1:
            return REST
        if label is None:
            return "?"
        signed = label == 1 and self.several is None and self.negative == -1
        return "+1" if signed else written(label)

    def encode(self, block: Block, *, learning: bool = True) -> Rows:
        """The rows with class numbers. With two classes a third label is an error with its place.
        With several, new labels of rows that are learned become classes; all others are OTHER."""
        if self.several is not None:
            y = self._several(self.several, block, learning)
        else:
            y, strange = self._numbers(block.labels)
            if strange.any():
                for some in (_counts(block), ~_counts(block)):
                    self._meet(block.labels[strange & some])
                y, strange = self._numbers(block.labels)
            if strange.any():
                raise self._third(block, int(np.flatnonzero(strange)[0]))
        return Rows(block.indptr, block.indices, block.values, y, block.weight)

    def _third(self, block: Block, row: int) -> DataError | ModelError:
        two = f"{self.name(0)} and {self.name(1)}"
        if self.doubted:
            return ModelError(
                f"{self.doubted} has the labels {two[:200]}, which no history confirms, and "
                f"{block.origin.place(row)} has the label {written(float(block.labels[row]))}",
                "mend the row if it is wrong, or else restore the model from a copy",
            )
        hint = (
            "train a new model with `multiclass=rival` for more than two classes, or with "
            f"`positive={self.name(1)}` for one label against all others"
        )
        met = {written(float(label)) for label in np.unique(block.labels)}
        other = {frozenset("01"): "-1", frozenset(("-1", "1")): "0"}.get(frozenset(met))
        if len(met) == 2 and other == self.name(0) and self.name(1).lstrip("+") == "1":
            wrong = written(float(block.labels[row]))
            name = _in_shell(block.origin.source)
            hint = (
                f"write the labels of the model: sed 's/^{wrong} /{other} /' {name} > labelled.svm"
            )
        return DataError(
            f"{block.origin.place(row)}: label {written(float(block.labels[row]))} is a third "
            f"class beside {two}",
            hint,
        )

    def _several(self, known: list[float], block: Block, learning: bool) -> Ints:
        y = _places(known, block.labels)
        if learning and (strange := (y == OTHER) & _counts(block)).any():
            known += dict.fromkeys(block.labels[strange].tolist())
            y = _places(known, block.labels)
        return y

    def _numbers(self, labels: NDArray[Any]) -> tuple[Ints, NDArray[np.bool_]]:
        """Class numbers, and which labels belong to no class."""
        positive = labels == self.positive
        if self.rest > 1:
            return positive.astype(np.int32), np.zeros(len(labels), dtype=np.bool_)
        return positive.astype(np.int32), ~(positive | (labels == self.negative))

    def _meet(self, strange: NDArray[Any]) -> None:
        """Assign the classes that have no label yet to the first of these labels."""
        for label in dict.fromkeys(strange.tolist()):
            if label in self.values:
                continue
            if self.complete and self.rest:
                self.rest = 2
            if self.complete:
                return
            free_positive = self.positive is None and (self.negative is not None or label > 0)
            if free_positive:
                self.positive = label
            else:
                self.negative = label

    def rows_of(self, blocks: Iterable[Block]) -> Iterator[tuple[Rows, Origin]]:
        """The rows of the blocks with class numbers. The first rows are read at once, and decide
        whether there are two classes or several. Of two, the larger label is the positive class;
        if those rows have one label only, it is positive iff it is greater than 0."""
        source = iter(blocks)
        first = [] if self.complete or self.several is not None else self._peek(source)
        # no block is referred to from here once it was passed on: its memory may be used again
        return map(self._encoded, chain(drained(first), source))

    def _encoded(self, block: Block) -> tuple[Rows, Origin]:
        return self.encode(block), block.origin

    def _peek(self, source: Iterator[Block]) -> list[Block]:
        """Draw blocks until PEEK_ROWS rows have been seen, and decide what the classes are."""
        drawn: list[Block] = []
        seen: dict[float, None] = {}
        rows = 0
        for block in source:
            drawn.append(block)
            head = block.labels[_counts(block)][: PEEK_ROWS - rows]
            seen |= dict.fromkeys(head.tolist())
            rows += len(head)
            if rows >= PEEK_ROWS:
                break
        if self.multiclass != "no" and not self.rest:
            _refuse_numbers(list(seen), rows, drawn)
        if self.multiclass in ("rival", "ovr") or (self.multiclass == "auto" and len(seen) > 2):
            self.several = []
        elif self.values == (None, None) and len(seen) >= 2:
            self.negative, self.positive = sorted(list(seen)[:2])
        return drawn


def _places(known: list[float], labels: NDArray[Any]) -> Ints:
    """The place of each label in the list, or OTHER."""
    if not known:
        return np.full(len(labels), OTHER, dtype=np.int32)
    by_label = np.argsort(known).astype(np.int32)
    ascending = np.array(known)[by_label]
    at = np.minimum(np.searchsorted(ascending, labels), len(known) - 1)
    return np.where(ascending[at] == labels, by_label[at], np.int32(OTHER))


def _counts(block: Block) -> NDArray[np.bool_]:
    """Which rows decide what the classes are: those whose weight is not 0."""
    if block.weight is None:
        return np.ones(len(block.labels), dtype=np.bool_)
    return block.weight > 0


def _refuse_numbers(seen: list[float], n_rows: int, drawn: list[Block]) -> None:
    """Refuse labels that are measured numbers: most are different and not whole."""
    broken = [label for label in seen if label != int(label)]
    if len(seen) > 10 and 2 * len(broken) > len(seen) and 10 * len(seen) > n_rows:
        raise DataError(
            f"{drawn[0].origin.source}: the labels are {len(seen):,} different numbers in the "
            f"first {n_rows:,} rows, such as {written(broken[0])}; this looks like a regression "
            "target, and cwtool learns classes",
            "give each row the label of its class, or make two classes with a threshold: "
            f"awk '{{$1 = ($1 > {written(float(np.median(seen)))}) ? 1 : -1}} 1' "
            f"{_in_shell(drawn[0].origin.source)} > classes.svm",
        )


def _in_shell(source: str) -> str:
    """The name of a source in a command."""
    from shlex import quote

    return "FILE" if source.startswith("<") else quote(source)


def drained(items: list[T]) -> Iterator[T]:
    """The items from the first to the last; each is removed from the list."""
    while items:
        yield items.pop(0)
