"""What every client adapter takes and gives: records, receipts, and broker errors by their code."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Protocol

from penstock.model.error import ErrorCode

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
# Generous: the machine may be busy. Everything waited for normally takes milliseconds.
PATIENCE_SECONDS = float(os.environ.get("CONFORMANCE_PATIENCE_SECONDS", "40"))

Header = tuple[str, bytes | None]


@dataclass(frozen=True)
class Record:
    value: bytes | None
    key: bytes | None = None
    headers: tuple[Header, ...] = ()
    partition: int = 0
    timestamp: int | None = None
    offset: int | None = None
    log_append_time: bool = False

    def content(self) -> tuple[bytes | None, bytes | None, tuple[Header, ...]]:
        """What the producer wrote, without what the broker and the clock added."""
        return self.key, self.value, self.headers


@dataclass(frozen=True)
class Receipt:
    """Where an acknowledged record landed. Offset and timestamp are unknown with acks=0."""

    partition: int
    offset: int | None
    timestamp: int | None


class BrokerError(Exception):
    """A client reported this Kafka error code (or, without a code, its own kind of failure)."""

    def __init__(self, code: int | None, message: str) -> None:
        named = ErrorCode(code).name if code in set(ErrorCode) else str(code)
        super().__init__(f"{named}: {message}")
        self.code = code


class Reader(Protocol):
    def take(self, count: int, timeout: float = PATIENCE_SECONDS) -> list[Record]:
        """Up to `count` records: fewer only when the time is over."""
        ...

    def poll_once(self, most: int) -> list[Record]:
        """What one call of the client's own batch poll gives, never more than `most`."""
        ...

    def seek(self, offset: int) -> None: ...


class Client(Protocol):
    name: str
    codecs: Sequence[str]

    def produce(
        self,
        topic: str,
        records: Sequence[Record],
        *,
        codec: str = "none",
        acks: str = "all",
        idempotent: bool = False,
        largest_bytes: int = 1_000_000,
        linger_ms: int = 5,
    ) -> list[Receipt]: ...

    def open_reader(
        self,
        topic: str,
        *,
        partitions: Sequence[int] = (0,),
        start: int | str = "beginning",
        reset: str = "none",
        wait_ms: int = 500,
        fetch_bytes: int = 1_048_576,
        committed_only: bool = False,
    ) -> AbstractContextManager[Reader]: ...

    def bounds(self, topic: str, partition: int = 0) -> tuple[int, int]:
        """The first offset and the next offset to be written."""
        ...

    def offset_at(self, topic: str, timestamp: int, partition: int = 0) -> int | None:
        """The first offset at or after a time, None when there is none."""
        ...


def read(client: Client, topic: str, count: int, **options: object) -> list[Record]:
    """Open, read `count` records, close."""
    with client.open_reader(topic, **options) as reader:  # type: ignore[arg-type]
        return reader.take(count)


def numbered(count: int, **fields: object) -> list[Record]:
    """Records told apart by their number, large enough in sum that compression has work."""
    blank = Record(None)
    return [
        replace(blank, key=b"key-%d" % n, value=b"value-%d-" % n + b"ab" * 20, **fields)  # type: ignore[arg-type]
        for n in range(count)
    ]
