"""ProducerSnapshot. Written by tools/generate_protocol.py.

Versions 1-1.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class ProducerEntry(Entity):
    __slots__ = (
        "coordinator_epoch",
        "current_txn_first_offset",
        "epoch",
        "last_offset",
        "last_sequence",
        "offset_delta",
        "producer_id",
        "timestamp",
    )
    NAME = "ProducerEntry"
    VERSIONS = (1, 1)
    FLEXIBLE = None
    SCHEMA = (
        Field("producer_id", "int64", (1, 1)),
        Field("epoch", "int16", (1, 1)),
        Field("last_sequence", "int32", (1, 1)),
        Field("last_offset", "int64", (1, 1)),
        Field("offset_delta", "int32", (1, 1)),
        Field("timestamp", "int64", (1, 1)),
        Field("coordinator_epoch", "int32", (1, 1)),
        Field("current_txn_first_offset", "int64", (1, 1)),
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,
        epoch: int = 0,
        last_sequence: int = 0,
        last_offset: int = 0,
        offset_delta: int = 0,
        timestamp: int = 0,
        coordinator_epoch: int = 0,
        current_txn_first_offset: int = 0,
    ) -> None:
        self.producer_id: int = producer_id
        self.epoch: int = epoch
        self.last_sequence: int = last_sequence
        self.last_offset: int = last_offset
        self.offset_delta: int = offset_delta
        self.timestamp: int = timestamp
        self.coordinator_epoch: int = coordinator_epoch
        self.current_txn_first_offset: int = current_txn_first_offset


class ProducerSnapshot(Entity):
    __slots__ = (
        "crc",
        "producer_entries",
    )
    NAME = "ProducerSnapshot"
    VERSIONS = (1, 1)
    FLEXIBLE = None
    SCHEMA = (
        Field("crc", "uint32", (1, 1)),
        Field("producer_entries", ProducerEntry, (1, 1), array=True),
    )

    def __init__(
        self,
        *,
        crc: int = 0,
        producer_entries: Iterable[ProducerEntry] = (),
    ) -> None:
        self.crc: int = crc
        self.producer_entries: list[ProducerEntry] = (
            producer_entries if isinstance(producer_entries, list) else list(producer_entries)
        )
