"""Topics of streams applications, as far as a broker is concerned: which names a topology may have,
and making the internal topics that a group misses.

Owns what is being made and what could not be. Nobody waits for it: members are told what is
missing with every heartbeat, and why it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from penstock.group.streams.configure import InternalTopic
from penstock.group.streams.status import StatusCode, status
from penstock.group.streams.topology import told_topics
from penstock.handlers.call import Call
from penstock.handlers.controller_link import ControllerLink
from penstock.handlers.topology import INTERNAL_TOPICS
from penstock.model.acl import CLUSTER_NAME, Operation, ResourceType
from penstock.model.clock import Clock
from penstock.model.error import ErrorCode, PenstockError
from penstock.model.internal_topic import AUDIT_TOPIC
from penstock.protocol.frame import API_BY_KEY
from penstock.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from penstock.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)
from penstock.telemetry.log import get_logger

if TYPE_CHECKING:
    from penstock.security.access import Access

FAILURE_KEPT_S = 10.0
"""Longer than the time between two heartbeats: each member hears of a failure."""

log = get_logger("streams")


def topology_refused(
    controller: ControllerLink, request: StreamsGroupHeartbeatRequest
) -> StreamsGroupHeartbeatResponse | None:
    """None if the topology has only names that topics of an application can have."""
    names = [] if request.topology is None else told_topics(request.topology)
    internal = [name for name in names if name in INTERNAL_TOPICS and name != AUDIT_TOPIC]
    if internal:
        return _invalid(
            f"Use of Kafka internal topics {','.join(internal)} in a Kafka Streams topology is "
            "prohibited."
        )
    wrong = [name for name in names if controller.name_error(name) is not None]
    if wrong:
        return _invalid(f"Topic names {','.join(wrong)} are not valid topic names.")
    return None


def _invalid(message: str) -> StreamsGroupHeartbeatResponse:
    return StreamsGroupHeartbeatResponse(
        error_code=ErrorCode.STREAMS_INVALID_TOPOLOGY, error_message=message, status=[]
    )


class StreamsTopics:
    def __init__(self, controller: ControllerLink, clock: Clock) -> None:
        self._controller = controller
        self._clock = clock
        self._making: dict[str, asyncio.Task[None]] = {}
        self._failures: dict[str, tuple[str, float]] = {}

    def see_to(
        self,
        missing: Sequence[InternalTopic],
        response: StreamsGroupHeartbeatResponse,
        call: Call,
    ) -> StreamsGroupHeartbeatResponse:
        """Begins to make what is missing and may be made; tells in the response what may not be,
        and what was tried before and failed."""
        names = [one.name for one in missing]
        refused = _may_not_create(names, call.client.access)
        if refused:
            _add_detail(response, f"Unauthorized to CREATE on topics {', '.join(refused)}.")
            return response
        failures = self._recent(names)
        if failures:
            shown = ", ".join(f"{name} ({reason})" for name, reason in failures.items())
            _add_detail(response, f"Creation failed: {shown}.")
        new = [one for one in missing if one.name not in self._making]
        if new:
            self._begin(new, call)
        return response

    def _begin(self, topics: Sequence[InternalTopic], call: Call) -> None:
        task = asyncio.create_task(self._make(topics, call))
        self._making.update(dict.fromkeys((one.name for one in topics), task))
        task.add_done_callback(lambda _: self._forget(topics))

    def _forget(self, topics: Sequence[InternalTopic]) -> None:
        for one in topics:
            self._making.pop(one.name, None)

    async def _make(self, topics: Sequence[InternalTopic], call: Call) -> None:
        """In the name of the member, whose quota and rights count."""
        request = CreateTopicsRequest(topics=[_creatable(one) for one in topics])
        assert request.API_KEY is not None
        version = API_BY_KEY[request.API_KEY].max_stable_version
        try:
            answer = await self._controller.ask(request, Call(call.client, version))
        except PenstockError as error:
            for one in topics:
                self._note(one.name, str(error))
            return
        for told in answer.topics:
            if told.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
                self._note(told.name, told.error_message or ErrorCode(told.error_code).name)

    def _note(self, name: str, reason: str) -> None:
        log.warning("internal topic of a streams group not created", topic=name, reason=reason)
        now_s = self._clock.monotonic()
        self._failures = {one: kept for one, kept in self._failures.items() if kept[1] > now_s}
        self._failures[name] = (reason, now_s + FAILURE_KEPT_S)

    def _recent(self, names: Iterable[str]) -> dict[str, str]:
        now_s = self._clock.monotonic()
        found = ((name, self._failures.get(name)) for name in names)
        return {name: kept[0] for name, kept in found if kept is not None and kept[1] > now_s}


def _may_not_create(names: Sequence[str], access: Access | None) -> list[str]:
    if access is None or access.may(Operation.CREATE, ResourceType.CLUSTER, CLUSTER_NAME):
        return []
    return [one for one in names if not access.may(Operation.CREATE, ResourceType.TOPIC, one)]


def _creatable(topic: InternalTopic) -> CreatableTopic:
    factor = topic.replication_factor
    return CreatableTopic(
        name=topic.name,
        num_partitions=topic.partition_count,
        replication_factor=factor if factor > 0 else -1,
        configs=[CreatableTopicConfig(name=name, value=value) for name, value in topic.configs],
    )


def _add_detail(response: StreamsGroupHeartbeatResponse, detail: str) -> None:
    for one in response.status or ():
        if one.status_code == StatusCode.MISSING_INTERNAL_TOPICS:
            one.status_detail += f"; {detail}"
            return
    response.status = [
        *(response.status or ()),
        status(StatusCode.MISSING_INTERNAL_TOPICS, detail),
    ]
