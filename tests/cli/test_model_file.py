"""A damaged model is told apart from a good one, in words, by every command."""

import json
import os
import stat
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from cwtool.errors import ModelError
from cwtool.model import Model, file

Run = Callable[..., Any]
COMMANDS = {
    "predict": ["predict", "a.svm", "-m", "bad.cw"],
    "inspect": ["inspect", "bad.cw"],
    "resume": ["train", "a.svm", "--resume", "bad.cw", "-m", "new.cw"],
}
every_command = pytest.mark.parametrize("args", COMMANDS.values(), ids=COMMANDS.keys())


@pytest.fixture
def good(ok: Run, planted: Run) -> bytes:
    ok("train", planted("a.svm", 1, 100), "-m", "m.cw")
    return Path("m.cw").read_bytes()


def answer(cwtool: Run, args: list[str], content: bytes) -> str:
    """What the command says of this content; always exit 4 and never a traceback."""
    Path("bad.cw").write_bytes(content)
    ended = cwtool(*args)
    assert "Traceback" not in ended.err
    assert ended.code == 4, ended.err
    assert "error: bad.cw" in ended.err
    assert not Path("new.cw").exists()
    return str(ended.err)


def sealed(header: bytes, rest: bytes = b"", version: int = 3) -> bytes:
    """A file whose length and checksum are right."""
    body = struct.pack(
        "<7sBQQ", b"CWTOOL\0", version, 24 + len(header) + len(rest) + 32, len(header)
    )
    body += header + rest
    return body + sha256(body).digest()


