"""Calls on one connection: versions, order, several at once, records where they arrived."""

from __future__ import annotations

import asyncio
from struct import pack

import pytest

from penstock.peer.error import PeerGone, PeerUnsupported
from penstock.peer.peer import IN_FLIGHT_MAX
from penstock.protocol.entity import Entity
from penstock.protocol.frame import encode_request, encode_request_parts
from penstock.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from penstock.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from penstock.protocol.messages.header import RequestHeader
from penstock.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.node.wire_kit import produce
from tests.request_kit import decode_request
from tests.unit.peer.peer_kit import (
    answer,
    api_versions,
    ask,
    cluster_of,
    failure_of,
    peer_of,
    run,
    standing,
)


def by_number(header: RequestHeader, _: Entity) -> bytes:
    return answer(header, cluster_of(str(header.correlation_id)))


def test_it_connects_when_first_asked_and_keeps_the_connection() -> None:
    async def test() -> None:
        async with standing(by_number) as stand:
            peer = peer_of(stand.port)
            assert not peer.is_connected and stand.connected == 0
            for _ in range(3):
                assert isinstance(await peer.call(ask(), timeout_s=5), MetadataResponse)
            assert peer.is_connected and stand.connected == 1
            first, second = stand.asked[0][0], stand.asked[1][0]
            assert (first.request_api_key, first.request_api_version) == (18, 4)
            assert (second.request_api_version, second.client_id) == (13, "test")
            peer.close()

    run(test())


def test_many_in_flight_are_answered_each_with_its_own() -> None:
    async def test() -> None:
        async with standing(by_number) as stand:
            peer = peer_of(stand.port)
            await peer.connect(5)
            found = await asyncio.gather(
                *(peer.call(ask(), timeout_s=5) for _ in range(3 * IN_FLIGHT_MAX))
            )
            names = [one.cluster_id for one in found]  # type: ignore[attr-defined]
            assert names == [str(number) for number in range(2, 3 * IN_FLIGHT_MAX + 2)]
            peer.close()

    run(test())


def test_those_who_wait_for_the_connection_share_one() -> None:
    async def test() -> None:
        async with standing(by_number) as stand:
            peer = peer_of(stand.port)
            await asyncio.gather(*(peer.call(ask(), timeout_s=5) for _ in range(20)))
            assert stand.connected == 1
            peer.close()

    run(test())


@pytest.mark.parametrize(
    ("theirs", "chosen"), [((0, 9), 9), ((3, 40), 13), ((12, 12), 12), ((0, 0), 0)]
)
def test_the_highest_version_of_both_is_spoken(theirs: tuple[int, int], chosen: int) -> None:
    async def test() -> None:
        versions = api_versions(Metadata=theirs)
        async with standing(by_number, lambda header, _: answer(header, versions)) as stand:
            peer = peer_of(stand.port)
            assert await peer.version(MetadataRequest, 5) == chosen
            await peer.call(ask(), timeout_s=5)
            assert stand.asked[-1][0].request_api_version == chosen
            peer.close()

    run(test())


def test_what_they_do_not_speak_is_not_sent() -> None:
    async def test() -> None:
        versions = api_versions(Metadata=(14, 20))
        versions.api_keys = [one for one in versions.api_keys if one.api_key != 1]
        async with standing(by_number, lambda header, _: answer(header, versions)) as stand:
            peer = peer_of(stand.port)
            for call in (
                peer.call(ask(), timeout_s=5),
                peer.call(ask(), version=13, timeout_s=5),
                peer.call(FetchRequest(), timeout_s=5),
            ):
                assert isinstance(await failure_of(call), PeerUnsupported)
            assert len(stand.asked) == 1
            assert peer.is_connected
            peer.close()

    run(test())


@pytest.mark.parametrize("named", [None, 0, 2, 3])
def test_a_broker_that_does_not_know_our_api_versions(named: int | None) -> None:
    """It answers in version 0; one of before KIP-511 does not say what it knows."""

    def versions(header: RequestHeader, _: Entity) -> bytes:
        if header.request_api_version <= (named or 0):
            return answer(header, api_versions(Metadata=(0, 5)))
        keys = [ApiVersion(api_key=18, min_version=0, max_version=named)] if named else []
        return answer(header, ApiVersionsResponse(error_code=35, api_keys=keys), 0)

    async def test() -> None:
        async with standing(by_number, versions) as stand:
            peer = peer_of(stand.port)
            await peer.call(ask(), timeout_s=5)
            assert [header.request_api_version for header, _ in stand.asked] == [4, named or 0, 5]
            peer.close()

    run(test())


def test_an_error_for_an_answer_to_api_versions() -> None:
    def versions(header: RequestHeader, _: Entity) -> bytes:
        return answer(header, ApiVersionsResponse(error_code=35, api_keys=[]), 0)

    async def test() -> None:
        async with standing(by_number, versions) as stand:
            peer = peer_of(stand.port)
            assert isinstance(await failure_of(peer.call(ask(), timeout_s=0.5)), PeerGone)
            peer.close()

    run(test())


def test_records_are_views_of_what_was_received() -> None:
    records = bytes(range(256)) * 1000

    def fetched(header: RequestHeader, _: Entity) -> bytes:
        part = PartitionData(partition_index=0, high_watermark=9, records=records)
        response = FetchResponse(responses=[FetchableTopicResponse(partitions=[part])])
        return answer(header, response)

    async def test() -> None:
        async with standing(fetched) as stand:
            peer = peer_of(stand.port)
            first = await peer.call(FetchRequest(), timeout_s=5)
            second = await peer.call(FetchRequest(), timeout_s=5)
            views = [one.responses[0].partitions[0].records for one in (first, second)]  # type: ignore[attr-defined]
            for view in views:
                assert isinstance(view, memoryview)
                assert view == records
                # No more memory is behind it than its own answer takes.
                assert len(view.obj) < len(records) + 200  # type: ignore[arg-type]
            assert views[0].obj is not views[1].obj
            peer.close()

    run(test())


def test_records_of_a_request_are_not_copied() -> None:
    data = bytearray(b"r" * 1000)
    request = produce("t", b"")
    request.topic_data[0].partition_data[0].records = data
    parts = encode_request_parts(7, 12, request, "c")
    assert any(part is data for part in parts)
    whole = b"".join(bytes(part) for part in parts)
    assert whole == encode_request(7, 12, request, "c")
    assert whole[:4] == pack(">i", len(whole) - 4)
    assert decode_request(whole[4:])[0].correlation_id == 7


def test_a_request_larger_than_the_socket_takes_at_once() -> None:
    def produced(header: RequestHeader, request: Entity) -> bytes:
        got = bytes(request.topic_data[0].partition_data[0].records)  # type: ignore[attr-defined]
        return answer(header, cluster_of("")) if got != data else taken(header)

    def taken(header: RequestHeader) -> bytes:
        from penstock.protocol.messages.produce import ProduceResponse

        return answer(header, ProduceResponse(responses=[]))

    data = bytes(range(256)) * 80_000

    async def test() -> None:
        async with standing(produced) as stand:
            peer = peer_of(stand.port)
            request = produce("t", data)
            await asyncio.gather(*(peer.call(request, version=12, timeout_s=15) for _ in range(2)))
            peer.close()

    run(test())
