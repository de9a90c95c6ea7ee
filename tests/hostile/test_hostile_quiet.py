"""Nothing hostile at all: what the bystander waits on an idle node, and that it would notice."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.hostile.target import Target


def test_nothing_happens(target: Target) -> None:
    with target.watched("nothing", memory_mb_max=20):
        time.sleep(1.0)


def test_a_node_that_hangs_is_noticed(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    if not target.is_penstock:
        pytest.skip("of Apache Kafka waits are only noted")
    monkeypatch.setattr("tests.hostile.target.HANGS_S", 0.8)
    monkeypatch.setattr(target, "_note", lambda row: None)
    with (
        pytest.raises(AssertionError, match="the bystander waited"),
        target.watched("a node that is stopped for a second"),
    ):
        os.kill(target.pid, signal.SIGSTOP)
        time.sleep(1.0)
        os.kill(target.pid, signal.SIGCONT)
        time.sleep(0.2)
