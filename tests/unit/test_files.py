"""Files that are complete or not there."""

import fcntl
import os
import stat
from pathlib import Path
from threading import Thread

import pytest

from cwtool.errors import UsageError
from cwtool.files import complete_bytes, complete_text, replacing


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("durable", [False, True])
def test_nothing_is_seen_before_the_end(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with replacing(path, durable=durable) as out:
        out.write(b"new")
        out.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["a"]


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), complete_text(path) as out:
        out.write("new")
        out.write(str(1 // 0))
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_the_permissions_stay(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.touch()
    path.chmod(0o640)
    with complete_bytes(path) as out:
        out.write(b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    path, link = tmp_path / "real" / "a", tmp_path / "link"
    path.write_text("old")
    link.symlink_to(path)
    with complete_text(link) as out:
        out.write("new")
    assert link.is_symlink()
    assert path.read_text() == "new"


@pytest.mark.parametrize("durable", [False, True])
def test_what_killed_processes_left_is_removed(tmp_path: Path, durable: bool) -> None:
    others = [".a1.7.tmp", ".a[1].txt.7.tmp", ".b.7.tmp"]
    for name in (".a[1].7.tmp", ".a[1].8.tmp", ".a[1].2.8.tmp", *others):
        (tmp_path / name).touch()
    path = tmp_path / "a[1]"
    with replacing(path, durable=durable) as out:
        out.write(b"2")
    assert names(tmp_path) == sorted([*others, "a[1]"])


def test_what_another_process_is_writing_stays(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with (tmp_path / ".a.7.tmp").open("w") as other:
        fcntl.flock(other.fileno(), fcntl.LOCK_EX)
        with replacing(path) as out:
            out.write(b"1")
        assert names(tmp_path) == [".a.7.tmp", "a"]


def test_a_durable_file_is_on_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    synced = []
    monkeypatch.setattr(
        os, "fsync", lambda fd: synced.append((path.exists(), os.fstat(fd).st_size))
    )
    with replacing(path, durable=True) as out:
        out.write(b"new")
    (file, folder) = synced
    assert file == (False, 3)
    assert folder[0]


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    path, found = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = Thread(target=lambda: found.append(path.read_text()))
    reader.start()
    with complete_text(path) as out:
        out.write("new")
    reader.join(timeout=60)
    assert found == ["new"]
    assert names(tmp_path) == ["pipe"]


def test_sources_are_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(UsageError, match="a is read here"), complete_text(path, [path]):
        pass
    assert path.read_text() == "old"


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write: No such file"), complete_text(
        tmp_path / "absent" / "a"
    ):  # fmt: skip
        pass
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "absent" / "a"):
        pass
