"""Streams groups: what a broker whose cluster has the feature off answers.

Apache Kafka with `streams.version` at 0 lists their APIs all the same, and answers each that it
does not support it. Clients and tools go by the list to tell how old a broker is.
"""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.messages.streams_group_describe import (
    DescribedGroup,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)
from penstock.protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatResponse

OFF = ErrorCode.UNSUPPORTED_VERSION


def handle(broker: Broker, request: Entity, call: Call) -> Answer:
    if isinstance(request, StreamsGroupDescribeRequest):
        groups = [DescribedGroup(group_id=one, error_code=OFF) for one in request.group_ids]
        return StreamsGroupDescribeResponse(groups=groups)
    return StreamsGroupHeartbeatResponse(error_code=OFF, status=[])
