"""ShareAcknowledge: what became of records that a member had (KIP-932)."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.current_leader import tell_leaders
from penstock.handlers.share.acknowledge import RENEWED_FROM, Acknowledging, AckResult
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
from penstock.protocol.messages.share_acknowledge import (
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)


def handle(broker: Broker, request: ShareAcknowledgeRequest, call: Call) -> Answer:
    if not broker.image.features.get(SHARE_VERSION):
        return ShareAcknowledgeResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    try:
        member_id = check_member_id(request.member_id)
        if request.share_session_epoch == OPENING_EPOCH:
            raise ApiError(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
        session = broker.share.partitions.sessions.find(
            check_group_id(request.group_id), member_id, request.share_session_epoch
        )
    except ApiError as error:
        return ShareAcknowledgeResponse(error_code=error.code, error_message=error.message)
    return _answer(broker, request, call, session)


async def _answer(
    broker: Broker, request: ShareAcknowledgeRequest, call: Call, session: ShareSession
) -> ShareAcknowledgeResponse:
    shares, settings = broker.share.partitions, settings_of(broker, session.group_id)
    is_renewal = call.version >= RENEWED_FROM and request.is_renew_ack
    access = access_of_client(broker, call.client)
    acks = Acknowledging(shares, session.member_id, may_read(broker, access))
    acks.begin(session.group_id, request.topics, may_renew=is_renewal)
    if request.share_session_epoch == CLOSING_EPOCH:
        shares.end_session(session)
    results = await acks.results()
    response = ShareAcknowledgeResponse(acquisition_lock_timeout_ms=settings.lock_duration_ms)
    _fill(broker, call, response, results)
    return response


def _fill(
    broker: Broker,
    call: Call,
    response: ShareAcknowledgeResponse,
    results: Mapping[Place, AckResult],
) -> None:
    topics: dict[bytes, ShareAcknowledgeTopicResponse] = {}
    told: list[tuple[str, bytes, int, PartitionData]] = []
    for (topic_id, index), result in results.items():
        data = PartitionData(
            partition_index=index, error_code=result.error, error_message=result.message
        )
        if topic_id not in topics:
            topics[topic_id] = ShareAcknowledgeTopicResponse(topic_id=topic_id)
        topics[topic_id].partitions.append(data)
        told.append(("", topic_id, index, data))
    response.responses = list(topics.values())
    response.node_endpoints = [
        NodeEndpoint(node_id=one.broker_id, host=one.host, port=one.port, rack=one.rack)
        for one in tell_leaders(broker, call.client.listener, told, LeaderIdAndEpoch)
    ]
