"""One file over HTTP: resumed, retried, verified, and under its name only when complete."""

from __future__ import annotations

import hashlib
import http.client
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from cwtool.errors import DataError

TRIES = 5  # in a row without a new byte
LONGEST_PAUSE = 60.0  # seconds
TIMEOUT = 30.0
PIECE = 1 << 18
AGENT = "cwtool-data"

Progress = Callable[[int, int | None], None]  # bytes so far, and in all if the server says


@dataclass(frozen=True)
class File:
    """A file of a publisher; without a digest, the one of the first fetch counts from then on."""

    name: str
    urls: tuple[str, ...]
    sha256: str = ""


class Unreachable(DataError):
    """The server did not answer, and is not asked for more."""


class Passing(Exception):
    """A failure that may be gone at the next try."""

    def __init__(self, why: str, wait: float = 0.0, answered: bool = True) -> None:
        super().__init__(why)
        self.wait, self.answered = wait, answered


def fetch(
    file: File,
    folder: Path,
    progress: Progress = lambda done, total: None,
    pause: Callable[[float], None] = time.sleep,
) -> Path:
    """The file in `folder`, verified; it is fetched if it is not there."""
    path = folder / file.name
    if path.exists():
        verify(file, path, path)
        return path
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    for url in file.urls:
        try:
            download(url, part, progress, pause)
            break
        except DataError:
            if url == file.urls[-1]:
                raise
    verify(file, path, part)
    part.replace(path)
    tag_of(part).unlink(missing_ok=True)
    return path


def download(url: str, part: Path, progress: Progress, pause: Callable[[float], None]) -> None:
    """All of `url` into `part`, going on where an earlier try ended."""
    failures = 0
    while True:
        before = size(part)
        try:
            go_on(url, part, progress)
            return
        except Passing as why:
            failures = 1 if size(part) > before else failures + 1
            if failures == TRIES:
                raise given_up(url, part, why) from None
            pause(min(LONGEST_PAUSE, max(why.wait, 2.0 ** (failures - 1))))


def given_up(url: str, part: Path, why: Passing) -> DataError:
    host = urlsplit(url).hostname
    by_hand = f"or put the file at {part.with_suffix('')} by hand"
    if why.answered:
        return DataError(f"{url}: {why}", f"run it again later, which goes on from here, {by_hand}")
    return Unreachable(
        f"cannot reach {host}: {why}",
        "if you are behind a proxy, set https_proxy; otherwise try again once you are online, "
        f"use --base-url with a mirror, {by_hand}",
    )


def go_on(url: str, part: Path, progress: Progress) -> None:
    """One request for what is missing. The server sends the rest only if the file is still the
    one whose beginning we have (If-Range), and otherwise all of it."""
    have, tag = size(part), tag_of(part)
    known_url, _, validator = tag.read_text().partition("\n") if tag.exists() else ("", "", "")
    request = Request(url, headers={"User-Agent": AGENT})
    if have and validator and known_url == url:
        request.add_header("Range", f"bytes={have}-")
        request.add_header("If-Range", validator)
    try:
        answer = urlopen(request, timeout=TIMEOUT)
    except HTTPError as refusal:
        if refusal.headers.get("Content-Range") == f"bytes */{have}":
            return  # all of it had come
        raise refused(refusal, url, part) from None
    except URLError as failure:
        raise unreached(failure.reason, url) from None
    except (OSError, http.client.HTTPException) as failure:
        raise broken(failure) from None
    with answer:
        receive(answer, url, part, have, progress)


def receive(
    answer: http.client.HTTPResponse, url: str, part: Path, have: int, progress: Progress
) -> None:
    at = 0
    if answer.status == http.client.PARTIAL_CONTENT:
        at = have
        if not answer.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            part.unlink()
            raise Passing("the server sent another range than asked for")
    length = answer.headers.get("Content-Length")
    total = at + int(length) if length else None
    etag = answer.headers.get("ETag", "")
    strong = etag if etag.startswith('"') else answer.headers.get("Last-Modified", "")
    piece = next_piece(answer)
    if at == 0 and piece.lstrip().startswith(b"<"):  # no format here begins so
        raise DataError(f"{url}: a web page came instead of the file", "see it in a browser")
    with part.open("ab" if at else "wb") as out:
        tag_of(part).write_text(f"{url}\n{strong}")
        while piece:
            out.write(piece)
            at += len(piece)
            progress(at, total)
            piece = next_piece(answer)
    if total is not None and at < total:
        raise Passing(f"the connection ended after {at:,} of {total:,} bytes")


def next_piece(answer: http.client.HTTPResponse) -> bytes:
    try:
        return answer.read1(PIECE)
    except (OSError, http.client.HTTPException) as failure:
        raise broken(failure) from None


def broken(failure: Exception) -> Passing:
    return Passing(f"the connection broke: {str(failure) or type(failure).__name__}")


def refused(answer: HTTPError, url: str, part: Path) -> Exception:
    """Busy servers are asked again; the rest is final."""
    if answer.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
        part.unlink()  # longer than the file is: begin again
        return Passing("what is here does not fit the file")
    if answer.code in (408, 429) or answer.code >= 500:
        wait = answer.headers.get("Retry-After", "")
        return Passing(f"the server says {answer.code} {answer.reason}",
                       float(wait) if wait.isdigit() else 0.0)  # fmt: skip
    return DataError(
        f"{url}: the server says {answer.code} {answer.reason}",
        "the file may have moved: try --base-url with a mirror",
    )


def unreached(reason: object, url: str) -> Exception:
    if isinstance(reason, ssl.SSLCertVerificationError):
        return DataError(
            f"{url}: the certificate is not trusted: {reason.verify_message}",
            "a proxy may sit in between: point SSL_CERT_FILE at its certificate",
        )
    if isinstance(reason, socket.gaierror):
        return Passing("its name is not known here", answered=False)
    text = reason.strerror if isinstance(reason, OSError) and reason.strerror else reason
    return Passing(str(text), answered=False)


def verify(file: File, path: Path, found: Path) -> None:
    """Compare `found` with the digest of the catalogue, or with that of the first fetch."""
    record = path.with_name(path.name + ".sha256")
    known = file.sha256 or (record.read_text().split()[0] if record.exists() else "")
    digest = sha256(found)
    if known and digest != known:
        rejected = path.with_name(path.name + ".rejected")
        found.replace(rejected)
        source = "the catalogue" if file.sha256 else f"{record}, written at the first fetch,"
        trust = "" if file.sha256 else f"; if you trust the new file, delete {record} first"
        raise DataError(
            f"{file.name} has SHA-256 {digest}, but {source} says {known}; it is now {rejected}",
            f"run again to fetch it anew{trust}",
        )
    if not known:
        record.write_text(f"{digest}  {file.name}\n")  # as `sha256sum --check` reads it


def sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def tag_of(part: Path) -> Path:
    """Where the URL and the validator (ETag or date) of a partial file are kept."""
    return part.with_name(part.name + ".tag")
