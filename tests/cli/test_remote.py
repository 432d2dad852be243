"""Files by URL, from a server that the test starts."""

import gzip
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")

Run = Callable[..., Any]
FILES: dict[str, bytes] = {}
ASKED: list[str] = []


class Server(BaseHTTPRequestHandler):
    """Gives FILES; those under /cut/ end in the middle, and /wrong/ fails. The server compresses
    what is under /packed/; under /packed-cut/ this ends in the middle and is sent as if whole."""

    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        ASKED.append(self.path)
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        data = FILES.get(self.path.split("?")[0].rpartition("/")[2])
        status = 500 if "/wrong/" in self.path else 404 if data is None else 200
        self.send_response(status)
        data = data if data is not None and status == 200 else b""
        if "/packed" in self.path:
            self.send_header("Content-Encoding", "gzip")
            data = gzip.compress(data)
            data = data[: len(data) // 2] if "/packed-cut/" in self.path else data
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body:
            self.wfile.write(data[: len(data) // 2] if "/cut/" in self.path else data)
            self.close_connection = "/cut/" in self.path

    def log_message(self, *words: Any) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()
    FILES.clear()
    ASKED.clear()


@pytest.fixture
def served(planted: Run, folder: Path) -> str:
    """A day, which the server has, plain and compressed."""
    name: str = planted("day.svm", 1, 300)
    data = (folder / name).read_bytes()
    FILES.update({"day.svm": data, "day.svm.gz": gzip.compress(data)})
    return name


@pytest.mark.parametrize("name", ["day.svm", "day.svm.gz", "packed/day.svm"])
def test_a_model_is_that_of_the_file(
    folder: Path, ok: Run, address: str, served: str, name: str
) -> None:
    ok("train", served, "-m", "file.cw")
    ok("train", f"{address}/{name}?key=secret", "-m", "url.cw")
    weights = [ok("inspect", model, "--weights", "-") for model in ("file.cw", "url.cw")]
    assert weights[0] == weights[1]
    assert "secret" not in (folder / "url.cw").read_bytes().decode("latin-1")
    predicted = [ok("predict", data, "-m", "url.cw") for data in (served, f"{address}/{name}")]
    assert predicted[0] == predicted[1]


def test_every_command_that_reads_data(folder: Path, ok: Run, address: str, served: str) -> None:
    url = f"{address}/{served}"
    ok("feed", url, "-m", "feed.cw")
    assert ASKED.count(f"/{served}") == 1  # feed reads a day twice, from its own copy
    ok("train", url, "-m", "m.cw", "--passes", "2", "--validation", url)
    ok("tune", url, "-m", "t.cw", "--grid", "r=0.1,1", "--cv", "2", "--jobs", "1")
    ok("select-features", url, "--features", "3")
    ok("predict", url, "-m", "m.cw", "--top", "5")
    assert ok("convert", url, "-o", "-").count("\n") == 300
    assert ok("convert", url, "-o", "-", "--to", "csv").count("\n") == 301


@pytest.mark.parametrize(
    ("path", "code", "words"),
    [
        ("/none.svm", 3, "none.svm: no such file on the server"),
        ("/cut/day.svm", 3, "day.svm broke off while it was read"),
        ("/cut/day.svm.gz", 3, "day.svm.gz broke off while it was read"),
        ("/wrong/day.svm", 3, "the server answers 500"),
        ("/packed-cut/day.svm", 3, "day.svm: the gzip data ends in the middle"),
    ],
)
def test_failures_of_the_server(
    folder: Path, cwtool: Run, address: str, served: str, path: str, code: int, words: str
) -> None:
    for command in ["train", "feed"]:
        ended = cwtool(command, address + path, "-m", "m.cw")
        assert ended.code == code and words in ended.err, ended
        assert "hint: " in ended.err and "Traceback" not in ended.err
        assert not (folder / "m.cw").exists()
    assert cwtool("convert", address + path, "-o", "out.svm").code == code
    assert not (folder / "out.svm").exists()


def test_nobody_answers(folder: Path, cwtool: Run, address: str) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    port = server.server_address[1]
    server.server_close()
    ended = cwtool("train", f"http://127.0.0.1:{port}/day.svm", "-m", "m.cw")
    assert ended.code == 3 and "cannot be opened" in ended.err


def test_what_has_to_be_installed(
    folder: Path, cwtool: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    ended = cwtool("train", "s3://bucket/day.svm", "-m", "m.cw")
    assert ended.code == 2 and "pip install s3fs" in ended.err
    ended = cwtool("train", "nonsense://bucket/day.svm", "-m", "m.cw")
    assert ended.code == 2 and "nonsense" in ended.err
    monkeypatch.setitem(sys.modules, "fsspec", None)
    ended = cwtool("train", "https://example.com/day.svm", "-m", "m.cw")
    assert ended.code == 2 and "pip install 'cwtool[remote]'" in ended.err
