"""A coordinator asks another broker over its real connection: markers, verifications, and what
becomes of a call that cannot be answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock.coordinator.addition_sender import AdditionSender
from penstock.coordinator.brokers import NoAnswer, NotSpoken
from penstock.coordinator.marker import Marker
from penstock.coordinator.marker_form import markers_request, markers_results
from penstock.coordinator.peer_brokers import PeerBrokers
from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.peer.dialer import SocketDialer
from penstock.peer.peers import Peers
from penstock.transaction import Addition
from tests.node.commit_kit import TOPIC, create
from tests.node.coordinator_kit import SETTINGS, begin
from tests.node.node_kit import running
from tests.node.wire_kit import Wire

T0 = TopicPartition(TOPIC, 0)


def ask(address: str, story: Callable[[PeerBrokers], Coroutine[Any, Any, None]]) -> None:
    async def whole() -> None:
        host, _, port = address.rpartition(":")
        peers = Peers(SocketDialer(), client_id="broker-2", random=Random(1).random)
        peers.put(1, host, int(port))
        try:
            await story(PeerBrokers(peers.get, timeout_s=5))
        finally:
            peers.close()

    asyncio.run(whole())


def test_markers_and_additions(tmp_path: Path) -> None:
    with running(tmp_path / "data", settings=SETTINGS) as node, Wire(node.address) as wire:
        wire.call(create(TOPIC), 7)
        producer = begin(wire)
        identity = (producer.producer_id, producer.producer_epoch)

        async def story(brokers: PeerBrokers) -> None:
            additions = AdditionSender(brokers)
            known = Addition("tx", *identity, (T0,))
            first, second = await asyncio.gather(
                additions.send(1, known._replace(verify_only=True)),
                additions.send(1, known._replace(transactional_id="other")),
            )
            assert first == {T0: ErrorCode.TRANSACTION_ABORTABLE}
            assert second == {T0: ErrorCode.INVALID_PRODUCER_ID_MAPPING}
            assert await additions.send(1, known) == {T0: ErrorCode.NONE}
            assert await additions.send(1, known._replace(verify_only=True)) == {T0: ErrorCode.NONE}
            marker = Marker(producer.producer_id, producer.producer_epoch + 1, True, 3, 2)
            answer = await brokers.call(1, markers_request([(marker, [T0])]), 1)
            assert markers_results(answer) == {  # type: ignore[arg-type]
                producer.producer_id: {T0: ErrorCode.NONE}
            }
            with pytest.raises(NotSpoken):
                await brokers.call(1, markers_request([(marker, [T0])]), 3)
            with pytest.raises(NoAnswer):
                await brokers.call(9, markers_request([(marker, [T0])]), 1)

        ask(node.address, story)
        address = node.address

    async def gone(brokers: PeerBrokers) -> None:
        with pytest.raises(NoAnswer):
            await brokers.call(1, markers_request([]), 1)
        result = await AdditionSender(brokers).send(1, Addition("tx", 1, 0, (T0,)))
        assert result == {T0: ErrorCode.NETWORK_EXCEPTION}

    ask(address, gone)
