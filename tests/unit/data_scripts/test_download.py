"""Downloads end complete and verified, or with a sentence, whatever the server does."""

import hashlib
import socket
from pathlib import Path

import pytest

from cwtool.errors import DataError
from data_scripts import download
from data_scripts.download import File, Unreachable, fetch

from .conftest import Publisher

BODY = bytes(range(256)) * 40
SHA = hashlib.sha256(BODY).hexdigest()


class Fetching:
    """fetch() of one file, with the pauses it would have made."""

    def __init__(self, publisher: Publisher, folder: Path) -> None:
        self.publisher, self.folder = publisher, folder
        self.pauses: list[float] = []
        self.seen: list[tuple[int, int | None]] = []
        publisher.files["x"] = BODY

    def __call__(self, sha256: str = "", urls: tuple[str, ...] = ()) -> bytes:
        file = File("x", urls or (f"{self.publisher.url}/x",), sha256)
        show = lambda done, total: self.seen.append((done, total))  # noqa: E731
        return fetch(file, self.folder, show, self.pauses.append).read_bytes()

    def left(self) -> set[str]:
        return {p.name for p in self.folder.iterdir()}


@pytest.fixture
def fetching(publisher: Publisher, tmp_path: Path) -> Fetching:
    return Fetching(publisher, tmp_path / "raw")


def test_a_file_comes_whole_and_is_asked_for_once(fetching: Fetching) -> None:
    assert fetching(SHA) == BODY
    assert fetching(SHA) == BODY
    assert fetching.publisher.asked == [("x", None)]
    assert fetching.left() == {"x"}
    assert fetching.seen[-1] == (len(BODY), len(BODY))
    assert fetching.pauses == []


def test_a_dropped_connection_goes_on_where_it_ended(fetching: Fetching) -> None:
    fetching.publisher.faults.extend(["drop", "drop"])
    assert fetching(SHA) == BODY
    ranges = [wanted for _, wanted in fetching.publisher.asked]
    assert ranges == [None, "bytes=5120-", "bytes=7680-"]
    assert fetching.pauses == [1.0, 1.0]  # something came each time


def test_a_later_run_goes_on_too(fetching: Fetching) -> None:
    fetching.publisher.faults.extend(["drop", *["nowhere"] * 5])
    with pytest.raises(DataError, match="the connection broke") as failure:
        fetching(SHA)
    assert "goes on from here" in str(failure.value.hint)
    assert fetching.left() == {"x.part", "x.part.tag"}
    assert fetching(SHA) == BODY
    assert fetching.publisher.asked[-1] == ("x", "bytes=5120-")
    assert fetching.left() == {"x"}


def test_a_date_serves_where_the_tag_is_weak(fetching: Fetching) -> None:
    fetching.publisher.tag = 'W/"v1"'
    fetching.publisher.date = "Mon, 01 Jan 2024 00:00:00 GMT"
    fetching.publisher.faults.append("drop")
    assert fetching() == BODY
    assert fetching.publisher.asked[-1] == ("x", "bytes=5120-")
    assert fetching.publisher.sent == [5120, 5120]


def test_a_changed_file_is_fetched_from_its_beginning(fetching: Fetching) -> None:
    fetching.publisher.faults.extend(["drop", *["nowhere"] * 5])
    with pytest.raises(DataError):
        fetching()
    fetching.publisher.tag = '"v2"'
    fetching.publisher.files["x"] = BODY[::-1]
    assert fetching() == BODY[::-1]
    assert fetching.publisher.asked[-1] == ("x", "bytes=5120-")


@pytest.mark.parametrize("how", ["no ranges", "no validator", "another address"])
def test_what_cannot_be_continued_begins_again(fetching: Fetching, how: str) -> None:
    fetching.publisher.ranges = how != "no ranges"
    if how == "no validator":
        fetching.publisher.tag = None
    fetching.publisher.faults.extend(["drop", *["nowhere"] * 5])
    with pytest.raises(DataError):
        fetching()
    folder = "mirror/" if how == "another address" else ""
    assert fetching(SHA, (f"{fetching.publisher.url}/{folder}x",)) == BODY
    expected = "bytes=5120-" if how == "no ranges" else None
    assert fetching.publisher.asked[-1] == ("x", expected)


