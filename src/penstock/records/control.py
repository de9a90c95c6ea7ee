"""Control records: what brokers write into logs for themselves, above all transaction markers."""

from __future__ import annotations

from struct import Struct
from typing import Final, NamedTuple

from penstock.records.builder import build_batch
from penstock.records.header import InvalidRecord
from penstock.records.record import Record

ABORT: Final = 0
COMMIT: Final = 1
LEADER_CHANGE: Final = 2
SNAPSHOT_HEADER: Final = 3
SNAPSHOT_FOOTER: Final = 4
KRAFT_VERSION: Final = 5
KRAFT_VOTERS: Final = 6

_KEY: Final = Struct(">hh")
_END_MARKER: Final = Struct(">hi")


class EndMarker(NamedTuple):
    commit: bool
    coordinator_epoch: int


def control_key(kind: int, version: int = 0) -> bytes:
    return _KEY.pack(version, kind)


def control_kind(key: bytes | None) -> int:
    if key is None or len(key) < _KEY.size:
        raise InvalidRecord("control record without a whole key")
    kind: int = _KEY.unpack_from(key)[1]
    return kind


def build_end_marker(
    *,
    producer_id: int,
    producer_epoch: int,
    commit: bool,
    coordinator_epoch: int,
    timestamp: int,
    base_offset: int = 0,
    leader_epoch: int = -1,
) -> bytearray:
    key = control_key(COMMIT if commit else ABORT)
    record = Record(base_offset, timestamp, key, _END_MARKER.pack(0, coordinator_epoch))
    return build_batch(
        [record],
        base_offset=base_offset,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        is_transactional=True,
        is_control=True,
        leader_epoch=leader_epoch,
    )


def parse_end_marker(record: Record) -> EndMarker | None:
    """None for a control record of another kind."""
    kind = control_kind(record.key)
    if kind not in (ABORT, COMMIT):
        return None
    if record.value is None or len(record.value) < _END_MARKER.size:
        raise InvalidRecord("transaction marker without a whole value")
    return EndMarker(kind == COMMIT, _END_MARKER.unpack_from(record.value)[1])
