"""Raw requests over one connection: what a client library would hide."""

from __future__ import annotations

import itertools
import select
import socket
import time
from collections.abc import Iterable
from struct import unpack
from typing import Any

from penstock.protocol.entity import Entity
from penstock.protocol.frame import decode_response, encode_request
from penstock.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from penstock.records.builder import build_batch
from penstock.records.header import iter_batches
from penstock.records.record import Record, iter_records

PRODUCE_VERSION = 12
FETCH_VERSION = 12
NOW_MS = 1_700_000_000_000


class Wire:
    """Requests may be sent ahead; answers come back in their order."""

    def __init__(self, address: str, timeout_s: float = 60.0) -> None:
        host, port = address.rsplit(":", 1)
        self.sock = socket.create_connection((host.strip("[]"), int(port)), timeout=timeout_s)
        self._numbers = itertools.count(1)
        self._asked: list[tuple[int, int, int]] = []

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()

    def send(self, request: Entity, version: int, *, answered: bool = True) -> None:
        number = next(self._numbers)
        if answered:
            self._asked.append((number, type(request).API_KEY, version))
        self.sock.sendall(encode_request(number, version, request, "wire"))

    def send_together(self, requests: Iterable[Entity], version: int) -> None:
        """In one piece, so that the node reads them at once."""
        frames = bytearray()
        for request in requests:
            number = next(self._numbers)
            self._asked.append((number, type(request).API_KEY, version))
            frames += encode_request(number, version, request, "wire")
        self.sock.sendall(frames)

    def receive(self) -> Any:
        number, key, version = self._asked.pop(0)
        correlation_id, response = decode_response(key, version, self.receive_frame())
        assert correlation_id == number, "answers are out of order"
        return response

    def receive_frame(self) -> bytes:
        return self._exactly(unpack(">i", self._exactly(4))[0])

    def call(self, request: Entity, version: int) -> Any:
        self.send(request, version)
        return self.receive()

    def call_as(self, client_id: str, request: Entity, version: int) -> Any:
        """As a client of that name."""
        number = next(self._numbers)
        self._asked.append((number, type(request).API_KEY, version))
        self.sock.sendall(encode_request(number, version, request, client_id))
        return self.receive()

    def has_answer(self, timeout_s: float) -> bool:
        """Whether something arrives within that time, an end included; it is not taken."""
        return bool(select.select([self.sock], [], [], timeout_s)[0])

    def is_closed(self) -> bool:
        """Whether the other side hangs up, within the timeout."""
        try:
            return self.sock.recv(1) == b""
        except ConnectionError:
            return True

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            more = self.sock.recv(min(size - len(data), 1 << 20))
            if not more:
                raise ConnectionError("the node hung up")
            data += more
        return bytes(data)


def records(
    values: Iterable[bytes], timestamp_ms: int = NOW_MS, key: bytes | None = None
) -> list[Record]:
    return [
        Record(number, timestamp_ms + number, key, value, []) for number, value in enumerate(values)
    ]


def batch(*values: bytes, **options: Any) -> bytearray:
    return build_batch(records(values), **options)


def recent(*contents: bytes, **options: Any) -> bytearray:
    """As of now: a batch years older than the one before would begin another segment."""
    now_ms = time.time_ns() // 1_000_000
    return build_batch(
        [Record(number, now_ms, None, each, []) for number, each in enumerate(contents)],
        **options,
    )


def produce(
    topic: str,
    data: bytes | bytearray,
    partition: int = 0,
    acks: int = -1,
    transactional_id: str | None = None,
) -> ProduceRequest:
    return ProduceRequest(
        transactional_id=transactional_id,
        acks=acks,
        timeout_ms=5000,
        topic_data=[
            TopicProduceData(
                name=topic,
                partition_data=[PartitionProduceData(index=partition, records=bytes(data))],
            )
        ],
    )


def produced(response: Any) -> Any:
    """The one partition of a Produce answer."""
    (topic,) = response.responses
    (partition,) = topic.partition_responses
    return partition


def part(partition: int = 0, offset: int = 0, max_bytes: int = 1 << 20, **more: Any) -> Any:
    return FetchPartition(
        partition=partition, fetch_offset=offset, partition_max_bytes=max_bytes, **more
    )


def fetch(topics: dict[str, list[Any]], **more: Any) -> FetchRequest:
    options: dict[str, Any] = {"max_wait_ms": 0, "min_bytes": 1, "max_bytes": 50 << 20}
    options |= {"session_epoch": -1}
    return FetchRequest(
        topics=[FetchTopic(topic=name, partitions=parts) for name, parts in topics.items()],
        **(options | more),
    )


def fetched(response: Any) -> dict[tuple[str, int], Any]:
    return {
        (topic.topic, one.partition_index): one
        for topic in response.responses
        for one in topic.partitions
    }


def values(partition: Any) -> list[bytes | None]:
    """Of every whole batch; a last one that was cut off is left out."""
    data = memoryview(partition.records or b"")
    found: list[bytes | None] = []
    for position, header in iter_batches(data, 0, len(data)):
        if position + header.size <= len(data) and not header.is_control:
            found += [one.value for one in iter_records(data[position : position + header.size])]
    return found


def topic_id(wire: Wire, topic: str) -> bytes:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
    found: bytes = wire.call(request, 12).topics[0].topic_id
    return found
