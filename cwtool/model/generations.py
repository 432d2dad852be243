"""Models of earlier days beside the present one: MODEL.1 is the last one, MODEL.2 that before."""

from __future__ import annotations

import os
import shutil
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
        shutil.copy2(path, aside)
    aside.replace(name)


def kept(model: Path) -> list[Path]:
    """The old models, the last one first."""
    path = Path(os.path.realpath(model))
    names = [p for p in path.parent.glob(f"{path.name}.*") if p.suffix[1:].isdigit()]
    found = sorted(names, key=lambda p: int(p.suffix[1:]))
    return [p for p in found if not (path.exists() and cmp(path, p, shallow=False))]


def put_back(model: Path) -> None:
    """Replace the model by the last old one. The model is then called MODEL.undone."""
    path = Path(os.path.realpath(model))
    old = kept(model)
    if not old:
        raise ModelError(f"{model}: there is no old model to put back", "there is no MODEL.1")
    if path.exists():
        _second_name(path, path.with_name(f"{path.name}.undone"))
    old[0].replace(path)
    for k, p in enumerate(old[1:], 1):
        p.replace(older(path, k))