def test_a_part_that_is_too_long_begins_again(fetching: Fetching) -> None:
    fetching.folder.mkdir()
    (fetching.folder / "x.part").write_bytes(BODY + b"more")
    (fetching.folder / "x.part.tag").write_text(f'{fetching.publisher.url}/x\n"v1"')
    assert fetching(SHA) == BODY


def test_a_part_that_is_complete_is_not_fetched_again(fetching: Fetching) -> None:
    fetching.folder.mkdir()
    (fetching.folder / "x.part").write_bytes(BODY)
    (fetching.folder / "x.part.tag").write_text(f'{fetching.publisher.url}/x\n"v1"')
    assert fetching(SHA) == BODY
    assert fetching.publisher.asked == [("x", f"bytes={len(BODY)}-")]


def test_a_wrong_range_is_not_glued_on(fetching: Fetching) -> None:
    fetching.publisher.faults.extend(["drop", "shifted"])
    assert fetching(SHA) == BODY


def test_a_busy_server_is_asked_again_when_it_says(fetching: Fetching) -> None:
    fetching.publisher.faults.append("503")
    assert fetching(SHA) == BODY
    assert fetching.pauses == [7.0]


def test_pauses_grow_and_end(fetching: Fetching) -> None:
    fetching.publisher.faults.extend(["nowhere"] * 9)
    with pytest.raises(DataError):
        fetching()
    assert fetching.pauses == [1.0, 2.0, 4.0, 8.0]


def test_the_next_address_is_tried(fetching: Fetching) -> None:
    fetching.publisher.faults.append("404")
    url = fetching.publisher.url
    assert fetching(SHA, (f"{url}/old/x", f"{url}/new/x")) == BODY


def test_a_missing_file_is_final(fetching: Fetching) -> None:
    fetching.publisher.files.clear()
    with pytest.raises(DataError, match="the server says 404") as failure:
        fetching()
    assert "mirror" in str(failure.value.hint)
    assert fetching.pauses == []


def test_a_web_page_is_not_data(fetching: Fetching) -> None:
    fetching.publisher.faults.append("page")
    with pytest.raises(DataError, match="a web page came instead"):
        fetching()
    assert fetching.left() == set()


def test_without_a_network_there_is_a_way_out(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/x"
        with pytest.raises(Unreachable, match=r"cannot reach 127\.0\.0\.1") as failure:
            fetch(File("x", (url,)), tmp_path, pause=lambda _: None)
    for way in ("https_proxy", "--base-url", f"{tmp_path / 'x'} by hand"):
        assert way in str(failure.value.hint)


def test_an_unknown_name_is_unreachable() -> None:
    why = download.unreached(socket.gaierror(-2, "Name or service not known"), "http://x.test/")
    assert isinstance(why, download.Passing)
    assert not why.answered


def test_wrong_bytes_are_put_aside(fetching: Fetching) -> None:
    with pytest.raises(DataError, match="the catalogue says 0000"):
        fetching("0" * 64)
    assert fetching.left() >= {"x.rejected"}
    assert "x" not in fetching.left()
    assert fetching(SHA) == BODY


def test_the_first_digest_is_kept_and_counts(fetching: Fetching) -> None:
    fetching()
    record = fetching.folder / "x.sha256"
    assert record.read_text() == f"{SHA}  x\n"
    (fetching.folder / "x").unlink()
    fetching.publisher.files["x"] = BODY + b"altered"
    with pytest.raises(DataError, match="written at the first fetch") as failure:
        fetching()
    assert f"delete {record}" in str(failure.value.hint)
    record.unlink()
    assert fetching() == BODY + b"altered"


def test_a_file_put_there_by_hand_is_used(fetching: Fetching) -> None:
    fetching.folder.mkdir()
    (fetching.folder / "x").write_bytes(BODY)
    assert fetching(SHA) == BODY
    assert fetching.publisher.asked == []


def test_a_file_altered_on_disk_is_noticed(fetching: Fetching) -> None:
    fetching()
    (fetching.folder / "x").write_bytes(BODY[:-1])
    with pytest.raises(DataError, match="has SHA-256"):
        fetching()


def test_a_length_is_not_needed(fetching: Fetching) -> None:
    fetching.publisher.sized = False
    assert fetching(SHA) == BODY
    assert fetching.seen[-1] == (len(BODY), None)
