"""A data directory with some of everything, one damaged file, and what is served of it then."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from confluent_kafka import Producer

from penstock.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from penstock.records.builder import build_batch
from penstock.records.control import ABORT, control_kind
from penstock.records.header import iter_batches
from penstock.records.record import Record, iter_records
from tests.node.commit_kit import TOPIC, commit, commit_error, create, wait_zero
from tests.node.node_kit import running
from tests.node.wire_kit import (
    FETCH_VERSION,
    PRODUCE_VERSION,
    Wire,
    fetch,
    fetched,
    part,
    produce,
    produced,
)
from tests.patience import wait_until

SETTINGS = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "log.retention.check.interval.ms": "50",
    "log.cleaner.backoff.ms": "50",
}
READ_COMMITTED = 1
TOPICS = (("plain", 0), ("plain", 1), ("txn", 0), ("compact", 0))

Key = tuple[str, int]
Content = dict[int, tuple[int, bytes]]
"""Offset to time and value, of the records that a reader of committed ones is given."""


@dataclass(frozen=True)
class Stock:
    """A directory as it is after a stop, one as it is after a crash, and what both hold."""

    stopped: Path
    crashed: Path
    content: dict[Key, Content]
    now_ms: int


def make_stock(home: Path) -> Stock:
    now_ms = time.time_ns() // 1_000_000 - 100_000
    stopped, crashed = home / "stopped", home / "crashed"
    with running(stopped, settings=SETTINGS) as node:
        with Wire(node.address) as wire:
            _fill(wire, now_ms)
            assert wire.call(create(TOPIC), 7).topics[0].error_code == 0
            wait_zero(lambda: commit_error(wire.call(commit(3), 8)))
        _transact(node.address)
        with Wire(node.address) as wire:
            wait_until(lambda: _is_settled(wire))
            content = {key: read(wire, *key)[0] for key in TOPICS}
        shutil.copytree(stopped, crashed)
    return Stock(stopped, crashed, content, now_ms)


def _fill(wire: Wire, now_ms: int) -> None:
    for name, count, more in (
        ("plain", 2, {}),
        ("txn", 1, {}),
        ("compact", 1, {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.9"}),
    ):
        config = {"internal.segment.bytes": "3000", "index.interval.bytes": "100", **more}
        topic = CreatableTopic(
            name=name,
            num_partitions=count,
            replication_factor=1,
            configs=[CreatableTopicConfig(name=key, value=value) for key, value in config.items()],
        )
        assert wire.call(CreateTopicsRequest(topics=[topic]), 7).topics[0].error_code == 0
    chance = Random(1)
    for number in range(60):
        for name, index in TOPICS:
            if name != "txn":
                records = [
                    Record(at, now_ms + 10 * number + at, b"k%d" % at, b"%d-%d" % (number, at))
                    for at in range(chance.randint(1, 5))
                ]
                answer = wire.call(produce(name, build_batch(records), index), PRODUCE_VERSION)
                assert produced(answer).error_code == 0


def _transact(address: str) -> None:
    producers = [
        Producer({"bootstrap.servers": address, "transactional.id": f"t{number}", "linger.ms": 0})
        for number in range(2)
    ]
    for producer in producers:
        producer.init_transactions(30)
    for number in range(24):
        producer = producers[number % 2]
        producer.begin_transaction()
        for at in range(4):
            producer.produce("txn", b"%d-%d" % (number, at), b"k", 0)
            producer.flush(30)
        producer.abort_transaction(30) if number % 3 == 0 else producer.commit_transaction(30)


def _is_settled(wire: Wire) -> bool:
    """A transaction is answered before its markers are written."""
    request = fetch({"txn": [part()]}, isolation_level=READ_COMMITTED)
    one = fetched(wire.call(request, FETCH_VERSION))["txn", 0]
    settled: bool = one.high_watermark == one.last_stable_offset > 0
    return settled


# --- damage ---


def files_of(home: Path) -> list[Path]:
    found = [path for path in sorted(home.rglob("*")) if path.is_file()]
    return [path for path in found if path.name != ".lock"]


def damage(path: Path, chance: Random) -> str:
    """Does something to the file; what it was."""
    return chance.choices([kind for kind, _ in _KINDS], [weight for _, weight in _KINDS])[0](
        path, chance
    )


def _overwrite(path: Path, chance: Random) -> str:
    data = bytearray(path.read_bytes())
    if not data:
        return _append(path, chance)
    start = chance.randrange(len(data))
    length = min(chance.choice((1, 2, 8, 64, 4096)), len(data) - start)
    data[start : start + length] = chance.randbytes(length)
    path.write_bytes(data)
    return f"{length} random bytes at {start}"


def _digit(path: Path, chance: Random) -> str:
    """One byte turned into another that a text file might hold."""
    data = bytearray(path.read_bytes() or b"0")
    at = chance.randrange(len(data))
    data[at] = chance.choice(b"0123456789 \nabAZ-_:=")
    path.write_bytes(data)
    return f"{chr(data[at])!r} at {at}"


def _zero(path: Path, chance: Random) -> str:
    data = bytearray(path.read_bytes())
    start = chance.randrange(len(data) + 1)
    data[start:] = bytes(len(data) - start)
    path.write_bytes(data)
    return f"zeroes from {start}"


def _cut(path: Path, chance: Random) -> str:
    size = chance.randrange(path.stat().st_size + 1)
    os.truncate(path, size)
    return f"cut to {size}"


def _append(path: Path, chance: Random) -> str:
    with path.open("ab") as file:
        file.write(chance.randbytes(chance.choice((1, 7, 8, 12, 100))))
    return "random bytes behind the end"


def _double(path: Path, chance: Random) -> str:
    path.write_bytes(path.read_bytes() * 2)
    return "twice the same"


def _garbage(path: Path, chance: Random) -> str:
    path.write_bytes(chance.randbytes(path.stat().st_size or 30))
    return "random bytes all over"


def _exchange(path: Path, chance: Random) -> str:
    """The file of a sister, as a careless copy leaves it. Not of records: nobody could tell."""
    if path.suffix == ".log":
        return _overwrite(path, chance)
    sisters = [one for one in path.parent.parent.rglob(f"*{path.suffix}") if one.is_file()]
    other = chance.choice(sisters)
    path.write_bytes(other.read_bytes())
    return f"that of {other.parent.name}/{other.name}"


def _grow(path: Path, chance: Random) -> str:
    os.truncate(path, 1 << 40)
    return "a terabyte"


def _directory(path: Path, chance: Random) -> str:
    path.unlink()
    path.mkdir()
    (path / "x").write_text("x")
    return "a directory"


def _loop(path: Path, chance: Random) -> str:
    path.unlink()
    path.symlink_to(path.name)
    return "a link to itself"


def _pipe(path: Path, chance: Random) -> str:
    path.unlink()
    os.mkfifo(path)
    return "a pipe"


_KINDS: tuple[tuple[Callable[[Path, Random], str], int], ...] = (
    (_overwrite, 8),
    (_digit, 3),
    (_zero, 3),
    (_cut, 4),
    (_append, 2),
    (_double, 2),
    (_garbage, 3),
    (_exchange, 3),
    (_grow, 2),
    (_directory, 2),
    (_loop, 2),
    (_pipe, 1),
)


# --- reading ---


def read(wire: Wire, topic: str, index: int) -> tuple[Content, set[int]]:
    """All that a reader of committed records gets, past whatever refuses; the errors it met."""
    content: Content = {}
    errors: set[int] = set()
    bounds = list_offset(wire, topic, index, -2), list_offset(wire, topic, index, -1)
    if bounds[0][1] or bounds[1][1]:
        return content, {bounds[0][1], bounds[1][1]} - {0}
    offset, end = bounds[0][0], bounds[1][0]
    while offset < end:
        request = fetch(
            {topic: [part(index, offset, max_bytes=700)]}, isolation_level=READ_COMMITTED
        )
        one = fetched(wire.call(request, FETCH_VERSION))[topic, index]
        if one.error_code:
            errors.add(one.error_code)
            offset += 1
            continue
        seen = _committed(one, offset, content)
        assert seen > offset or offset >= one.last_stable_offset, (topic, index, offset, end, one)
        if seen <= offset:
            break
        offset = seen
    return content, errors


def _committed(one: object, start: int, content: Content) -> int:
    """As a client does it: leaves out what belongs to aborted transactions."""
    data = memoryview(one.records or b"")  # type: ignore[attr-defined]
    pending = sorted(
        ((txn.first_offset, txn.producer_id) for txn in one.aborted_transactions or ()),  # type: ignore[attr-defined]
    )
    aborted: set[int] = set()
    reached = start
    for position, header in iter_batches(data, 0, len(data)):
        while pending and pending[0][0] <= header.last_offset:
            aborted.add(pending.pop(0)[1])
        records = list(iter_records(data[position : position + header.size]))
        if header.is_control:
            if control_kind(records[0].key) == ABORT:
                aborted.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in aborted):
            for record in records:
                if record.offset >= start:
                    content[record.offset] = (record.timestamp, bytes(record.value or b""))
        reached = header.next_offset
    return reached


def list_offset(wire: Wire, topic: str, index: int, timestamp: int) -> tuple[int, int]:
    """(offset, error)."""
    request = ListOffsetsRequest(
        replica_id=-1,
        isolation_level=READ_COMMITTED,
        topics=[
            ListOffsetsTopic(
                name=topic,
                partitions=[ListOffsetsPartition(partition_index=index, timestamp=timestamp)],
            )
        ],
    )
    one = wire.call(request, 7).topics[0].partitions[0]
    return one.offset, one.error_code


def times(stock: Stock, chance: Random) -> Iterator[int]:
    for _ in range(6):
        yield stock.now_ms + chance.randrange(-10, 700)
