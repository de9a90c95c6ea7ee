"""What brokers ask a share coordinator: Initialize-, Read-, Write- and DeleteShareGroupState, and
ReadShareGroupStateSummary. Each partition of a request is answered for itself."""

from __future__ import annotations

from typing import Any

from penstock.coordinator.share_form import FORMS, asked_calls
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ErrorCode
from penstock.model.feature import SHARE_VERSION
from penstock.protocol.entity import Entity
from penstock.share import ShareKey
from penstock.share.shard import Result

_NOBODYS = Result(ErrorCode.NOT_COORDINATOR, "This is not the correct coordinator.")


def handle(broker: Broker, request: Entity, call: Call) -> Answer:
    return _answer(broker, request)


async def _answer(broker: Broker, request: Any) -> Entity:
    response, topic, _ = FORMS[request.API_KEY]
    is_on = broker.image.features.get(SHARE_VERSION)
    results = []
    for asked in request.topics:
        partitions = []
        for index, call in asked_calls(asked.partitions, request):
            key = ShareKey(request.group_id, asked.topic_id, index)
            result = await broker.share.states.ask_here(key, call) if is_on else _NOBODYS
            partitions.append(call.answer(index, result))
        results.append(topic(topic_id=asked.topic_id, partitions=partitions))
    found: Entity = response(results=results)
    return found
