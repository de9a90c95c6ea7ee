"""Garbage collection in a worker: what was loaded is left out, what tasks make is not."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from penstock.pipelines import worker_memory


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(worker_memory, "_settled", False)
    threshold = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*threshold)


class Ring:
    def __init__(self) -> None:
        self.own = self


def test_a_look_for_garbage_leaves_out_what_was_there_before() -> None:
    worker_memory.settle()
    assert gc.get_freeze_count() > 1_000
    assert len(gc.get_objects()) < gc.get_freeze_count() / 10


def test_what_a_task_leaves_is_still_found() -> None:
    worker_memory.settle()
    left = weakref.ref(Ring())
    assert left() is not None
    gc.collect()
    assert left() is None


def test_garbage_of_a_later_task_is_not_kept_for_good() -> None:
    worker_memory.settle()
    frozen = gc.get_freeze_count()
    left = weakref.ref(Ring())
    worker_memory.settle()
    # Some of what is kept may have been let go by others.
    assert gc.get_freeze_count() <= frozen
    gc.collect()
    assert left() is None
