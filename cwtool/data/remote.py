"""Files by URL, such as https:// and s3://, read as streams through fsspec."""

from __future__ import annotations

import os
import re
from typing import IO, Any, cast

from cwtool.errors import DataError, UsageError

URL = r"([A-Za-z][A-Za-z0-9+.-]+)://(?:[^/?#@]*@)?([^?#]*)"
WEB = ("http", "https")
CONNECT, SILENCE = 30, 120  # seconds that a server may take to answer, and between two pieces


def is_url(path: str) -> bool:
    return "://" in path and re.match(URL, path) is not None


def shown(url: str) -> str:
    """A URL for messages and the history: without passwords and signatures."""
    found = re.match(URL, url)
    assert found is not None
    return f"{found[1]}://{found[2]}"


class Remote:
    """A file by URL, as a handle. A file that ends early is an error, never a short file."""

    regular = False
    size = 0

    def __init__(self, url: str) -> None:
        self.url, self.name = url, shown(url)
        try:
            import fsspec
        except ImportError:
            raise UsageError(
                f"{self.name}: fsspec, which reads files by URL, is not installed",
                "pip install 'cwtool[remote]'",
            ) from None
        try:
            self.file: IO[bytes] = _opened(fsspec, url)
        except FileNotFoundError:
            raise DataError(
                f"{self.name}: no such file on the server", "check the address"
            ) from None
        except ImportError as failure:
            raise UsageError(f"{self.name}: {_sentence(failure)}", _missing(url)) from None
        except ValueError as failure:
            raise UsageError(f"{self.name}: {_sentence(failure)}", "check the address") from None
        except Exception as failure:  # each kind of server has error classes of its own
            raise self._failed("cannot be opened", failure) from None
        # what is missing of a stream from the web is told by the stream itself
        self.left: int = 0 if _is_web(url) else getattr(self.file, "size", 0) or 0

    def told(self) -> tuple[int, str]:
        """The size of the file in bytes (0 if the server does not report it), and a tag that
        changes when the file changes."""
        import fsspec

        try:
            system, path = fsspec.core.url_to_fs(self.url)
            info = system.info(path)
        except Exception as failure:
            raise self._failed("cannot be asked for its size", failure) from None
        names = ("ETag", "etag", "mtime", "LastModified")
        return int(info.get("size") or 0), str([info[name] for name in names if name in info])

    def read(self, size: int) -> bytes:
        try:
            data = self.file.read(size)
        except Exception as failure:
            raise self._failed("broke off while it was read", failure) from None
        self.left -= len(data)
        if not data and self.left > 0:
            raise DataError(f"{self.name} became shorter while it was read", "run again later")
        return data

    def _failed(self, what: str, failure: Exception) -> DataError:
        return DataError(f"{self.name} {what}: {_sentence(failure)}", "run again later")


def _is_web(url: str) -> bool:
    return url.partition("://")[0].lower() in WEB


def _opened(fsspec: Any, url: str) -> IO[bytes]:
    if not _is_web(url):
        system, path = fsspec.core.url_to_fs(url)
        return cast("IO[bytes]", system.open(path, "rb"))
    from aiohttp import ClientTimeout

    limits = ClientTimeout(total=None, sock_connect=CONNECT, sock_read=SILENCE)
    # what a server compresses on its own is unpacked like other files, because aiohttp takes one
    # that is cut off for a whole one
    settings = {"timeout": limits, "auto_decompress": False}
    settings["headers"] = {"Accept-Encoding": "identity"}
    system, path = fsspec.core.url_to_fs(url, client_kwargs=settings)
    # no block size: as one stream; any size: or else fsspec would ask for the size first
    return cast("IO[bytes]", system.open(path, "rb", block_size=0, size=1))


def _sentence(failure: Exception) -> str:
    status, reason = getattr(failure, "status", None), getattr(failure, "message", "")
    if status:
        return f"the server answers {status} {reason}".strip()
    if isinstance(failure, OSError) and failure.errno:
        return os.strerror(failure.errno)
    return str(failure).split("\n")[0].rstrip(".") or type(failure).__name__


def _missing(url: str) -> str:
    packages = {"http": "aiohttp", "https": "aiohttp", "s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs"}
    package = packages.get(url.partition("://")[0].lower())
    return f"pip install {package}" if package else "install what fsspec needs for it"
