"""A request is refused for its number of elements before they are made, wherever they are."""

from __future__ import annotations

import tracemalloc

import pytest

from penstock.model.error import ProtocolError
from penstock.protocol.api_table import APIS
from penstock.protocol.codec import decode, encode, request_decoder
from penstock.protocol.entity import Entity, Field
from penstock.protocol.frame import PiecedResponse, PiecesEncoder, encode_response
from penstock.protocol.messages.describe_groups import DescribeGroupsRequest
from penstock.protocol.messages.fetch import FetchRequest
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from penstock.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from penstock.protocol.wire import varint


def arrays_of(cls: type[Entity], version: int) -> list[Field]:
    return [
        field
        for field in cls.SCHEMA
        if field.array and field.in_version(version) and not field.tagged_in(version)
    ]


def element(field: Field, version: int) -> object:
    """As empty as it can be."""
    if not isinstance(field.type, str):
        return field.type()
    return {"string": "", "bytes": b"", "uuid": bytes(16)}.get(field.type, 0)


CASES = [
    (spec.request_class(), version, field)
    for spec in APIS
    for version in range(spec.min_version, spec.max_version + 1)
    for field in arrays_of(spec.request_class(), version)
]


@pytest.mark.parametrize(
    ("cls", "version", "field"),
    CASES,
    ids=[f"{cls.__name__}-v{version}-{field.name}" for cls, version, field in CASES],
)
def test_every_array_of_every_request_is_counted(
    cls: type[Entity], version: int, field: Field
) -> None:
    message = cls()
    setattr(message, field.name, [element(field, version)] * 21)
    try:
        data = encode(message, version)
    except ValueError:
        pytest.skip("an empty element cannot be sent in this version")
    assert request_decoder(cls, version, 21 + 100)(data, 0)[0] == decode(cls, version, data)[0]
    with pytest.raises(ProtocolError, match="more than 20 elements"):
        request_decoder(cls, version, 20)(data, 0)


def test_nested_arrays_count_together() -> None:
    topic = ListOffsetsTopic(name="t", partitions=[ListOffsetsPartition() for _ in range(9)])
    data = encode(ListOffsetsRequest(topics=[topic] * 10), 7)
    assert request_decoder(ListOffsetsRequest, 7, 100)(data, 0)
    with pytest.raises(ProtocolError, match="ListOffsetsRequest v7 has more than 99 elements"):
        request_decoder(ListOffsetsRequest, 7, 99)(data, 0)


def test_numbers_count_as_well() -> None:
    topic = OffsetFetchRequestTopics(name="t", partition_indexes=list(range(98)))
    data = encode(
        OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=[topic])]), 8
    )
    assert request_decoder(OffsetFetchRequest, 8, 100)(data, 0)
    with pytest.raises(ProtocolError, match="more than 99 elements"):
        request_decoder(OffsetFetchRequest, 8, 99)(data, 0)


@pytest.mark.parametrize("tag", [b"\x7f\x00", b"\x00\x00"], ids=["unknown", "known"])
def test_tagged_fields_count_as_well(tag: bytes) -> None:
    """Of Fetch tag 0 is known: the reader of known tags counts too."""
    data = encode(FetchRequest(), 17)
    assert data[-1] == 0
    with pytest.raises(ProtocolError, match="more than 100 elements"):
        request_decoder(FetchRequest, 17, 100)(data[:-1] + varint(101) + tag * 101, 0)
    data = encode(MetadataRequest(), 12)
    decoded, _ = request_decoder(MetadataRequest, 12, 100)(
        data[:-1] + varint(99) + b"\x7f\x00" * 99, 0
    )
    assert decoded == MetadataRequest()


def test_a_refused_request_costs_nothing() -> None:
    data = encode(DescribeGroupsRequest(groups=[""] * 200_000), 5)
    refuse = request_decoder(DescribeGroupsRequest, 5, 100_000)
    tracemalloc.start()
    try:
        with pytest.raises(ProtocolError):
            refuse(data, 0)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_an_array_is_never_longer_than_its_bytes() -> None:
    data = encode(DescribeGroupsRequest(groups=[]), 5)
    assert data[0] == 1
    with pytest.raises(ProtocolError, match="longer than its bytes"):
        decode(DescribeGroupsRequest, 5, varint(1000) + data[1:])


@pytest.mark.parametrize("version", range(14))
@pytest.mark.parametrize("sizes", [[], [0], [3], [200, 1, 0, 7]])
def test_an_answer_in_pieces_is_the_same_answer(version: int, sizes: list[int]) -> None:
    spec = next(spec for spec in APIS if spec.name == "Metadata")
    whole = MetadataResponse(
        brokers=[MetadataResponseBroker(node_id=1, host="h", port=9)], controller_id=1
    )
    pieces = PiecedResponse(PiecesEncoder(spec, version, "topics"), 77)
    for number, size in enumerate(sizes):
        some = [MetadataResponseTopic(name=f"{number}-{n}") for n in range(size)]
        pieces.add(some)
        whole.topics += some
    got = b"".join(pieces.finish(whole))  # type: ignore[arg-type]
    assert got == b"".join(encode_response(77, 3, version, whole))  # type: ignore[arg-type]
