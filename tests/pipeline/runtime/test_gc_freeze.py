"""What workers imported is not gone through by the collector; what came afterwards is."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from millstream.pipeline.runtime import gc_freeze


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(gc_freeze, "_seen", 0)
    yield
    gc.unfreeze()


def test_what_was_imported_rests() -> None:
    gc_freeze.freeze_imports()
    assert gc.get_freeze_count() > 0
    assert not any(known is sys.modules for known in gc.get_objects())


def test_what_comes_afterwards_is_still_collected() -> None:
    gc_freeze.freeze_imports()
    cycle: list[object] = []
    cycle.append(cycle)
    # A task of the same modules sets nothing more aside.
    gc_freeze.freeze_imports()
    assert any(known is cycle for known in gc.get_objects())


def test_modules_of_a_later_task_rest_too(monkeypatch: pytest.MonkeyPatch) -> None:
    gc_freeze.freeze_imports()
    later = ModuleType("imported_later")
    monkeypatch.setitem(sys.modules, "imported_later", later)
    gc_freeze.freeze_imports()
    assert not any(known is later for known in gc.get_objects())
