"""Time of the event loop that requests take: `request_percentage`, in time that the test moves."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.handlers.call import Call, ClientState
from penstock.handlers.throttle import Throttle
from penstock.metadata.security import SecurityImage
from penstock.model.error import ApiError, ErrorCode
from penstock.model.principal import Principal
from penstock.network.later import Later
from penstock.protocol.messages.heartbeat import HeartbeatResponse
from penstock.protocol.messages.records.client_quota_record import ClientQuotaRecord, EntityData
from penstock.security.quota.client import FETCH, REQUEST, ClientQuotas
from penstock.security.quota.sample import Windows
from penstock.testing.clock import SimulatedClock

LIST_OFFSETS, HEARTBEAT, EPOCHS, WRITE_TXN_MARKERS = 2, 12, 23, 27


class Desk:
    """A client that may use one percent of the loop, and how long it was muted."""

    def __init__(self, percent: float = 1.0) -> None:
        self.clock = SimulatedClock()
        self.throttle = Throttle(ClientQuotas(Windows(), Windows()), self.clock)
        self.security = SecurityImage()
        self.set_quota(percent)
        self.muted_s = 0.0
        self.client = ClientState("127.0.0.1:1")
        self.client.client_id = "app"
        self.client.mute = self._mute

    def set_quota(self, percent: float, *, remove: bool = False) -> None:
        entity = [EntityData(entity_type="client-id", entity_name="app")]
        record = ClientQuotaRecord(entity=entity, key=REQUEST, value=percent, remove=remove)
        self.security.put_quota(record)
        self.throttle.change(self.security)

    def _mute(self, seconds: float) -> None:
        self.muted_s = max(self.muted_s, seconds)

    def apply(
        self, answer: Any, spent_s: float, api_key: int = HEARTBEAT, replica_id: int = -1
    ) -> Any:
        started = self.clock.monotonic()
        self.clock.advance(spent_s)
        call = Call(self.client, 4)
        request = SimpleNamespace(replica_id=replica_id)
        return self.throttle.apply(api_key, request, call, answer, 100, started)


def test_within_its_share_of_the_loop_nobody_waits() -> None:
    desk = Desk()
    answer = desk.apply(HeartbeatResponse(), spent_s=0.1)
    assert (answer.throttle_time_ms, desk.muted_s) == (0, 0.0)


def test_more_than_its_share_has_to_wait_a_second_at_most() -> None:
    """Half a second of the last ten is five times one percent."""
    desk = Desk()
    answer = desk.apply(HeartbeatResponse(), spent_s=0.5)
    assert (answer.throttle_time_ms, desk.muted_s) == (1000, 1.0)


def test_what_is_answered_later_counts_without_the_wait() -> None:
    desk = Desk()
    later: Later[Any] = Later()
    answers: list[Any] = []
    desk.apply(later, spent_s=0.05).listen(answers.append)
    desk.clock.advance(30)
    later.settle(HeartbeatResponse())
    assert (answers[0].throttle_time_ms, desk.muted_s) == (0, 0.0)


@pytest.mark.parametrize(("step_s", "wait_ms"), [(0.02, 0), (0.2, 1000)])
def test_the_steps_of_a_coroutine_count_without_its_waits(step_s: float, wait_ms: int) -> None:
    desk = Desk()

    async def answer() -> HeartbeatResponse:
        for _ in range(3):
            desk.clock.advance(step_s)
            asyncio.get_running_loop().call_soon(desk.clock.advance, 0.5)
            await asyncio.sleep(0)
        return HeartbeatResponse()

    assert asyncio.run(desk.apply(answer(), 0.0)).throttle_time_ms == wait_ms
    assert desk.muted_s == wait_ms / 1000


def test_requests_that_are_refused_count_as_well() -> None:
    desk = Desk()

    async def refuse() -> None:
        desk.clock.advance(1)
        raise ApiError(ErrorCode.INVALID_REQUEST)

    with pytest.raises(ApiError):
        asyncio.run(desk.apply(refuse(), 0.0))
    assert desk.muted_s == 1.0


def test_what_nodes_ask_of_each_other_does_not_count() -> None:
    desk = Desk()
    desk.apply(SimpleNamespace(), spent_s=5, api_key=WRITE_TXN_MARKERS)
    assert desk.muted_s == 0.0


@pytest.mark.parametrize("api_key", [LIST_OFFSETS, EPOCHS])
def test_to_call_oneself_a_broker_is_no_way_around_a_quota(api_key: int) -> None:
    desk = Desk()
    desk.apply(SimpleNamespace(), spent_s=5, api_key=api_key, replica_id=3)
    assert desk.muted_s == 1.0


@pytest.mark.parametrize("api_key", [LIST_OFFSETS, EPOCHS, WRITE_TXN_MARKERS])
@pytest.mark.parametrize("is_broker", [False, True])
def test_who_may_act_for_the_cluster_is_free_and_nobody_else(api_key: int, is_broker: bool) -> None:
    desk = Desk()
    desk.throttle.is_broker = lambda client: is_broker and client is desk.client
    desk.apply(SimpleNamespace(), spent_s=5, api_key=api_key, replica_id=3)
    assert desk.muted_s == (0.0 if is_broker else 1.0)


def test_a_user_is_known_by_the_name_it_has_logged_in_with() -> None:
    desk = Desk()
    desk.set_quota(1.0, remove=True)
    entity = [EntityData(entity_type="user", entity_name="alice")]
    desk.security.put_quota(ClientQuotaRecord(entity=entity, key=REQUEST, value=1.0))
    desk.throttle.change(desk.security)
    desk.apply(HeartbeatResponse(), spent_s=5)
    assert desk.muted_s == 0.0
    desk.client.principal = Principal("User", "alice")
    desk.apply(HeartbeatResponse(), spent_s=5)
    assert desk.muted_s == 1.0


def test_what_a_consumer_does_not_get_does_not_count() -> None:
    desk = Desk()
    entity = [EntityData(entity_type="client-id", entity_name="app")]
    desk.security.put_quota(ClientQuotaRecord(entity=entity, key=FETCH, value=1000.0))
    desk.throttle.change(desk.security)
    assert desk.throttle.charge_fetch(desk.client, 50_000, 0.0) == 40_000
    assert desk.muted_s == 40.0
    assert desk.throttle.charge_fetch(desk.client, 10_000, 0.0) == 0


def test_a_wait_that_a_controller_elsewhere_has_told_is_kept() -> None:
    desk = Desk()
    answer = desk.apply(HeartbeatResponse(throttle_time_ms=5000), spent_s=0.0)
    assert (answer.throttle_time_ms, desk.muted_s) == (5000, 5.0)


def test_without_quotas_nothing_is_measured() -> None:
    desk = Desk()
    assert desk.throttle.is_on
    desk.set_quota(1.0, remove=True)
    assert not desk.throttle.is_on
