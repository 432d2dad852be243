"""The log of a feed has whole lines, and is no other file."""

import resource
from pathlib import Path

import pytest

from cwtool.errors import UsageError, WriteError
from cwtool.messages.log_file import append_line, check_log


def test_a_line_for_which_there_is_no_room_is_not_written_in_part(tmp_path: Path) -> None:
    log = tmp_path / "log"
    append_line(log, '{"a": 1}')
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (12, old[1]))
    try:
        with pytest.raises(WriteError, match="No space left"):
            append_line(log, '{"b": 1}')
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    append_line(log, '{"c": 1}')
    assert log.read_text() == '{"a": 1}\n{"c": 1}\n'


@pytest.mark.parametrize("content", [b"CWTOOL\0\3", b"+1 1:1\n", b"\n"])
def test_a_file_that_is_no_log_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="is not a log"):
        check_log(path, tmp_path / "m.cw")


def test_logs_and_new_files_are_accepted(tmp_path: Path) -> None:
    for content in (b"", b'{"event": "feed"}\n'):
        (tmp_path / "a").write_bytes(content)
        check_log(tmp_path / "a", tmp_path / "m.cw")
    check_log(tmp_path / "new", tmp_path / "m.cw")
    check_log(Path("/dev/null"), tmp_path / "m.cw")
