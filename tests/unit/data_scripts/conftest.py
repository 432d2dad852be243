"""A publisher on loopback that can misbehave."""

import threading
from collections import deque
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Publisher(ThreadingHTTPServer):
    """Serves `files`; the next requests meet the `faults`, one each:

    "503"      busy, try again            "404"      not here
    "drop"     half of the answer         "page"     a web page
    "nowhere"  closes without an answer   "shifted"  another range than asked for
    "hang"     half of the answer, and silence until `release` is set
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.files: dict[str, bytes] = {}
        self.faults: deque[str] = deque()
        self.tag: str | None = '"v1"'
        self.date: str | None = None
        self.ranges = True
        self.sized = True
        self.sent: list[int] = []  # bytes of every answer that had some
        self.release = threading.Event()
        self.asked: list[tuple[str, str | None]] = []  # file and Range of every request

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Answer(BaseHTTPRequestHandler):
    server: Publisher

    def do_GET(self) -> None:
        name, wanted = self.path.rpartition("/")[2], self.headers.get("Range")
        self.server.asked.append((name, wanted))
        fault = self.server.faults.popleft() if self.server.faults else ""
        body = self.server.files.get(name)
        if fault == "nowhere":
            return
        if fault == "503":
            self.head(503, {"Retry-After": "7", "Content-Length": "0"})
        elif fault == "404" or body is None:
            self.head(404, {"Content-Length": "0"})
        elif fault == "page":
            self.head(200, {"Content-Type": "text/html"})
            self.wfile.write(b"<html>please log in</html>")
        else:
            self.send(body, wanted, fault)

    def send(self, body: bytes, wanted: str | None, fault: str) -> None:
        start, code, more = 0, 200, {}
        known = self.headers.get("If-Range", "")
        fresh = known in (self.server.tag, self.server.date) and not known.startswith("W/")
        if wanted and self.server.ranges and fresh:
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            if start >= len(body):
                self.head(416, {"Content-Range": f"bytes */{len(body)}", "Content-Length": "0"})
                return
            start -= fault == "shifted"
            code, more = 206, {"Content-Range": f"bytes {start}-{len(body) - 1}/{len(body)}"}
        rest = body[start:]
        if self.server.sized:
            more["Content-Length"] = str(len(rest))
        self.head(code, more)
        given = rest[: len(rest) // 2] if fault in ("drop", "hang") else rest
        self.server.sent.append(len(given))
        self.wfile.write(given)
        if fault == "hang":
            self.wfile.flush()
            self.server.release.wait()

    def head(self, code: int, more: dict[str, str]) -> None:
        self.send_response(code)
        known = {"ETag": self.server.tag, "Last-Modified": self.server.date}
        for name, value in {**known, "Content-Type": "text/plain", **more}.items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def publisher(monkeypatch: pytest.MonkeyPatch) -> Iterator[Publisher]:
    monkeypatch.setenv("no_proxy", "*")
    with Publisher() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.release.set()
        server.shutdown()
        thread.join()
