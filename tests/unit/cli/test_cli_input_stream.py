"""Whether an input is complete, and what that saves: no wait for a producer's id."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from penstock.cli.input_stream import InputStream
from penstock.cli.sender import Sender


class Waits:
    """Stands in for the wait: nothing is ready after the times given; counts both outcomes."""

    def __init__(self, ready: int = 1000) -> None:
        self.left = ready
        self.given_up = 0

    def __call__(self, _descriptor: int, _timeout_s: float) -> bool:
        self.left -= 1
        if self.left < 0:
            self.given_up += 1
        return self.left >= 0


@contextmanager
def pipe(content: bytes, *, ended: bool) -> Iterator[int]:
    reader, writer = os.pipe()
    os.write(writer, content)
    if ended:
        os.close(writer)
    try:
        yield reader
    finally:
        os.close(reader)
        if not ended:
            os.close(writer)


def test_a_short_input_is_complete_without_a_wait() -> None:
    waits = Waits()
    with pipe(b"one\n", ended=True) as reader:
        stream = InputStream(reader, "stdin", ready=waits)
        assert stream.complete
        assert waits.given_up == 0
        assert list(stream.content) == [b"one\n"]


def test_an_input_that_pauses_is_a_stream() -> None:
    waits = Waits(ready=1)
    with pipe(b"one\ntwo\n", ended=False) as reader:
        stream = InputStream(reader, "stdin", ready=waits)
        assert not stream.complete
        assert waits.given_up == 1
        assert stream.content.readline() == b"one\n"
        assert stream.content.readline() == b"two\n"


def test_a_long_input_is_a_stream_and_loses_nothing(tmp_path: Any) -> None:
    content = b"".join(b"%d\n" % number for number in range(50_000))
    (tmp_path / "long").write_bytes(content)
    with InputStream.open(str(tmp_path / "long")) as stream:
        assert not stream.complete
        assert stream.content.read() == content


def test_an_input_that_cannot_be_read_is_named(tmp_path: Any) -> None:
    with pytest.raises(IsADirectoryError) as raised:
        InputStream.open(str(tmp_path))
    assert raised.value.filename == str(tmp_path)


class FakeCluster:
    timeout_s = 1.0

    def producer(self, **settings: Any) -> None:
        self.settings = settings


@pytest.mark.parametrize("stream", [True, False])
def test_only_a_stream_waits_for_a_producer_id(stream: bool) -> None:
    cluster: Any = FakeCluster()
    Sender(cluster, "t", acks="all", compression="none", stream=stream)
    assert cluster.settings["enable_idempotence"] is stream
    assert cluster.settings.get("max_in_flight") == (None if stream else 1)
