"""Holds clients to their quotas: counts what they ask for, and makes them wait for more.

A client that is over its quota is answered at once, with the time it is to wait, and its connection
is not read for that long (KIP-219). What it produces counts when it arrives, what it fetches when
it is answered, and the time of the event loop that a request takes when it is done. What nodes ask
of each other does not count, where it is nodes that ask.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from types import CoroutineType
from typing import Any, Final

from penstock.handlers.call import Call, ClientState
from penstock.handlers.loop_time import LoopTime
from penstock.metadata.security import QuotaEntity, SecurityImage
from penstock.model.clock import Clock
from penstock.model.error import ApiError, StorageError
from penstock.network.later import Later
from penstock.protocol.entity import Entity
from penstock.security.quota.client import ClientQuotas
from penstock.security.quota.mutation import MutationQuota
from penstock.security.quota.sensor import RateSensor

PRODUCE: Final = 0
FETCH: Final = 1
WITH_REPLICA_ID: Final = (2, 23)
"""ListOffsets and OffsetForLeaderEpoch say whether a broker asks, and so may anybody. As in Kafka
they count where nobody knows better."""
ADD_PARTITIONS_TO_TXN: Final = 24
BATCHED_ADDITIONS_FROM: Final = 4

STRICT_FROM: Final = {19: 6, 20: 5, 37: 3}
"""Since these versions clients know the error for too many partitions made or deleted (KIP-599)."""

_OF_NODES: Final = frozenset((27, 52, 53, 54, 56, 58, 59, 62, 63, 67, 70, 73, 82, *range(83, 88)))
"""The last are about the state of share groups."""
_PERCENT: Final = 100.0


class Throttle:
    """Of one node. While `is_on` is False no quota is set, and nothing else is called."""

    def __init__(self, quotas: ClientQuotas, clock: Clock) -> None:
        self.quotas = quotas
        self.is_on = False
        self.on_change: Callable[[Mapping[tuple[QuotaEntity, str], float]], None] = lambda _: None
        """Told of all quotas: those of addresses are not about requests."""
        self.is_broker: Callable[[ClientState], bool] | None = None
        """Whether a client may do what brokers do; None where nobody is told apart."""
        self._monotonic = clock.monotonic

    def change(self, security: SecurityImage) -> None:
        """To what the metadata log says now."""
        limits = {key: record.value for key, record in security.quotas.items()}
        self.quotas.change(limits)
        self.is_on = self.quotas.is_on
        self.on_change(limits)

    def now_ms(self) -> float:
        return self._monotonic() * 1000

    # Every request

    def apply(
        self, api_key: int, request: Any, call: Call, answer: Any, frame_bytes: int, started: float
    ) -> Any:
        """The same answer, or the same later, with the time to wait in it."""
        if api_key == FETCH or self._is_of_node(api_key, request, call):
            return answer
        client, spent = call.client, LoopTime(self._monotonic, started)
        if api_key == PRODUCE:
            return self._apply_produce(client, request, answer, frame_bytes, spent)
        if type(answer) is CoroutineType:
            return self._finish(client, answer, spent)
        if type(answer) is Later:
            spent.stop()
            return answer.map(lambda settled: self.settle(client, settled, spent))
        return self.settle(client, answer, spent)

    def _is_of_node(self, api_key: int, request: Any, call: Call) -> bool:
        """Only a fetch of a follower is free for whoever says that it is one, as in Kafka."""
        if api_key in WITH_REPLICA_ID:
            is_broker = self.is_broker
            return bool(request.replica_id >= 0 and is_broker and is_broker(call.client))
        if api_key in _OF_NODES or (
            api_key == ADD_PARTITIONS_TO_TXN and call.version >= BATCHED_ADDITIONS_FROM
        ):
            return self.is_broker is None or self.is_broker(call.client)
        return False

    def settle(self, client: ClientState, answer: Any, spent: LoopTime) -> Any:
        """A controller elsewhere may have said already how long to wait."""
        told_ms = getattr(answer, "throttle_time_ms", 0)
        wait_ms = max(told_ms, self._charge_time(client, spent.total_s()))
        if wait_ms:
            self._wait(client, answer, wait_ms)
        return answer

    async def _finish(
        self, client: ClientState, waiting: Coroutine[Any, Any, Any], spent: LoopTime
    ) -> Any:
        try:
            answer = await spent.of(waiting)
        except (ApiError, StorageError):
            self.settle(client, None, spent)
            raise
        return self.settle(client, answer, spent)

    def _wait(self, client: ClientState, answer: Any, wait_ms: int) -> None:
        if isinstance(answer, Entity) and hasattr(answer, "throttle_time_ms"):
            answer.throttle_time_ms = wait_ms
        client.mute(wait_ms / 1000)

    def _charge_time(self, client: ClientState, spent_s: float) -> int:
        now_ms = self.now_ms()
        sensor = self.quotas.of(client.principal.name, client.client_id, now_ms).request
        return 0 if sensor is None else _record(sensor, spent_s * _PERCENT, now_ms)

    # Produce

    def _apply_produce(
        self, client: ClientState, request: Any, answer: Any, frame_bytes: int, spent: LoopTime
    ) -> Any:
        """At once, not when it is safe: what the client has sent ahead is not begun any more."""
        now_ms = self.now_ms()
        allotment = self.quotas.of(client.principal.name, client.client_id, now_ms)
        bytes_ms = time_ms = 0
        if allotment.produce is not None:
            bytes_ms = allotment.produce.record(frame_bytes, now_ms)
        if allotment.request is not None and request.acks != 0:
            time_ms = allotment.request.record(spent.total_s() * _PERCENT, now_ms)
        wait_ms = max(bytes_ms, time_ms)
        if not wait_ms:
            return answer
        sensor = allotment.produce if bytes_ms > time_ms else allotment.request
        assert sensor is not None
        sensor.throttle_time.note(wait_ms, now_ms)
        client.mute(wait_ms / 1000)
        return _told(answer, wait_ms)

    # Fetch

    def fetch_bytes_max(self, client: ClientState) -> float:
        """More in one answer would be over the quota whatever was fetched before."""
        now_ms = self.now_ms()
        sensor = self.quotas.of(client.principal.name, client.client_id, now_ms).fetch
        windows = self.quotas.windows
        spare_s = max(1, windows.number - 1) * windows.size_ms / 1000
        return float("inf") if sensor is None else sensor.limit * spare_s

    def charge_fetch(self, client: ClientState, size_bytes: int, spent_s: float) -> int:
        """Milliseconds to wait; then nothing is sent, and nothing of it counts."""
        now_ms = self.now_ms()
        allotment = self.quotas.of(client.principal.name, client.client_id, now_ms)
        bytes_ms = time_ms = 0
        if allotment.request is not None:
            time_ms = allotment.request.record(spent_s * _PERCENT, now_ms)
        if allotment.fetch is not None:
            bytes_ms = allotment.fetch.record(size_bytes, now_ms)
        wait_ms = max(bytes_ms, time_ms)
        if not wait_ms:
            return 0
        if allotment.fetch is not None:
            allotment.fetch.add(-size_bytes, now_ms)
        sensor = allotment.fetch if bytes_ms > time_ms else allotment.request
        assert sensor is not None
        sensor.throttle_time.note(wait_ms, now_ms)
        client.mute(wait_ms / 1000)
        return wait_ms

    def charge_share_fetch(self, client: ClientState, size_bytes: int) -> int:
        """Milliseconds to wait after it: the records go out, since their locks are running."""
        now_ms = self.now_ms()
        sensor = self.quotas.of(client.principal.name, client.client_id, now_ms).fetch
        return 0 if sensor is None else _record(sensor, size_bytes, now_ms)

    # Changes of metadata, at the controller

    def mutation_quota(self, api_key: int | None, call: Call) -> MutationQuota | None:
        """For one request; None where there is none to be held to."""
        strict_from = STRICT_FROM.get(api_key or 0)
        if strict_from is None or not self.quotas.mutation.is_on:
            return None
        client, now_ms = call.client, self.now_ms()
        bucket = self.quotas.bucket_of(client.principal.name, client.client_id, now_ms)
        if bucket is None:
            return None
        return MutationQuota(bucket, now_ms, is_strict=call.version >= strict_from)


def _record(sensor: RateSensor, value: float, now_ms: float) -> int:
    wait_ms = sensor.record(value, now_ms)
    if wait_ms:
        sensor.throttle_time.note(wait_ms, now_ms)
    return wait_ms


def _told(answer: Any, wait_ms: int) -> Any:
    """A produce that is answered later says then how long to wait."""
    if type(answer) is Later:
        return answer.map(lambda settled: _told(settled, wait_ms))
    if type(answer) is CoroutineType:
        return _told_later(answer, wait_ms)
    if answer is not None:
        answer.throttle_time_ms = wait_ms
    return answer


async def _told_later(waiting: Coroutine[Any, Any, Any], wait_ms: int) -> Any:
    return _told(await waiting, wait_ms)
