"""Whatever a broken or hostile client sends, only its own connection suffers."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from struct import pack, unpack
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.protocol.frame import API_BY_KEY, encode_request
from penstock.protocol.messages.api_versions import ApiVersionsRequest
from penstock.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from penstock.records.builder import build_batch
from penstock.records.record import Record

TOPIC = "calm"
FUZZ = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def produce_frame(value: bytes = b"calm") -> bytes:
    batch = build_batch([Record(0, 1_700_000_000_000, None, value, [])])
    data = PartitionProduceData(index=0, records=batch)
    request = ProduceRequest(
        acks=1, timeout_ms=1000, topic_data=[TopicProduceData(name=TOPIC, partition_data=[data])]
    )
    return encode_request(1, 9, request, "calm")


def fetch_frame() -> bytes:
    part = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    request = FetchRequest(
        max_wait_ms=5, min_bytes=1, topics=[FetchTopic(topic=TOPIC, partitions=[part])]
    )
    return encode_request(2, 12, request, "calm")


def metadata_frame() -> bytes:
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=TOPIC)], allow_auto_topic_creation=False
    )
    return encode_request(3, 9, request, "calm")


VALID = (
    produce_frame(),
    fetch_frame(),
    metadata_frame(),
    encode_request(4, 3, ApiVersionsRequest(client_software_name="x"), "c"),
)


@contextmanager
def connected(address: str) -> Iterator[socket.socket]:
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=5) as sock:
        yield sock


def exchange(sock: socket.socket, frame: bytes) -> bytes:
    sock.sendall(frame)
    head = sock.recv(4, socket.MSG_WAITALL)
    assert len(head) == 4, "the node hung up on a well-behaved client"
    return sock.recv(unpack(">i", head)[0], socket.MSG_WAITALL)


def attack(address: str, data: bytes) -> None:
    with connected(address) as sock:
        sock.settimeout(0.02)
        try:
            sock.sendall(data)
            sock.recv(65536)
        except OSError:
            pass


@pytest.fixture
def calm(penstock: Any) -> Iterator[socket.socket]:
    penstock.create_topic(TOPIC)
    with connected(penstock.bootstrap_servers) as sock:
        yield sock
        for frame in VALID[:3]:
            assert exchange(sock, frame)


def check_calm(sock: socket.socket) -> None:
    assert exchange(sock, VALID[2])[:4] == pack(">i", 3)


@FUZZ
@given(st.binary(max_size=200))
def test_random_bytes(penstock: Any, calm: socket.socket, data: bytes) -> None:
    attack(penstock.bootstrap_servers, data)
    check_calm(calm)


@FUZZ
@given(st.sampled_from(sorted(API_BY_KEY)), st.integers(-1, 20), st.binary(max_size=120))
def test_random_bodies_of_known_apis(
    penstock: Any, calm: socket.socket, key: int, version: int, body: bytes
) -> None:
    frame = pack(">hhih", key, version, 9, 1) + b"c" + body
    attack(penstock.bootstrap_servers, pack(">i", len(frame)) + frame)
    check_calm(calm)


@FUZZ
@given(st.sampled_from(VALID), st.integers(0, 2**32))
def test_mutated_frames(penstock: Any, calm: socket.socket, frame: bytes, seed: int) -> None:
    chance = random.Random(seed)
    mutated = bytearray(frame)
    for _ in range(chance.randint(1, 6)):
        mutated[chance.randrange(len(mutated))] = chance.randrange(256)
    attack(penstock.bootstrap_servers, bytes(mutated))
    check_calm(calm)


@FUZZ
@given(st.sampled_from(VALID), st.data())
def test_truncated_frames(
    penstock: Any, calm: socket.socket, frame: bytes, data: st.DataObject
) -> None:
    attack(penstock.bootstrap_servers, frame[: data.draw(st.integers(0, len(frame) - 1))])
    check_calm(calm)


def test_a_frame_over_the_limit_is_refused_with_one_log_line(penstock: Any) -> None:
    with connected(penstock.bootstrap_servers) as sock:
        sock.sendall(pack(">i", 2**31 - 1) + b"x")
        assert sock.recv(1) == b""
    lines = [line for line in penstock.log.splitlines() if "socket.request.max.bytes" in line]
    assert len(lines) == 1


def test_what_was_stored_meanwhile_is_served_undamaged(penstock: Any) -> None:
    penstock.create_topic(TOPIC)
    frame = produce_frame(b"damaged").replace(b"damaged", b"daMaged")
    with connected(penstock.bootstrap_servers) as sock:
        exchange(sock, frame)
        exchange(sock, produce_frame(b"whole"))
    assert [record.value for record in penstock.read(TOPIC)] == [b"whole"]
