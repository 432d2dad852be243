"""How much memory one thing may take."""

from __future__ import annotations

import pytest

from cwtool import memory


@pytest.fixture(autouse=True)
def one_byte_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 1)


def test_few_bytes_are_taken_without_asking_the_system() -> None:
    assert memory.allowed_for(memory.MODEST) == memory.MODEST


def test_the_system_is_asked_for_many_bytes() -> None:
    assert memory.allowed_for(memory.MODEST + 1) == 0  # nine tenths of a byte


def test_a_limit_holds_for_few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory.allowed_for(1000, limit=900) == 900
    monkeypatch.setattr(memory.BOUNDS, "limit", 800)
    assert memory.allowed_for(1000) == 800
    monkeypatch.setattr(memory.BOUNDS, "processes", 2)
    assert memory.allowed_for(1000) == 400
