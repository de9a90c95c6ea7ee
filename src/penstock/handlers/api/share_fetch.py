"""ShareFetch: acknowledgements of what a member had, and more records for it (KIP-932)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.current_leader import tell_leaders
from penstock.handlers.share.acknowledge import RENEWED_FROM, Acknowledging, AckResult
from penstock.handlers.share.fetch import ShareFetch
from penstock.handlers.share.partitions import SharePartitions
from penstock.handlers.share.reader import access_of_client, may_read
from penstock.handlers.share.session import (
    CLOSING_EPOCH,
    OPENING_EPOCH,
    Place,
    ShareSession,
    check_group_id,
    check_member_id,
)
from penstock.handlers.share.setting import settings_of
from penstock.model.error import ApiError, ErrorCode
from penstock.model.feature import SHARE_VERSION
from penstock.protocol.messages.share_fetch import (
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ShareFetchableTopicResponse,
    ShareFetchRequest,
    ShareFetchResponse,
)


def handle(broker: Broker, request: ShareFetchRequest, call: Call) -> Answer:
    if not broker.image.features.get(SHARE_VERSION):
        return ShareFetchResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    try:
        _check(request, call.version)
        session = _session(broker.share.partitions, request, call)
    except ApiError as error:
        return ShareFetchResponse(error_code=error.code, error_message=error.message)
    return _answer(broker, request, call, session)


def _check(request: ShareFetchRequest, version: int) -> None:
    check_member_id(request.member_id)
    check_group_id(request.group_id)
    has_acks = any(one.acknowledgement_batches for t in request.topics for one in t.partitions)
    if request.share_session_epoch == OPENING_EPOCH and has_acks:
        raise ApiError(
            ErrorCode.INVALID_REQUEST, "Nothing can be acknowledged as a session is opened."
        )
    if version >= RENEWED_FROM and request.is_renew_ack:
        sizes = (request.max_bytes, request.min_bytes, request.max_records, request.max_wait_ms)
        if any(sizes):
            raise ApiError(
                ErrorCode.INVALID_REQUEST, "A request that renews locks fetches no records."
            )


def _session(shares: SharePartitions, request: ShareFetchRequest, call: Call) -> ShareSession:
    group_id, member_id = check_group_id(request.group_id), check_member_id(request.member_id)
    if request.share_session_epoch == OPENING_EPOCH:
        before = shares.sessions.get(group_id, member_id)
        if before is not None:
            shares.end_session(before)
        session = shares.sessions.open(group_id, member_id, call.client)
    else:
        session = shares.sessions.find(group_id, member_id, request.share_session_epoch)
    if request.share_session_epoch != CLOSING_EPOCH:
        session.update(request)
    return session


async def _answer(
    broker: Broker, request: ShareFetchRequest, call: Call, session: ShareSession
) -> ShareFetchResponse:
    shares, settings = broker.share.partitions, settings_of(broker, session.group_id)
    access = access_of_client(broker, call.client)
    is_renewal = call.version >= RENEWED_FROM and request.is_renew_ack
    acks = Acknowledging(shares, session.member_id, may_read(broker, access))
    acks.begin(session.group_id, request.topics, may_renew=is_renewal)
    fetch = ShareFetch(broker, shares, session, request, settings, access)
    if request.share_session_epoch == CLOSING_EPOCH:
        shares.end_session(session)
        results = await acks.results()
    elif is_renewal or not session.places:
        results = await acks.results()
    else:
        results, _ = await asyncio.gather(acks.results(), fetch.run())
    broker.metrics.bytes_out += fetch.size_bytes
    outcomes = fetch.outcomes
    _add_acknowledged(outcomes, results)
    if request.share_session_epoch == OPENING_EPOCH:
        for place in session.places:
            outcomes.setdefault(place, PartitionData(partition_index=place[1], records=b""))
    response = ShareFetchResponse(
        acquisition_lock_timeout_ms=settings.lock_duration_ms, responses=_by_topic(outcomes)
    )
    if broker.throttle.is_on:
        wait_ms = broker.throttle.charge_share_fetch(call.client, fetch.size_bytes)
        response.throttle_time_ms = wait_ms
    _tell_leaders(broker, call, response, outcomes)
    return response


def _add_acknowledged(
    outcomes: dict[Place, PartitionData], results: Mapping[Place, AckResult]
) -> None:
    for place, result in results.items():
        data = outcomes.get(place)
        if data is None:
            data = outcomes[place] = PartitionData(partition_index=place[1], records=b"")
        data.acknowledge_error_code = result.error
        data.acknowledge_error_message = result.message


def _tell_leaders(
    broker: Broker,
    call: Call,
    response: ShareFetchResponse,
    outcomes: Mapping[Place, PartitionData],
) -> None:
    refused = [
        ("", topic_id, index, data)
        for (topic_id, index), data in outcomes.items()
        if data.error_code
    ]
    if refused:
        response.node_endpoints = [
            NodeEndpoint(node_id=one.broker_id, host=one.host, port=one.port, rack=one.rack)
            for one in tell_leaders(broker, call.client.listener, refused, LeaderIdAndEpoch)
        ]


def _by_topic(outcomes: Mapping[Place, PartitionData]) -> Iterable[ShareFetchableTopicResponse]:
    topics: dict[bytes, ShareFetchableTopicResponse] = {}
    for (topic_id, _), data in outcomes.items():
        if topic_id not in topics:
            topics[topic_id] = ShareFetchableTopicResponse(topic_id=topic_id)
        topics[topic_id].partitions.append(data)
    return list(topics.values())