def test_layout(good: bytes) -> None:
    """What a reader in another language would rely on."""
    magic, version, size, length = struct.unpack_from("<7sBQQ", good)
    assert (magic, version, size) == (b"CWTOOL\0", 3, len(good))
    assert length % 8 == 0
    assert sha256(good[:-32]).digest() == good[-32:]
    header = json.loads(good[24 : 24 + length])
    assert header["algorithm"] == "arow"
    at = 24 + length
    for array in header["arrays"]:
        nbytes = int(array["dtype"][2]) * array["shape"][0]
        at += -(-nbytes // 8) * 8
    assert at + 32 == len(good)


@every_command
def test_truncated(args: list[str], cwtool: Run, good: bytes) -> None:
    cuts = {1, 6, 7, 8, 20, 23, 24, 25, 100, len(good) - 33, len(good) - 32, len(good) - 1}
    for length in sorted(cuts | set(range(200, len(good), len(good) // 12))):
        assert "truncated" in answer(cwtool, args, good[:length]), length


@every_command
def test_empty(args: list[str], cwtool: Run, good: bytes) -> None:
    assert "not a cwtool model" in answer(cwtool, args, b"")


@every_command
@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
def test_one_byte_altered(args: list[str], flip: int, cwtool: Run, good: bytes) -> None:
    for at in [*range(32), *range(32, len(good), len(good) // 25), len(good) - 1]:
        content = bytearray(good)
        content[at] ^= flip
        said = answer(cwtool, args, bytes(content))
        if at < 7:
            assert "not a cwtool model" in said
        elif at >= 24:
            assert "altered" in said, at


@pytest.mark.parametrize("flip", [0x01, 0xFF])
def test_one_byte_altered_while_the_checksum_is_computed(
    flip: int, good: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the bytes mean, the checksum of a large file decides in the end."""
    monkeypatch.setattr(file, "LARGE", 0)
    assert Model.load(Path("m.cw"), 2).to_bytes() == good
    for at in [*range(24, 2000, 97), *range(2000, len(good), len(good) // 9), len(good) - 1]:
        content = bytearray(good)
        content[at] ^= flip
        Path("bad.cw").write_bytes(content)
        with pytest.raises(ModelError, match="altered"):
            Model.load(Path("bad.cw"), 2)


def test_a_model_from_a_pipe(good: bytes) -> None:
    os.mkfifo("pipe")
    with ThreadPoolExecutor(1) as pool:
        pool.submit(Path("pipe").write_bytes, good)
        assert Model.load(Path("pipe"), 2).to_bytes() == good


def test_of_a_pipe_without_end_that_is_no_model_only_the_beginning_is_read(
    tmp_path: Path,
) -> None:
    path, written = tmp_path / "pipe", []
    os.mkfifo(path)

    def write() -> None:
        with suppress(BrokenPipeError), path.open("wb", buffering=0) as pipe:
            for _ in range(1 << 10):
                written.append(pipe.write(bytes(1 << 16)))

    with ThreadPoolExecutor(1) as pool:
        pool.submit(write)
        with pytest.raises(ModelError, match="not a cwtool model"):
            Model.load(path)
    assert sum(written) < 1 << 20


@every_command
def test_something_behind(args: list[str], cwtool: Run, good: bytes) -> None:
    assert "altered" in answer(cwtool, args, good + b"x")


@every_command
def test_newer_format(args: list[str], cwtool: Run, good: bytes) -> None:
    content = bytearray(good[:-32])
    content[7] = 4
    said = answer(cwtool, args, bytes(content) + sha256(content).digest())
    assert "format 4" in said
    assert "newer cwtool" in said


def test_format_1_is_read(ok: Run, good: bytes) -> None:
    """It is format 2 without columns of which the zeros are left out."""
    content = good[:7] + b"\1" + good[8:-32]
    Path("old.cw").write_bytes(content + sha256(content).digest())
    for args in (["inspect"], ["predict", "a.svm", "--output", "all", "-m"]):
        assert ok(*args, "old.cw") == ok(*args, "m.cw")
    ok("train", "a.svm", "--again", "--resume", "old.cw", "-m", "old.cw")
    assert Path("old.cw").read_bytes()[7] == 3


@every_command
@pytest.mark.parametrize(
    "content", [b"+1 1:1\n", b"\x1f\x8b" + bytes(100), b"CWTOO", b"CWTOOL1", bytes(5000)]
)
def test_not_a_model(args: list[str], content: bytes, cwtool: Run, good: bytes) -> None:
    said = answer(cwtool, args, content)
    assert "not a cwtool model" in said or content == b"CWTOO"


@every_command
@pytest.mark.parametrize("header", [b"{}", b"[]", b"1", b'{"algorithm": "arow"}', b"\xff", b"{"])
def test_sealed_nonsense(args: list[str], header: bytes, cwtool: Run, good: bytes) -> None:
    answer(cwtool, args, sealed(header))


def test_unknown_algorithm_in_the_header(cwtool: Run, good: bytes) -> None:
    length = struct.unpack_from("<Q", good, 16)[0]
    header = json.loads(good[24 : 24 + length])
    header["algorithm"] = "learner-of-tomorrow"
    content = sealed(json.dumps(header).encode(), good[24 + length : -32])
    for args in COMMANDS.values():
        assert "learner-of-tomorrow" in answer(cwtool, args, content)


@pytest.mark.parametrize("k", [0, -1.0, 1e-301, 1e400, "1", None, True])
def test_bend_out_of_range(k: Any, cwtool: Run, good: bytes) -> None:
    length = struct.unpack_from("<Q", good, 16)[0]
    header = json.loads(good[24 : 24 + length])
    header["calibration"]["k"] = k
    content = sealed(json.dumps(header).encode(), good[24 + length : -32])
    for args in COMMANDS.values():
        answer(cwtool, args, content)


@every_command
def test_missing(args: list[str], cwtool: Run, good: bytes) -> None:
    ended = cwtool(*args)
    assert ended.code == 4
    assert "bad.cw: no such model" in ended.err


@every_command
def test_directory(args: list[str], cwtool: Run, good: bytes) -> None:
    Path("bad.cw").mkdir()
    ended = cwtool(*args)
    assert ended.code in (2, 4)
    assert "irectory" in ended.err
    assert "Traceback" not in ended.err


def test_permissions_and_links_are_kept(ok: Run, good: bytes) -> None:
    Path("m.cw").chmod(0o640)
    Path("link.cw").symlink_to("m.cw")
    ok("train", "a.svm", "--again", "--resume", "link.cw", "-m", "link.cw")
    assert Path("link.cw").is_symlink()
    assert Path("m.cw").stat().st_mode & 0o777 == 0o640
    assert Path("m.cw").read_bytes() != good


def test_on_disk_before_it_is_in_place(
    ok: Run, good: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is made durable, then put in place, then the folder is made durable."""
    steps: list[str] = []

    def fsync(descriptor: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")

    real = Path.replace

    def replace(source: Path, target: Path) -> None:
        steps.append("replace")
        real(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", replace)
    ok("train", "a.svm", "-m", "m.cw")
    assert steps == ["file", "replace", "folder"]


def test_no_leftovers(ok: Run, good: bytes) -> None:
    ok("train", "a.svm", "-m", "m.cw")
    assert sorted(p.name for p in Path().iterdir()) == ["a.svm", "m.cw"]


def test_same_bytes_on_every_run(ok: Run, good: bytes) -> None:
    ok("train", "a.svm", "-m", "m.cw")
    assert Path("m.cw").read_bytes() == good


@every_command
@pytest.mark.parametrize("labels", [[0.0, 1.0], [1.0, -1.0], [-1.0, 1e9], [None, 1.0]])
def test_labels_are_those_of_the_history(
    labels: list[float | None], good: bytes, cwtool: Run, args: list[str]
) -> None:
    """Rows do not fit labels that were changed, but it is the model that is damaged."""
    length = struct.unpack_from("<7sBQQ", good)[3]
    header = json.loads(good[24 : 24 + length]) | {"labels": labels}
    text = json.dumps(header).encode()
    changed = sealed(text.ljust(-(-len(text) // 8) * 8), good[24 + length : -32])
    assert "its labels are not those of its history.0" in answer(cwtool, args, changed)


def test_a_setting_of_a_model_that_shards_cannot_have(ok: Run, cwtool: Run, planted: Run) -> None:
    ok("train", planted("a.svm", 1, 60), "-a", "bcw", "--batch-rows", 60, "-m", "m.cw")
    ended = cwtool(
        "train", planted("b.svm", 2, 60), "--resume", "m.cw", "-m", "n.cw", "--shards", 2
    )
    assert ended.code == 4
    assert "--batch-rows does not work with --shards greater than 1" in ended.err


@pytest.mark.parametrize(
    ("algo", "option", "value"),
    [
        ("dcd", "--max-batch-passes", "50000"),
        ("rff-markov", "--d-max", "500"),
        ("rff-markov", "--t-max", "20"),
        ("bcw", "--batch-rows", "20"),
    ],
)
def test_a_model_that_asks_for_much_work_is_asked_about(
    algo: str, option: str, value: str, cwtool: Run, ok: Run, planted: Run
) -> None:
    rows = planted("a.svm", 1, 60)
    command = ["train", rows, "--again", "--resume", "m.cw", "-m", "n.cw"]
    short = ["--iterations", "200"] if algo == "rff-markov" else []
    ok("train", rows, "-a", algo, *short, option, value, "-m", "m.cw")
    ended = cwtool(*command)
    assert ended.code == 4
    assert f"m.cw was trained with {option} {value}, with which learning may take very" in ended.err
    ok(*command, option, value)
