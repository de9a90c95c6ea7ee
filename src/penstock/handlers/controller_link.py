"""The controller as handlers see it: ask, and get the answer when it is committed.

Where this node is the active controller, its machine is asked. Elsewhere a client's request is sent
on in an envelope, and what this broker itself wants is asked for directly.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from penstock.controller.dispatch import Asked, decide
from penstock.controller.shard import ControllerShard
from penstock.controller.topic_name import check_topic_name
from penstock.coordinator.topic import COORDINATOR_TOPICS, CoordinatorTopic
from penstock.handlers.call import Call, ClientState
from penstock.handlers.throttle import Throttle
from penstock.metadata.image import ClusterImage
from penstock.metadata.record import MetadataRecord
from penstock.model.clock import Clock
from penstock.model.error import ApiError, ErrorCode, PenstockError
from penstock.network.later import Later, future_of
from penstock.protocol.entity import Entity
from penstock.protocol.frame import API_BY_KEY
from penstock.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from penstock.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from penstock.protocol.messages.delete_topics import DeleteTopicsRequest
from penstock.raft import QuorumView
from penstock.runtime.driver import Runtime
from penstock.settings.config import BrokerConfig
from penstock.telemetry.log import get_logger

log = get_logger("controller")

MAKING_WAIT_S = 5.0
SEEN_WAIT_S = 1.0
SEEN_LOOK_S = 0.005

ControllerRuntime = Runtime[ControllerShard, MetadataRecord]
AskRemote = Callable[[Entity], Awaitable[Any]]
"""Sends a request to the active controller on another node; PenstockError if none answers."""


class ControllerLink:
    def __init__(
        self,
        node_id: int,
        clock: Clock,
        image: ClusterImage,
        active: Callable[[], ControllerRuntime | None],
        ask_remote: AskRemote,
        quorum: Callable[[], QuorumView | ErrorCode],
        config: Callable[[], BrokerConfig],
        throttle: Throttle,
    ) -> None:
        self._node_id = node_id
        self._clock = clock
        self._image = image
        self._active = active
        self._ask_remote = ask_remote
        self._config = config
        self._throttle = throttle
        self._making: dict[str, asyncio.Task[None]] = {}
        self.quorum = quorum

    @property
    def is_active(self) -> bool:
        """Whether this node is the controller."""
        return self._active() is not None

    async def ask(self, request: Entity, call: Call) -> Any:
        """For a client. The answer is the controller's, wherever it is."""
        if self.is_active:
            return await self.ask_active(request, call)
        answer = await self.forward(request, call)
        await self._wait_seen(request, answer)
        return answer

    async def ask_active(self, request: Entity, call: Call) -> Any:
        """For who means the controller here: a node that hears of another asks there itself."""
        runtime = self._active()
        if runtime is None:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        receiver_id = None if call.client.is_forwarded else self._node_id
        now_ms, principal = self._clock.now_ms(), call.client.principal
        asked = Asked(call.version, self._node_id, receiver_id, now_ms, principal)
        quota = self._throttle.mutation_quota(request.API_KEY, call)
        if quota is None:
            return await runtime.submit(lambda shard: decide(shard, request, asked))
        charged = asked._replace(charge=quota.take)
        answer = await runtime.submit(lambda shard: decide(shard, request, charged))
        # Whatever the answer waited for is waited already.
        answer.throttle_time_ms = quota.throttle_ms(self._throttle.now_ms())
        return answer

    async def forward(self, request: Entity, call: Call) -> Any:
        """To the controller on another node, in the client's name."""
        if call.client.is_forwarded:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        from penstock.handlers.envelope import pack, unpack_answer

        client = call.client
        envelope = pack(request, call.version, client.client_id, client.host, client.principal)
        try:
            answer = await self._ask_remote(envelope)
        except PenstockError as error:
            raise ApiError(ErrorCode.REQUEST_TIMED_OUT, str(error)) from error
        return unpack_answer(request, call.version, answer)

    async def _wait_seen(self, request: Entity, answer: Any) -> None:
        """Until topics that were made or deleted elsewhere are so here as well: whoever asked this
        node looks for them here next. Metadata comes by itself, and mostly before the answer."""
        if isinstance(request, CreateTopicsRequest) and not request.validate_only:
            is_there, told = True, answer.topics
        elif isinstance(request, DeleteTopicsRequest):
            is_there, told = False, answer.responses
        else:
            return
        names = [each.name for each in told if not each.error_code]
        until_s = self._clock.monotonic() + SEEN_WAIT_S
        while any((name in self._image.topics) != is_there for name in names):
            if self._clock.monotonic() > until_s:
                return
            await asyncio.sleep(SEEN_LOOK_S)

    def note_contact(self, broker_id: int, broker_epoch: int) -> None:
        """A heartbeat has come, and may have to wait for its turn."""
        runtime = self._active()
        if runtime is not None:
            runtime.machine.note_contact(broker_id, broker_epoch, self._clock.now_ms())

    async def fence(self, broker_id: int, broker_epoch: int) -> None:
        runtime = self._active()
        if runtime is None:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        await runtime.submit(lambda shard: shard.decide_fence_broker(broker_id, broker_epoch))

    def ask_here(self, request: Entity) -> Awaitable[Any]:
        """For this broker itself, where this node is the controller. It is decided at once."""
        runtime = self._active()
        if runtime is None:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        assert request.API_KEY is not None
        version = API_BY_KEY[request.API_KEY].max_version
        asked = Asked(version, self._node_id, self._node_id, self._clock.now_ms())
        answer = runtime.ask(lambda shard: decide(shard, request, asked))
        return future_of(answer) if isinstance(answer, Later) else _now(answer)

    def _ask_anywhere(self, request: Entity) -> Awaitable[Any]:
        return self.ask_here(request) if self.is_active else self._ask_remote(request)

    # What a broker asks for on its own account

    def name_error(self, name: str) -> ErrorCode | None:
        """Why no topic can have this name, if so."""
        try:
            check_topic_name(name)
        except ApiError as error:
            return error.code
        return None

    def create_missing_topics(self, names: Sequence[str], client: ClientState) -> None:
        """Begin to create topics that were used before they were made; nobody waits for it.

        As in Kafka, who asked is told that the topic is unknown and asks again: a test that deletes
        a topic and looks whether it is gone must not be shown the one that its look has made.
        """
        request = CreateTopicsRequest(topics=[self._as_used(name) for name in dict.fromkeys(names)])
        # Begun at once where the controller is here: who else asks finds it under way.
        try:
            making = self._ask_charged(request, client)
        except PenstockError as error:
            _log_failed(names, error)
            return
        task = asyncio.create_task(_report_uncreated(making, names))
        for name in names:
            self._making[name] = task
        task.add_done_callback(lambda _: self._forget(names))

    def _ask_charged(self, request: CreateTopicsRequest, client: ClientState) -> Awaitable[Any]:
        """What is made for somebody counts against their quota, if there is any."""
        if not self._throttle.quotas.mutation.is_on:
            return self._ask_anywhere(request)
        assert request.API_KEY is not None
        version = API_BY_KEY[request.API_KEY].max_stable_version
        return self.ask(request, Call(client, version))

    def _forget(self, names: Sequence[str]) -> None:
        for name in names:
            self._making.pop(name, None)

    def is_making(self, names: Iterable[str]) -> bool:
        """Whether one of these topics is on its way because somebody asked for it before."""
        return bool(self._making) and any(name in self._making for name in names)

    async def wait_made(self, names: Iterable[str]) -> None:
        tasks = {self._making[name] for name in names if name in self._making}
        if tasks:
            await asyncio.wait(tasks, timeout=MAKING_WAIT_S)

    async def create_internal_topic(self, topic: CoordinatorTopic) -> None:
        """What fails is found out by who looks for the topic afterwards."""
        request = CreateTopicsRequest(topics=[self._fitted(topic)])
        try:
            _log_uncreated(await self._ask_anywhere(request))
        except ApiError:
            raise
        except PenstockError as error:
            raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE, str(error)) from error

    def _as_used(self, name: str) -> CreatableTopic:
        """A topic that somebody used before it was made: with the broker's defaults, or as its
        coordinator wants it. One without compaction would lose groups to retention."""
        build = COORDINATOR_TOPICS.get(name)
        if build is None:
            return CreatableTopic(name=name, num_partitions=-1, replication_factor=-1)
        return self._fitted(build(self._config()))

    def _fitted(self, topic: CoordinatorTopic) -> CreatableTopic:
        fitted = topic.fitted(len(self._image.active_brokers))
        return CreatableTopic(
            name=fitted.name,
            num_partitions=fitted.partition_count,
            replication_factor=fitted.replication_factor,
            configs=[
                CreatableTopicConfig(name=name, value=value)
                for name, value in fitted.configs.items()
            ],
        )

    async def allocate_producer_ids(self, broker_epoch: int) -> range:
        request = AllocateProducerIdsRequest(broker_id=self._node_id, broker_epoch=broker_epoch)
        try:
            response = await self._ask_anywhere(request)
        except ApiError:
            raise
        except PenstockError as error:
            raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, str(error)) from error
        if response.error_code:
            raise ApiError(ErrorCode(response.error_code), "no producer ids from the controller")
        start = response.producer_id_start
        return range(start, start + response.producer_id_len)


async def _now(answer: Any) -> Any:
    return answer


async def _report_uncreated(making: Awaitable[CreateTopicsResponse], names: Sequence[str]) -> None:
    try:
        _log_uncreated(await making)
    except PenstockError as error:
        _log_failed(names, error)


def _log_failed(names: Sequence[str], error: PenstockError) -> None:
    log.warning("topics not created", count=len(names), first=names[0], reason=str(error))


def _log_uncreated(response: CreateTopicsResponse) -> None:
    for topic in response.topics:
        if topic.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
            code = ErrorCode(topic.error_code)
            log.warning("topic not created", topic=topic.name, error=code.name)
