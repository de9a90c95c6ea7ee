"""Log lines of librdkafka that repeat themselves."""

from __future__ import annotations

import logging

from penstock.client.repetition import Repetition


def line(client: int, waited_ms: int) -> logging.LogRecord:
    text = f"FAIL [app#consumer-{client}]: refused (after {waited_ms}ms in state CONNECT)"
    return logging.LogRecord("penstock.client", logging.ERROR, "", 0, text, (), None)


def test_the_same_is_said_once_in_a_while() -> None:
    now = 0.0
    repetition = Repetition(lambda: now)
    assert repetition.filter(line(1, 0))
    assert not repetition.filter(line(1, 3))
    assert not repetition.filter(line(2, 0))
    other = logging.LogRecord("penstock.client", logging.ERROR, "", 0, "another", (), None)
    assert repetition.filter(other)
    now = 31.0
    assert repetition.filter(line(1, 0))
    assert not repetition.filter(line(1, 0))
