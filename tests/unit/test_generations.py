"""Names beside a model that only look like those of old and rejected models."""

from pathlib import Path

from cwtool.model import generations


def test_numbers_that_python_does_not_convert_are_no_numbers(tmp_path: Path) -> None:
    model = tmp_path / "m.cw"
    for name in ("m.cw", "m.cw.1", "m.cw.²", "m.cw.rejected-2026-01-02-²"):
        (tmp_path / name).write_text(name)
    assert [path.name for path in generations.kept(model)] == ["m.cw.1"]

    def save(path: Path) -> int:
        return path.write_bytes(b"new")

    place, _ = generations.reject(model, "2026-01-02", 7, save)
    assert place.name == "m.cw.rejected-2026-01-02-2"
