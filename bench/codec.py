"""Decode and encode times of the messages that matter, beside kio, in one run.

python bench/codec.py [--seconds 0.3]
"""

from __future__ import annotations

import argparse
import io
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from penstock.protocol.codec import decoder, encoder, parts_encoder
from penstock.protocol.entity import Entity
from penstock.protocol.messages import fetch, metadata, produce
from penstock.protocol.source import has_records

RECORDS = bytes(1024)
TOPIC_ID = bytes(range(16))


class Case(NamedTuple):
    label: str
    message: Entity
    version: int


def produce_request(version: int) -> Entity:
    partitions = [produce.PartitionProduceData(index=i, records=RECORDS) for i in range(3)]
    topic = produce.TopicProduceData(partition_data=partitions)
    name_topic(topic, version >= 13, "name")
    return produce.ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic])


def produce_response(version: int) -> Entity:
    partitions = [
        produce.PartitionProduceResponse(index=i, base_offset=1_000 + i, log_start_offset=0)
        for i in range(3)
    ]
    topic = produce.TopicProduceResponse(partition_responses=partitions)
    name_topic(topic, version >= 13, "name")
    return produce.ProduceResponse(responses=[topic])


def fetch_request(version: int) -> Entity:
    partitions = [
        fetch.FetchPartition(partition=i, fetch_offset=i * 1_000, partition_max_bytes=1 << 20)
        for i in range(10)
    ]
    topic = fetch.FetchTopic(partitions=partitions)
    name_topic(topic, version >= 13, "topic")
    return fetch.FetchRequest(max_wait_ms=500, min_bytes=1, topics=[topic])


def fetch_response(version: int) -> Entity:
    partitions = [
        fetch.PartitionData(
            partition_index=i, high_watermark=5_000, last_stable_offset=5_000, records=RECORDS
        )
        for i in range(10)
    ]
    topic = fetch.FetchableTopicResponse(partitions=partitions)
    name_topic(topic, version >= 13, "topic")
    return fetch.FetchResponse(responses=[topic])


def name_topic(topic: Any, by_id: bool, attribute: str) -> None:
    if by_id:
        topic.topic_id = TOPIC_ID
    else:
        setattr(topic, attribute, "a-topic-of-usual-length")


def metadata_response() -> Entity:
    partitions = [
        metadata.MetadataResponsePartition(
            partition_index=i, leader_id=1, replica_nodes=[1, 2, 3], isr_nodes=[1, 2, 3]
        )
        for i in range(10)
    ]
    topics = [
        metadata.MetadataResponseTopic(name=f"topic-{i}", topic_id=TOPIC_ID, partitions=partitions)
        for i in range(5)
    ]
    brokers = [
        metadata.MetadataResponseBroker(node_id=i, host="broker.example.org", port=9092)
        for i in range(3)
    ]
    return metadata.MetadataResponse(brokers=brokers, topics=topics, cluster_id="cluster")


def metadata_request() -> Entity:
    topics = [metadata.MetadataRequestTopic(name=f"topic-{i}") for i in range(5)]
    return metadata.MetadataRequest(topics=topics)


def cases() -> Iterator[Case]:
    for version in (9, 13):
        yield Case("Produce request, 3 partitions", produce_request(version), version)
        yield Case("Produce response, 3 partitions", produce_response(version), version)
    for version in (11, 16):
        yield Case("Fetch request, 10 partitions", fetch_request(version), version)
        yield Case("Fetch response, 10 partitions", fetch_response(version), version)
    yield Case("Metadata request, 5 topics", metadata_request(), 12)
    yield Case("Metadata response, 50 partitions", metadata_response(), 12)


def repetitions(call: Callable[[], object]) -> int:
    """How many calls take about two milliseconds: short enough to run undisturbed now and then."""
    count = 1
    while True:
        started = time.process_time()
        for _ in range(count):
            call()
        if time.process_time() - started > 0.002:
            return count
        count *= 2


def micros(calls: list[Callable[[], object]], seconds: float) -> list[float]:
    """The best round of each, taken in turns: other work on the machine only ever adds."""
    counts = [repetitions(call) for call in calls]
    best = [float("inf")] * len(calls)
    until = time.monotonic() + seconds * len(calls)
    while time.monotonic() < until:
        for index, (call, count) in enumerate(zip(calls, counts, strict=True)):
            started = time.process_time()
            for _ in range(count):
                call()
            best[index] = min(best[index], (time.process_time() - started) / count)
    return [figure * 1e6 for figure in best]


def kio_calls(case: Case, data: bytes) -> tuple[Callable[[], object], Callable[[], object]]:
    """kio reads in native code and writes in Python."""
    from kio.serial import entity_reader, entity_writer

    from tests.wire.kio_oracle import kio_class

    cls = kio_class(type(case.message), case.version)
    assert cls is not None
    read, write = entity_reader(cls), entity_writer(cls)
    entity, _ = read(data, 0)

    def encode() -> bytes:
        buffer = io.BytesIO()
        write(buffer, entity)
        return buffer.getvalue()

    assert encode() == data
    return lambda: read(data, 0), encode


def row(case: Case, seconds: float) -> str:
    cls, version = type(case.message), case.version
    data = encoder(cls, version)(case.message)
    decode = decoder(cls, version)
    encode: Callable[[Any], object] = encoder(cls, version)
    if has_records(cls):
        encode = parts_encoder(cls, version)
    kio_decode, kio_encode = kio_calls(case, data)
    calls = [lambda: decode(data, 0), kio_decode, lambda: encode(case.message), kio_encode]
    cells = " | ".join(f"{figure:9.1f}" for figure in micros(calls, seconds))
    return f"| {case.label + ' v' + str(version):<37} | {cells} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.3, help="per figure")
    seconds = parser.parse_args().seconds
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores; microseconds each\n")
    print(f"| {'message':<37} | decode    | kio       | encode    | kio       |")
    print(f"| {'-' * 37} | --------- | --------- | --------- | --------- |")
    for case in cases():
        print(row(case, seconds))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
