"""The records of one partition between two offsets, over our own connection to its leader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast

from penstock.cli.leader_call import Place, fetch
from penstock.cli.operator.link import check
from penstock.cli.wire_call import BrokerConnection
from penstock.records.header import Buffer, iter_batches
from penstock.records.record import Record, iter_records

_BYTES: Final = 4 << 20


def iter_partition(
    connection: BrokerConnection, place: Place, offset: int, end: int
) -> Iterator[Record]:
    """Committed ones; what transactions and compaction leave between them is passed over."""
    while offset < end:
        answers = fetch(connection, {place: offset}, bytes_max=_BYTES, partition_bytes_max=_BYTES)
        data = answers[place]
        check(data.error_code, what=place[0])
        if not data.records:
            return
        with memoryview(cast("Buffer", data.records)) as view:
            for position, header in iter_batches(view, 0, len(view)):
                first, offset = offset, header.next_offset
                if header.is_control:
                    continue
                for record in iter_records(bytes(view[position : position + header.size])):
                    if first <= record.offset < end:
                        yield record
