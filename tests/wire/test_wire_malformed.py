"""Whatever bytes come in, decoding gives an entity or a ProtocolError, and soon."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.error import ProtocolError
from penstock.protocol.codec import decode, decoder, encode
from penstock.protocol.entity import Entity
from penstock.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from penstock.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from penstock.protocol.messages.metadata import MetadataRequest, MetadataResponse
from penstock.protocol.messages.produce import ProduceRequest
from tests.wire.test_wire_round_trip import quick
from tests.wire.wire_strategy import entities, name_of, top_level_entities


def edge_versions() -> list[tuple[type[Entity], int]]:
    """First, last and, where there is one, the last version before flexible ones."""
    found = []
    for cls in top_level_entities():
        first, last = cls.VERSIONS
        wanted = {first, last}
        if cls.FLEXIBLE is not None and first < cls.FLEXIBLE:
            wanted.add(cls.FLEXIBLE - 1)
        found += [(cls, version) for version in sorted(wanted)]
    return found


@pytest.mark.parametrize(("cls", "version"), edge_versions(), ids=name_of)
def test_mutations(cls: type[Entity], version: int) -> None:
    read = decoder(cls, version)

    def attempt(data: bytes) -> None:
        try:
            _, behind = read(data, 0)
        except ProtocolError:
            return
        assert behind <= len(data)

    @quick
    @given(entities(cls, version), st.data())
    def check(message: Entity, data: st.DataObject) -> None:
        good = encode(message, version)
        for size in range(0, len(good), 1 + len(good) // 20):
            attempt(good[:size])
        if not good:
            return
        places = st.lists(st.integers(0, len(good) - 1), min_size=1, max_size=4)
        for place in data.draw(places):
            for byte in (0x00, 0x7F, 0x80, 0xFF, good[place] ^ 1):
                attempt(good[:place] + bytes([byte]) + good[place + 1 :])
            attempt(good[:place] + b"\xff" * 8 + good[place:])

    check()


@quick
@given(st.binary(max_size=64))
def test_noise(data: bytes) -> None:
    for cls in (MetadataRequest, MetadataResponse, FetchRequest, ProduceRequest):
        for version in cls.VERSIONS:
            try:
                decode(cls, version, data)
            except ProtocolError:
                pass


@pytest.mark.parametrize(
    ("cls", "version", "data"),
    [
        (MetadataRequest, 0, "7fffffff"),
        (MetadataRequest, 0, "fffffffe"),
        (MetadataRequest, 0, "ffffffff"),
        (MetadataRequest, 0, "00000001 ffff"),
        (MetadataRequest, 0, "00000001 7fff 61"),
        (MetadataRequest, 0, "00000001 0001 ff"),
        (MetadataRequest, 9, "ffffffff0f"),
        (MetadataRequest, 9, "ffffffffffff01"),
        # A string of 32,768 bytes: one more than ever had room in an older version.
        (MetadataRequest, 9, "02 818002" + "61" * 32_768 + "00 00 00 00 00"),
        (ApiVersionsRequest, 3, "00 01 00"),
        (ApiVersionsRequest, 3, "01 01 01 00 ff"),
        (ApiVersionsResponse, 3, "0000 01 00000000 01 01 02 0000"),
        (ProduceRequest, 3, "ffff 0001 00000000 00000001 0001 61 00000001 00000000 7fffffff"),
    ],
)
def test_lengths_that_cannot_be(cls: type[Entity], version: int, data: str) -> None:
    decode_cls = decoder(cls, version)
    tracemalloc.start()
    try:
        with pytest.raises(ProtocolError):
            decode_cls(bytes.fromhex(data), 0)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_unknown_tags_are_skipped() -> None:
    plain = encode(ApiVersionsRequest(), 3)
    tagged = plain[:-1] + bytes.fromhex("02 05 02 aabb c801 00")
    assert decode(ApiVersionsRequest, 3, tagged) == (ApiVersionsRequest(), len(tagged))


def test_values_a_version_cannot_carry() -> None:
    with pytest.raises(ValueError, match="replica_state"):
        encode(FetchRequest(replica_state=ReplicaState(replica_id=3)), 14)
    with pytest.raises(ValueError, match="encoded"):
        encode(MetadataRequest(topics=None), 0)
    with pytest.raises(ValueError, match="encoded"):
        encode(FetchRequest(max_wait_ms=2**31), 4)
    with pytest.raises(ValueError, match="versions 4-18"):
        encode(FetchRequest(), 3)


def test_ignorable_values_are_left_out() -> None:
    partition = FetchPartition(current_leader_epoch=5)
    request = FetchRequest(topics=[FetchTopic(partitions=[partition])])
    decoded, _ = decode(FetchRequest, 4, encode(request, 4))
    assert decoded.topics[0].partitions[0].current_leader_epoch == -1
