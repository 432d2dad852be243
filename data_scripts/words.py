"""Texts in tar archives become counts of words. Archives are read, never unpacked."""

from __future__ import annotations

import re
import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from cwtool.data import writer
from data_scripts.formats import libsvm_line, opened, parsed
from data_scripts.rows import Part, Parts, Reader, Row, Rows
from data_scripts.splits import mixed

WORD = re.compile(r"[a-z0-9]{2,}")
Document = tuple[str, Counter[str]]


def members(archive: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Name and lines of every file in a tar archive, in one pass."""
    with opened(archive, "rb") as plain, tarfile.open(fileobj=plain, mode="r|") as tar:
        for member in tar:
            file = tar.extractfile(member) if member.isfile() else None
            if file is not None:
                yield member.name, (line.decode("latin-1") for line in file)


def counted(documents: Sequence[Document]) -> list[Row]:
    """Words are numbered from 1 in alphabetical order."""
    vocabulary = sorted(set().union(*(words for _, words in documents)))
    number = {word: j for j, word in enumerate(vocabulary, 1)}
    rows = []
    for label, words in documents:
        found = sorted((number[word], count) for word, count in words.items())
        rows.append((label, writer.features(found)))
    return rows


def newsgroups(*groups: str) -> Parts:
    """Messages of these groups with their headers, split by date as the archive has them. Both
    parts share their ids, so that a word which only the test part has keeps its own."""

    def parts(paths: Sequence[Path]) -> Iterator[Part]:
        found: dict[str, list[Document]] = {"train": [], "test": []}
        for name, text in members(paths[0]):
            folder = Path(name).parent
            if folder.name in groups:
                words = Counter(WORD.findall("".join(text).lower()))
                found[folder.parent.name.rpartition("-")[2]].append((folder.name, words))
        rows = counted(found["train"] + found["test"])
        cut = len(found["train"])
        yield "train", mixed(rows[:cut])
        yield "test", mixed(rows[cut:])

    return parts


def reviews(domain: str) -> Reader:
    """Multi-domain sentiment: a line is `word:count ... #label#:positive`; words and pairs."""

    def read(archive: Path) -> Rows:
        wanted = {f"{domain}/positive.review", f"{domain}/negative.review"}
        documents = [
            document
            for name, text in members(archive)
            if "/".join(Path(name).parts[-2:]) in wanted
            for document in parsed(f"{archive}:{name}", text, review)
        ]
        return iter(counted(documents))

    return read


def review(line: str) -> Document:
    *words, (_, _, label) = (token.rpartition(":") for token in line.split())
    return label, Counter({word: int(count) for word, _, count in words})


def days(paths: Sequence[Path]) -> Iterator[Part]:
    """An archive of LIBSVM files, a file a day."""
    for name, text in members(paths[0]):
        if name.endswith(".svm"):
            yield Path(name).stem, parsed(f"{paths[0]}:{name}", text, libsvm_line)
