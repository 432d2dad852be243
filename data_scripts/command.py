"""The command: which data sets, into which folder, and what is said about it."""

from __future__ import annotations

import argparse
import fcntl
import lzma
import shutil
import sys
import tarfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from cwtool.errors import CwtoolError, DataError, UsageError
from cwtool.memory import words
from cwtool.messages.console import Progress, complain
from data_scripts.catalogue import CATALOGUE, DataSet
from data_scripts.download import File, Unreachable, fetch
from data_scripts.formats import AGAIN
from data_scripts.rows import Rows, write_part

INTERRUPTED = 130
Away = set[str | None]  # servers that did not answer and are not tried again
EPILOG = """\
NAME may also be `small` (all but the gigabytes) or `all`. Downloads are kept in DIR/raw; a file
that was put there by hand is used as it is. Proxies are taken from http_proxy and https_proxy.
Interrupted downloads go on where they stopped when the same command is given again.
"""


def main(argv: Sequence[str] | None = None, catalogue: Mapping[str, DataSet] = CATALOGUE) -> int:
    parser = argparse.ArgumentParser(
        prog="fetch.py", description="Fetch public data sets and write them as LIBSVM text.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("names", nargs="*", metavar="NAME", help="data sets; see --list")
    parser.add_argument("--data", type=Path, default=Path("data"), metavar="DIR",
                        help="writes DIR/NAME/train.svm and so on (default: data)")  # fmt: skip
    parser.add_argument("--base-url", metavar="URL", help="fetch every file as URL/FILE")
    parser.add_argument("--again", action="store_true", help="prepare what is there already")
    parser.add_argument("--list", action="store_true", help="list the data sets as a table")
    args = parser.parse_args(argv)
    if args.list or not args.names:
        print(table(catalogue))
        return 0
    try:
        chosen = selected(args.names, catalogue)
        with alone(args.data):
            return run(chosen, args.data, args.base_url, args.again)
    except CwtoolError as error:
        complain(str(error), error.hint)
        return error.exit_code
    except OSError as error:
        complain(
            f"{error.filename or args.data}: {error.strerror or error}", "choose another --data"
        )
        return UsageError.exit_code
    except KeyboardInterrupt:
        complain("interrupted", "what has come is kept: the same command goes on from there")
        return INTERRUPTED


def table(catalogue: Mapping[str, DataSet]) -> str:
    head = [
        "| name | what; split | rows train / test | features | source |",
        "|---|---|---|---|---|",
    ]
    return "\n".join(head + [
        f"| {d.name} | {d.what} | {' / '.join(f'{n:,}' for n in d.rows) or '-'} "
        f"| {f'{d.features:,}' if d.features else '-'} | {d.source} |"
        for d in catalogue.values()
    ])  # fmt: skip


def selected(names: Sequence[str], catalogue: Mapping[str, DataSet]) -> list[DataSet]:
    groups = {
        "all": list(catalogue),
        "small": [d.name for d in catalogue.values() if not d.large],
    }
    wanted = [name for given in names for name in groups.get(given, [given])]
    for name in wanted:
        if name not in catalogue:
            import difflib

            near = difflib.get_close_matches(name, catalogue, n=1)
            hint = f"did you mean {near[0]}?" if near else "see the names with --list"
            raise UsageError(f"there is no data set {name}", hint)
    return [catalogue[name] for name in dict.fromkeys(wanted)]


def run(chosen: Sequence[DataSet], data: Path, base_url: str | None, again: bool) -> int:
    """All of them, even when one fails."""
    code = 0
    away: Away = set()
    for data_set in chosen:
        try:
            prepare(data_set, data, base_url, again, away)
        except CwtoolError as error:
            complain(f"{data_set.name}: {error}", error.hint)
            code = error.exit_code
    return code


def prepare(data_set: DataSet, data: Path, base_url: str | None, again: bool, away: Away) -> None:
    """Fetch, convert aside, and let the folder appear when it is complete."""
    folder = data / data_set.name
    if folder.exists() and not again:
        note(f"{folder} is there already")
        return
    paths = [fetched(mirrored(file, base_url), data / "raw", away) for file in data_set.files]
    aside = data / f".{data_set.name}.partial"
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    try:
        counts = converted(data_set, paths, aside)
        if folder.exists():
            shutil.rmtree(folder)
        aside.replace(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    note(f"{folder}: " + ", ".join(f"{stem} {n:,} rows" for stem, n in counts.items()))


def converted(data_set: DataSet, paths: Sequence[Path], folder: Path) -> dict[str, int]:
    try:
        counts = {
            stem: write_part(
                folder, stem, watched(f"{data_set.name} {stem}", rows), data_set.labels
            )
            for stem, rows in data_set.parts(paths)
        }
    except (EOFError, zlib.error, lzma.LZMAError, tarfile.TarError) as why:
        raise damaged(paths, why) from None
    except OSError as why:
        if why.errno is not None:  # of the system; decompressors give none
            raise
        raise damaged(paths, why) from None
    made, expected = sum(counts.values()), sum(data_set.rows)
    if expected and made != expected:
        raise DataError(f"{made:,} rows came out and not {expected:,}", AGAIN)
    return counts


def damaged(paths: Sequence[Path], why: Exception) -> DataError:
    return DataError(f"{' or '.join(map(str, paths))} is damaged or truncated: {why}", AGAIN)


def mirrored(file: File, base_url: str | None) -> File:
    return replace(file, urls=(f"{base_url.rstrip('/')}/{file.name}",)) if base_url else file


def fetched(file: File, folder: Path, away: Away) -> Path:
    host = urlsplit(file.urls[-1]).hostname
    if not (folder / file.name).exists():
        if host in away:
            raise Unreachable(f"cannot reach {host}, as before")
        note(f"fetching {file.urls[0]}")
    try:
        with showing(file.name) as progress:
            return fetch(file, folder, progress, patient)
    except Unreachable:
        away.add(host)
        raise


def patient(seconds: float) -> None:
    note(f"no luck; the next try is in {seconds:.0f} s")
    time.sleep(seconds)


def watched(title: str, rows: Rows) -> Rows:
    line = Progress(title, sys.stderr)
    count = 0

    def status() -> dict[str, int]:
        return {"rows": count}

    for row in rows:
        yield row
        count += 1
        line.update(status)
    line.clear()


@contextmanager
def showing(name: str) -> Iterator[Callable[[int, int | None], None]]:
    """A live line on a terminal, a plain line now and then elsewhere."""
    line = Progress(name, sys.stderr)

    def show(done: int, total: int | None) -> None:
        line.title = f"{name}  {words(done)}" + (f" of {words(total)}" if total else "")
        line.update(lambda: {"done": done / total} if total else {})

    try:
        yield show
    finally:
        line.clear()


@contextmanager
def alone(data: Path) -> Iterator[None]:
    """One run at a time in a folder; the next one waits."""
    data.mkdir(parents=True, exist_ok=True)
    with (data / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note(f"waiting for another run that writes to {data}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def note(text: str) -> None:
    print(text, file=sys.stderr)
