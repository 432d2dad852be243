"""The command: what it writes, what it says, how it ends."""

import gzip
import lzma
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cwtool.data.pipeline import read_blocks
from data_scripts import command
from data_scripts.catalogue import CATALOGUE, libsvm
from data_scripts.splits import streamed

from .conftest import Publisher
from .test_formats import tar_gz

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "data_scripts" / "fetch.py"
A9A = b"-1 3:1 11:1\n+1 5:1\n-1 2:1\n", b"+1 1:1\n"
SMALL = {
    "a9a": replace(CATALOGUE["a9a"], rows=(3, 1)),
    "url": replace(CATALOGUE["url"], rows=(2,)),
    "webspam": replace(CATALOGUE["webspam"], rows=(3, 2), parts=streamed(libsvm, 3, 5)),
}


@pytest.fixture
def run(
    publisher: Publisher, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., tuple[int, str]]:  # fmt: skip
    """The command on the small catalogue, with the publisher as mirror; exit code and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command.time, "sleep", lambda _: None)
    publisher.files.update(zip(("a9a", "a9a.t"), A9A, strict=True))

    def start(*args: str) -> tuple[int, str]:
        capsys.readouterr()
        code = command.main([*args, "--base-url", publisher.url + "/"], SMALL)
        return code, capsys.readouterr().err

    return start


def test_files_for_the_suites(run: Callable[..., tuple[int, str]]) -> None:
    code, err = run("a9a")
    assert code == 0
    assert Path("data/a9a/train.svm").read_bytes() == A9A[0]
    assert Path("data/a9a/test.svm").read_bytes() == A9A[1]
    assert err.endswith("data/a9a: train 3 rows, test 1 rows\n")
    assert [b.n_rows for b in read_blocks(["data/a9a/train.svm"])] == [3]


def test_what_is_there_is_left_alone(
    run: Callable[..., tuple[int, str]], publisher: Publisher
) -> None:
    run("a9a", "--data", "d")
    asked = len(publisher.asked)
    Path("d/a9a/train.svm").write_text("+1 1:1\n")
    assert run("a9a", "--data", "d") == (0, "d/a9a is there already\n")
    assert Path("d/a9a/train.svm").read_text() == "+1 1:1\n"
    assert run("a9a", "--data", "d", "--again")[0] == 0
    assert Path("d/a9a/train.svm").read_bytes() == A9A[0]
    assert len(publisher.asked) == asked  # the raw files were kept


def test_days_and_streams(run: Callable[..., tuple[int, str]], publisher: Publisher) -> None:
    days = {f"url_svmlight/Day{i}.svm": f"+1 {i + 1}:1\n" for i in range(2)}
    publisher.files["url_svmlight.tar.gz"] = tar_gz(**days)
    rows = b"".join(b"-1 %d:1\n" % i for i in range(1, 6))
    publisher.files["webspam_wc_normalized_trigram.svm.xz"] = lzma.compress(rows)
    assert run("url", "webspam")[0] == 0
    assert sorted(p.name for p in Path("data/url").iterdir()) == ["Day0.svm", "Day1.svm"]
    parts = [Path(f"data/webspam/{part}.svm").read_bytes() for part in ("train", "test")]
    assert [part.count(b"\n") for part in parts] == [3, 2]
    assert sorted(b"".join(parts).splitlines()) == rows.splitlines()


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_truncated_archive_leaves_nothing_behind(
    run: Callable[..., tuple[int, str]], publisher: Publisher, pack: Callable[[bytes], bytes]
) -> None:
    text = "".join(f"-1 {i}:{i * 7919 % 1000}\n" for i in range(1, 2000)).encode()
    publisher.files["webspam_wc_normalized_trigram.svm.xz"] = pack(text)[:-200]
    publisher.files["url_svmlight.tar.gz"] = tar_gz(**{"u/Day0.svm": text.decode()})[:-200]
    code, err = run("webspam", "url", "a9a")
    assert code == 3
    assert len(re.findall("error: .* is damaged or truncated: ", err)) == 2
    assert "hint: delete the raw file, with the .sha256 file beside it, and run again" in err
    assert Path("data/a9a/train.svm").exists()  # one failure does not lose the others
    assert sorted(p.name for p in Path("data").iterdir()) == [".lock", "a9a", "raw"]


def test_damaged_bytes_are_not_blamed_on_the_disk(
    run: Callable[..., tuple[int, str]], publisher: Publisher
) -> None:
    publisher.files["a9a"] = b"BZh91AY&SY" + bytes(99)
    code, err = run("a9a")
    assert code == 3
    assert "is damaged or truncated" in err


def test_rows_that_are_missing_are_noticed(
    run: Callable[..., tuple[int, str]], publisher: Publisher
) -> None:
    publisher.files["a9a"] = A9A[0][:12]
    code, err = run("a9a")
    assert code == 3
    assert "a9a: 2 rows came out and not 4" in err
    assert not Path("data/a9a").exists()


def test_a_server_that_is_away_is_waited_for_once(
    run: Callable[..., tuple[int, str]], publisher: Publisher
) -> None:
    publisher.shutdown()
    publisher.server_close()
    code, err = run("a9a", "url")
    assert code == 3
    assert "error: a9a: cannot reach 127.0.0.1: Connection refused" in err
    assert "error: url: cannot reach 127.0.0.1, as before" in err
    assert "no luck; the next try is in 4 s" in err
    assert "hint: if you are behind a proxy, set https_proxy" in err
    assert err.count("fetching") == 1
    for name, content in zip(("a9a", "a9a.t"), A9A, strict=True):
        Path("data/raw", name).write_bytes(content)
    assert run("url", "a9a")[0] == 3
    assert Path("data/a9a").exists()  # put there by hand: no server is needed


def test_a_folder_that_cannot_be_written(run: Callable[..., tuple[int, str]]) -> None:
    Path("file").write_text("")
    code, err = run("a9a", "--data", "file")
    assert code == 2
    assert err.startswith("error: file: File exists\nhint: ")


def test_names(run: Callable[..., tuple[int, str]]) -> None:
    code, err = run("a9b")
    assert code == 2
    assert err == "error: there is no data set a9b\nhint: did you mean a9a?\n"
    chosen = command.selected(["a9a", "small", "a9a"], CATALOGUE)
    assert [d.name for d in chosen] == [n for n, d in CATALOGUE.items() if not d.large]
    assert len(command.selected(["all"], CATALOGUE)) == len(CATALOGUE)


def test_the_page_has_the_table() -> None:
    assert command.table(CATALOGUE) in (ROOT / "docs/guides/data-sets.md").read_text()


def test_the_catalogue_is_in_order() -> None:
    files = {file for d in CATALOGUE.values() for file in d.files}
    assert len({file.name for file in files}) == len(files)  # one folder holds them all
    for file in files:
        assert re.fullmatch("([0-9a-f]{64})?", file.sha256)
        for url in file.urls:
            assert url.startswith("http")
            assert url.endswith("/" + file.name)


def start(publisher: Publisher, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, SCRIPT, "a9a", "--base-url", publisher.url],
        cwd=folder, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_for(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_an_interrupted_run_goes_on(publisher: Publisher, tmp_path: Path) -> None:
    publisher.files.update({"a9a": b"-1 1:1\n" * 1000, "a9a.t": b"+1 1:1\n"})
    part = tmp_path / "data" / "raw" / "a9a.part"
    publisher.faults.append("hang")
    process = start(publisher, tmp_path)
    wait_for(lambda: part.exists() and len(publisher.asked) == 1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "hint: what has come is kept: the same command goes on from there" in err
    assert "Traceback" not in err
    assert part.exists()

    again = start(publisher, tmp_path)
    _, err = again.communicate(timeout=60)
    assert again.returncode == 3  # the true a9a has more rows
    assert "a9a: 1,001 rows came out and not 48,842" in err
    assert (tmp_path / "data" / "raw" / "a9a").read_bytes() == publisher.files["a9a"]


def test_two_runs_wait_for_each_other(publisher: Publisher, tmp_path: Path) -> None:
    publisher.files.update({"a9a": b"-1 1:1\n", "a9a.t": b"+1 1:1\n"})
    publisher.faults.append("hang")
    first = start(publisher, tmp_path)
    wait_for(lambda: len(publisher.asked) == 1)
    second = start(publisher, tmp_path)
    assert second.stderr is not None
    assert second.stderr.readline() == "waiting for another run that writes to data\n"
    first.kill()
    first.communicate(timeout=60)
    second.communicate(timeout=60)
    assert second.returncode == 3
    assert (tmp_path / "data" / "raw" / "a9a").read_bytes() == b"-1 1:1\n"
