"""A few Kafka requests packed by hand, for tools that must not trust Penstock's own codec.

Only the last versions before flexible encoding are used, because they are plain to pack. Nothing
here retries: a tool that kills brokers wants to see every failure.
"""

from __future__ import annotations

import itertools
import socket
import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

import crc32c

PRODUCE: Final = (0, 7)
FETCH: Final = (1, 11)
METADATA: Final = (3, 1)
API_VERSIONS: Final = (18, 0)

_CLIENT_ID = b"tool"


class Produced(NamedTuple):
    error: int
    base_offset: int


def encode_string(value: str) -> bytes:
    raw = value.encode()
    return struct.pack(">h", len(raw)) + raw


def encode_varint(value: int) -> bytes:
    """Zigzag varint, as inside records."""
    rest = (value << 1) ^ (value >> 63)
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def encode_record(delta: int, key: bytes | None, value: bytes) -> bytes:
    packed_key = encode_varint(-1) if key is None else encode_varint(len(key)) + key
    body = b"".join(
        (b"\0", b"\0", encode_varint(delta), packed_key, encode_varint(len(value)), value, b"\0")
    )
    return encode_varint(len(body)) + body


def encode_batch(values: Sequence[bytes], timestamp_ms: int, key: bytes | None = None) -> bytes:
    """A version 2 batch without compression and without a producer id."""
    records = b"".join(encode_record(delta, key, value) for delta, value in enumerate(values))
    tail = struct.pack(
        ">hiqqqhii", 0, len(values) - 1, timestamp_ms, timestamp_ms, -1, -1, -1, len(values)
    )
    covered = tail + records
    head = struct.pack(">ibI", -1, 2, crc32c.crc32c(covered))
    return struct.pack(">qi", 0, len(head) + len(covered)) + head + covered


def encode_request(api: tuple[int, int], correlation: int, body: bytes) -> bytes:
    header = struct.pack(">hhih", api[0], api[1], correlation, len(_CLIENT_ID)) + _CLIENT_ID
    return struct.pack(">i", len(header) + len(body)) + header + body


def produce_body(topic: str, partition: int, batch: bytes, timeout_ms: int = 10_000) -> bytes:
    return b"".join(
        (
            struct.pack(">hhii", -1, -1, timeout_ms, 1),
            encode_string(topic),
            struct.pack(">iii", 1, partition, len(batch)),
            batch,
        )
    )


def fetch_body(
    topics: Sequence[tuple[str, int, int]],
    *,
    max_wait_ms: int,
    session_id: int = 0,
    session_epoch: int = -1,
) -> bytes:
    """Each of `topics` is a topic, a partition and the offset to read from."""
    parts = [struct.pack(">iiii", -1, max_wait_ms, 1, 52_428_800)]
    parts.append(struct.pack(">biii", 0, session_id, session_epoch, len(topics)))
    for topic, partition, offset in topics:
        parts.append(encode_string(topic))
        parts.append(struct.pack(">iiiqqi", 1, partition, -1, offset, -1, 1_048_576))
    parts.append(struct.pack(">i", 0) + encode_string(""))
    return b"".join(parts)


def metadata_body(topic: str) -> bytes:
    return struct.pack(">i", 1) + encode_string(topic)


def decode_produced(answer: bytes) -> Produced:
    """The one partition of a Produce answer."""
    (length,) = struct.unpack_from(">h", answer, 4)
    _, _, error, offset = struct.unpack_from(">iihq", answer, 6 + length)
    return Produced(error, offset)


class Fetched(NamedTuple):
    error: int
    session_id: int


def decode_fetched(answer: bytes) -> Fetched:
    """The head of a Fetch answer."""
    return Fetched(*struct.unpack_from(">hi", answer, 4))


class Connection:
    """One blocking connection, one request at a time."""

    def __init__(self, port: int, timeout: float = 30.0) -> None:
        self._correlation = itertools.count(1)
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def call(self, api: tuple[int, int], body: bytes = b"") -> bytes:
        """The answer's body, after its correlation id."""
        self._socket.sendall(encode_request(api, next(self._correlation), body))
        (length,) = struct.unpack(">i", self._read(4))
        return self._read(length)[4:]

    def _read(self, length: int) -> bytes:
        parts = []
        while length:
            part = self._socket.recv(length)
            if not part:
                raise ConnectionResetError("the broker closed the connection")
            parts.append(part)
            length -= len(part)
        return b"".join(parts)


def answers(port: int, timeout: float = 1.0) -> bool:
    """Whether something on this port answers ApiVersions."""
    try:
        with Connection(port, timeout) as connection:
            return connection.call(API_VERSIONS)[:2] == b"\0\0"
    except OSError:
        return False
