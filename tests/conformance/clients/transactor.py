"""What every transactional producer of the suite offers, whichever client it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from penstock.model.error import ErrorCode
from tests.conformance.clients.record import BrokerError, Record

Place = tuple[str, int]
TIMEOUT_MS = 60_000


@dataclass(frozen=True)
class Transacting:
    """How a producer is to be started."""

    transactional_id: str
    timeout_ms: int = TIMEOUT_MS
    codec: str = "none"


class FencedError(BrokerError):
    """The client says that another instance, or the coordinator, took its place."""


FENCED = frozenset({ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH})


def told(code: int | None, message: str, *, fenced: bool = False) -> BrokerError:
    kind = FencedError if fenced or code in FENCED else BrokerError
    return kind(code, message)


class Transactor(Protocol):
    """Starts with its constructor: whoever has one was given a producer id and epoch."""

    def begin(self) -> None: ...

    def send(self, topic: str, records: Sequence[Record]) -> None:
        """Returns when all are acknowledged."""
        ...

    def send_offsets(self, group: str, offsets: Mapping[Place, int]) -> None: ...

    def commit(self) -> None: ...

    def abort(self) -> None: ...

    def close(self) -> None:
        """Without ending an open transaction."""
        ...
