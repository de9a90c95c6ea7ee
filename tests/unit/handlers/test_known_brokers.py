"""Whom Metadata sends clients to: brokers that were let in, and never nobody."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from penstock.handlers.api import metadata
from penstock.handlers.broker import Broker
from penstock.handlers.call import Call
from penstock.metadata.broker import BrokerImage, Endpoint
from penstock.metadata.image import ClusterImage
from penstock.protocol.messages.metadata import MetadataRequest, MetadataResponse

OWN = 2


def ask(*brokers: BrokerImage) -> list[tuple[int, int]]:
    image = ClusterImage()
    image.brokers.update({each.id: each for each in brokers})
    broker = SimpleNamespace(
        image=image,
        node_id=OWN,
        cluster_id="c",
        controller=SimpleNamespace(is_making=lambda names: False),
    )
    call = SimpleNamespace(version=12, client=SimpleNamespace(listener="PLAINTEXT"))
    answer = metadata.handle(cast(Broker, broker), MetadataRequest(topics=None), cast(Call, call))
    assert isinstance(answer, MetadataResponse)
    return [(each.node_id, each.port) for each in answer.brokers]


def broker_of(number: int, *, fenced: bool) -> BrokerImage:
    point = Endpoint("PLAINTEXT", "127.0.0.1", 9090 + number)
    return BrokerImage(number, number, bytes(16), (point,), fenced=fenced)


def test_clients_are_sent_to_brokers_that_were_let_in() -> None:
    assert ask(broker_of(1, fenced=False), broker_of(OWN, fenced=True)) == [(1, 9091)]


def test_while_nobody_is_let_in_clients_keep_the_one_that_answers() -> None:
    assert ask(broker_of(1, fenced=True), broker_of(OWN, fenced=True)) == [(OWN, 9092)]
