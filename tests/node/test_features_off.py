"""What this broker has off, answered as Apache Kafka with the same features off answers.

The codes and messages were read from Apache Kafka 4.3.0, formatted with `share.version=0` and
`streams.version=0`, and with a fixed set of voters.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.frame import API_BY_KEY
from penstock.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from penstock.protocol.messages.unregister_broker import UnregisterBrokerRequest
from penstock.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from penstock.testing.broker import Broker
from tests.node.share_and_streams_kit import (
    TOPIC_ID,
    share_requests,
    share_state_requests,
    streams_requests,
    voter_requests,
)
from tests.node.wire_kit import Wire

UPGRADE, SAFE_DOWNGRADE = 1, 2


@pytest.fixture
def wire(penstock: Broker) -> Any:
    with Wire(penstock.bootstrap_servers) as wire:
        yield wire


def newest(key: int) -> int:
    return API_BY_KEY[key].max_stable_version


def codes(answer: Any) -> list[int]:
    groups = getattr(answer, "groups", None)
    return [answer.error_code] if groups is None else [group.error_code for group in groups]


def check_unsupported(wire: Wire, requests: dict[int, Entity]) -> None:
    for key, request in requests.items():
        answer = wire.call(request, newest(key))
        assert set(codes(answer)) == {ErrorCode.UNSUPPORTED_VERSION}, API_BY_KEY[key].name


def set_level(wire: Wire, feature: str, level: int, upgrade_type: int) -> None:
    update = FeatureUpdateKey(feature=feature, max_version_level=level, upgrade_type=upgrade_type)
    answer = wire.call(UpdateFeaturesRequest(feature_updates=[update]), 2)
    assert answer.error_code == ErrorCode.NONE, answer.error_message


@contextmanager
def turned_off(wire: Wire, feature: str) -> Iterator[None]:
    set_level(wire, feature, 0, SAFE_DOWNGRADE)
    try:
        yield
    finally:
        set_level(wire, feature, 1, UPGRADE)


def test_share_and_streams_groups(wire: Wire) -> None:
    """On in a new cluster; a cluster of before turns them on while it runs."""
    with turned_off(wire, "share.version"):
        check_unsupported(wire, share_requests())
    with turned_off(wire, "streams.version"):
        check_unsupported(wire, streams_requests())
    answer = wire.call(streams_requests()[89], 0)
    assert set(codes(answer)) == {ErrorCode.GROUP_ID_NOT_FOUND}


def test_share_state_is_nobodys(wire: Wire) -> None:
    with turned_off(wire, "share.version"):
        for key, request in share_state_requests().items():
            (topic,) = wire.call(request, newest(key)).results
            (partition,) = topic.partitions
            assert (topic.topic_id, partition.partition) == (TOPIC_ID, 3)
            assert partition.error_code == ErrorCode.NOT_COORDINATOR
            assert partition.error_message


def test_voters_are_fixed(wire: Wire) -> None:
    for key, request in voter_requests().items():
        answer = wire.call(request, 0)
        assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
        assert answer.error_message.endswith("voter because the kraft.version feature is 0"), key
    for request in voter_requests("another").values():
        assert wire.call(request, 0).error_code == ErrorCode.INCONSISTENT_CLUSTER_ID


@pytest.mark.parametrize(
    ("feature", "level", "code"),
    [
        ("group.version", 1, ErrorCode.NONE),
        ("metadata.version", 30, ErrorCode.NONE),
        ("share.version", 1, ErrorCode.NONE),
        ("streams.version", 1, ErrorCode.NONE),
        ("group.version", 0, ErrorCode.INVALID_UPDATE_VERSION),
        ("group.version", 9, ErrorCode.INVALID_UPDATE_VERSION),
        ("group.version", -1, ErrorCode.INVALID_UPDATE_VERSION),
        ("unheard.of", 1, ErrorCode.INVALID_UPDATE_VERSION),
    ],
)
def test_levels_of_features(wire: Wire, feature: str, level: int, code: ErrorCode) -> None:
    update = FeatureUpdateKey(feature=feature, max_version_level=level)
    for version in (1, 2):
        answer = wire.call(UpdateFeaturesRequest(feature_updates=[update]), version)
        assert answer.error_code == code
        assert (answer.error_message is None) == (code == ErrorCode.NONE)


def test_a_running_broker_is_not_unregistered(wire: Wire) -> None:
    answer = wire.call(UnregisterBrokerRequest(broker_id=99), 0)
    assert answer.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED
    assert answer.error_message == "Broker ID 99 is not currently registered"
    answer = wire.call(UnregisterBrokerRequest(broker_id=1), 0)
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert "running" in answer.error_message


@pytest.mark.parametrize(
    ("entity", "key", "value", "code"),
    [
        ([("user", "a")], "producer_byte_rate", 1.0, ErrorCode.NONE),
        ([("user", "a")], "producer_byte_rate", None, ErrorCode.NONE),
        ([("user", "a"), ("client-id", None)], "request_percentage", None, ErrorCode.NONE),
        ([("user", "a")], "unheard_of", 1.0, ErrorCode.INVALID_REQUEST),
        ([("user", "a")], "producer_byte_rate", -1.0, ErrorCode.INVALID_REQUEST),
        ([], "producer_byte_rate", 1.0, ErrorCode.INVALID_REQUEST),
        ([("planet", "a")], "producer_byte_rate", 1.0, ErrorCode.INVALID_REQUEST),
        ([("ip", "127.0.0.1")], "producer_byte_rate", 1.0, ErrorCode.INVALID_REQUEST),
        ([("ip", "127.0.0.1")], "connection_creation_rate", None, ErrorCode.NONE),
    ],
)
def test_which_quotas_can_be_set(
    wire: Wire, entity: list[tuple[str, str | None]], key: str, value: float | None, code: ErrorCode
) -> None:
    op = OpData(key=key, value=value or 0.0, remove=value is None)
    named = [RequestEntityData(entity_type=kind, entity_name=name) for kind, name in entity]
    request = AlterClientQuotasRequest(entries=[RequestEntryData(entity=named, ops=[op])])
    (answer,) = wire.call(request, 1).entries
    assert answer.error_code == code
    assert sorted((one.entity_type, one.entity_name) for one in answer.entity) == sorted(entity)
