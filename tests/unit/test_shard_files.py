"""Files that shards exchange."""

from pathlib import Path

import numpy as np
import pytest

from cwtool.errors import ModelError
from cwtool.model import file
from cwtool.shards import change


def test_what_killed_processes_left_is_removed_with_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing of other runs in the same folder."""
    mine, other = tmp_path / "001-0.change", tmp_path / "001-00.change"
    for path in (mine, other):
        change.write(path, {}, {"a": np.zeros(3)})
        assert len(file.load(path)[1]["a"]) == 3
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)  # as if killed
    monkeypatch.setattr(Path, "replace", lambda *_: None)
    for path in (mine, other):
        change.write(path, {}, {"a": np.zeros(3)})
    monkeypatch.undo()
    assert len(list(tmp_path.iterdir())) == 4
    change.remove(tmp_path, [mine])
    left = sorted(path.name for path in tmp_path.iterdir())
    assert [name.partition("~")[0] for name in left] == [".001-00.change", "001-00.change"]


def test_a_file_with_the_contents_of_another_is_damaged(tmp_path: Path) -> None:
    """Or of a model, or of nothing at all."""
    mine, other = tmp_path / "step-0001.00000.part", tmp_path / "step-0001.00001.part"
    for path in (mine, other):
        change.write(path, {"keeps": False}, {"a": np.zeros(3)})
    assert change.contents(mine)[0] == {"algorithm": "", "keeps": False}
    good = mine.read_bytes()
    for bad in (other.read_bytes(), b"", good[:-1], good + b"x"):
        mine.write_bytes(bad)
        with pytest.raises(ModelError, match=r"step-0001\.00000\.part") as caught:
            change.contents(mine)
        assert caught.value.hint == "delete it, and run the same command again"
