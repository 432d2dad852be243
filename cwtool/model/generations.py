"""Models of earlier days beside the present one: MODEL.1 is the last one, MODEL.2 that before."""

from __future__ import annotations

import os
from collections.abc import Callable
from filecmp import cmp
from pathlib import Path

from cwtool.errors import ModelError


def older(path: Path, k: int) -> Path:
    return path.with_name(f"{path.name}.{k}")


def keep(model: Path, most: int) -> None:
    """Give the model, which is about to be replaced, the name MODEL.1, and those before it the next
    names; those after MODEL.`most` go. The model keeps its own name as well, so that there is one
    at any time. What a run that was killed has left is put right."""
    path = Path(os.path.realpath(model))
    first = older(path, 1)
    if most == 0 or not path.exists() or (first.exists() and cmp(path, first, shallow=False)):
        return
    try:
        for k in range(most - 1, 0, -1):
            if older(path, k).exists():
                older(path, k).replace(older(path, k + 1))
        _second_name(path, first)
        k = most + 1
        while older(path, k).exists():
            older(path, k).unlink()
            k += 1
    except OSError as failure:
        raise ModelError(
            f"{model}: cannot keep the old model: {os.strerror(failure.errno or 0)}",
            "the model is untouched; `keep=0` keeps no old ones",
        ) from None


def _second_name(path: Path, name: Path) -> None:
    """The same file under one more name, or a copy where there are no links."""
    aside = name.with_name(f".{name.name}.{os.getpid()}.tmp")
    aside.unlink(missing_ok=True)
    try:
        os.link(path, aside)
    except OSError:
        from shutil import copy2

        copy2(path, aside)
    aside.replace(name)


def kept(model: Path) -> list[Path]:
    """The old models, the last one first."""
    path = Path(os.path.realpath(model))
    numbered = [p for p in _beside(path, ".") if p.suffix[1:].isdecimal() and p.stem == path.name]
    found = sorted(numbered, key=lambda p: int(p.suffix[1:]))
    return [p for p in found if not (path.exists() and cmp(path, p, shallow=False))]


def _beside(path: Path, more: str) -> list[Path]:
    """The files whose names begin with that of the model and this."""
    return [p for p in path.parent.iterdir() if p.name.startswith(path.name + more)]


def reject(model: Path, date: str, most: int, save: Callable[[Path], int]) -> tuple[Path, int]:
    """Save a new model that is not good enough as MODEL.rejected-DATE, or MODEL.rejected-DATE-2 and
    so on; the last one is also called MODEL.rejected. Of the dated ones the last `most` are kept.
    Returns the name and the size."""
    path = Path(os.path.realpath(model))
    known = map(_rejected_at, _beside(path, ".rejected-"))
    number = 1 + max((k for at, k in known if at == date), default=0)
    more = f"-{number}" if number > 1 else ""
    dated = path.with_name(f"{path.name}.rejected-{date}{more}")
    size = save(dated)
    _second_name(dated, path.with_name(f"{path.name}.rejected"))
    of_age = sorted(_beside(path, ".rejected-"), key=_rejected_at, reverse=True)
    for old in of_age[max(most, 1) :]:
        old.unlink()
    return model.with_name(dated.name), size


def _rejected_at(path: Path) -> tuple[str, int]:
    """The date in the name of a rejected model, and its number on that day."""
    at = path.name.rpartition(".rejected-")[2]
    number = at[11:]
    return at[:10], int(number) if number.isdecimal() else 1


def untouched(model: Path) -> str:
    """What has become of a model file that was not replaced, in words."""
    return f"{model} is unchanged" if model.exists() else f"{model} was not written"


def put_back(model: Path) -> None:
    """Replace the model by the last old one. The model is then called MODEL.undone."""
    path = Path(os.path.realpath(model))
    old = kept(model)
    if not old:
        raise ModelError(
            f"{model}: there is no old model to restore",
            f"old models would be called {model.name}.1, {model.name}.2 and so on; none is left",
        )
    if path.exists():
        _second_name(path, path.with_name(f"{path.name}.undone"))
    old[0].replace(path)
    for k, p in enumerate(old[1:], 1):
        p.replace(older(path, k))
