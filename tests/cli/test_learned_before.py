"""Files that were learned before are known by their rows, whatever they are called now."""

import bz2
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cwtool.data.known import file_digests
from cwtool.model import file as modelfile

Run = Callable[..., str]


@pytest.fixture
def model(ok: Run, planted: Run) -> bytes:
    ok("train", planted("a.svm", 1, 300), "-m", "m.cw")
    return Path("m.cw").read_bytes()


@pytest.mark.parametrize("copy", ["b.svm", "a.svm.gz", "a.bz2", "-"])
def test_copies_are_skipped(cwtool: Callable, ok: Run, model: bytes, copy: str) -> None:
    text = Path("a.svm").read_bytes()
    pack = {".gz": gzip.compress, "bz2": bz2.compress}.get(copy[-3:], bytes)
    if copy != "-":
        Path(copy).write_bytes(pack(text))
    args = ["train", copy, "--resume", "m.cw", "-m", "m.cw", "--json"]
    ended = cwtool(*args, stdin=text)
    assert ended.code == 0
    assert json.loads(ended.out.splitlines()[-1])["event"] == "skipped"
    assert "was learned before (as a.svm) and is skipped; --again learns it again" in ended.err
    assert Path("m.cw").read_bytes() == model
    said = cwtool("predict", copy, "-m", "m.cw", "--evaluate", stdin=text)
    assert "the model has learned" in said.err
    ok(*args, "--again", stdin=text)
    assert modelfile.load_header(Path("m.cw"))["rows"] == 600


def test_standard_input_that_is_known_among_new_files(
    cwtool: Callable, planted: Run, model: bytes
) -> None:
    args = ["train", "-", planted("b.svm", 2, 50), "--resume", "m.cw", "-m", "m.cw"]
    ended = cwtool(*args, stdin=Path("a.svm").read_bytes())
    assert ended.code == 3
    assert "mixed with other files" in ended.err
    assert Path("m.cw").read_bytes() == model


def test_digests_of_older_models_are_understood(ok: Run, cwtool: Callable, model: bytes) -> None:
    """Version 0.1 kept the digest of the compressed file."""
    Path("a.gz").write_bytes(gzip.compress(Path("a.svm").read_bytes()))
    header, arrays = modelfile.load(Path("m.cw"))
    header["history"][0]["files"][0]["digest"] = file_digests("a.gz")[1]
    modelfile.save(Path("m.cw"), header, arrays)
    ended = cwtool("train", "a.gz", "--resume", "m.cw", "-m", "m.cw")
    assert "skipped" in ended.err
    assert modelfile.load_header(Path("m.cw"))["rows"] == 300


def test_late_rows_are_told(cwtool: Callable, planted: Run, model: bytes) -> None:
    new = Path(planted("new.svm", 3, 100)).read_text()
    Path("late.svm").write_text(Path("a.svm").read_text() + new)
    ended = cwtool("train", "late.svm", "--resume", "m.cw", "-m", "m2.cw")
    assert ended.code == 0
    assert "late.svm: about 75 % of its rows were learned before" in ended.err
    assert "learned before" not in cwtool("train", "new.svm", "--resume", "m.cw", "-m", "m3.cw").err
    again = cwtool("train", "late.svm", "--resume", "m.cw", "-m", "m4.cw", "--again")
    assert "learned before" not in again.err
