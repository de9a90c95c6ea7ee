"""Settings of single groups: known names, the broker's limits, and where a value comes from."""

from __future__ import annotations

import pytest

from penstock.model.error import ApiError, ErrorCode
from penstock.settings.config import BrokerConfig
from penstock.settings.describe import (
    DEFAULT_CONFIG,
    GROUP_CONFIG,
    STATIC_BROKER_CONFIG,
    describe_group,
)
from penstock.settings.group import GROUP_KEYS, broker_name, validate_group_overrides

CONFIG = BrokerConfig({"group.consumer.max.session.timeout.ms": "90000"})


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"consumer.session.timeout.ms": "80000"},
        {"consumer.session.timeout.ms": "45000", "consumer.heartbeat.interval.ms": "15000"},
        {"consumer.assignment.interval.ms": "0"},
        {"share.isolation.level": "read_committed"},
    ],
)
def test_what_a_group_may_carry(values: dict[str, str]) -> None:
    validate_group_overrides(CONFIG, values)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"retention.ms": "1"}, "Unknown group config name"),
        ({"consumer.session.timeout.ms": "soon"}, "consumer.session.timeout.ms"),
        ({"consumer.session.timeout.ms": "44999"}, "group.consumer.min.session.timeout.ms"),
        ({"consumer.session.timeout.ms": "90001"}, "group.consumer.max.session.timeout.ms"),
        ({"consumer.heartbeat.interval.ms": "4999"}, "group.consumer.min.heartbeat.interval.ms"),
        ({"consumer.heartbeat.interval.ms": "15001"}, "group.consumer.max.heartbeat.interval.ms"),
        ({"consumer.assignment.interval.ms": "15001"}, "group.consumer.max.assignment.interval.ms"),
    ],
)
def test_what_it_may_not(values: dict[str, str], reason: str) -> None:
    with pytest.raises(ApiError, match=reason) as caught:
        validate_group_overrides(CONFIG, values)
    assert caught.value.code is ErrorCode.INVALID_CONFIG


def test_a_session_must_outlast_a_heartbeat() -> None:
    config = BrokerConfig(
        {
            "group.consumer.min.session.timeout.ms": "1000",
            "group.consumer.min.heartbeat.interval.ms": "1000",
        }
    )
    with pytest.raises(ApiError, match="must be greater than"):
        validate_group_overrides(config, {"consumer.session.timeout.ms": "5000"})


def test_described_from_the_group_the_broker_or_the_default() -> None:
    config = BrokerConfig({"group.consumer.heartbeat.interval.ms": "6000"})
    entries = {
        one.name: one for one in describe_group(config, {"consumer.session.timeout.ms": "50000"})
    }
    assert entries.keys() == GROUP_KEYS.keys()
    session = entries["consumer.session.timeout.ms"]
    assert (session.value, session.source) == ("50000", GROUP_CONFIG)
    assert [one.value for one in session.synonyms] == ["50000", "45000"]
    heartbeat = entries["consumer.heartbeat.interval.ms"]
    assert (heartbeat.value, heartbeat.source) == ("6000", STATIC_BROKER_CONFIG)
    isolation = entries["share.isolation.level"]
    assert (isolation.value, isolation.source) == ("read_uncommitted", DEFAULT_CONFIG)
    assert all(one.documentation for one in entries.values())


def test_defaults_are_the_brokers() -> None:
    plain = BrokerConfig({})
    for name, key in GROUP_KEYS.items():
        of_broker = broker_name(name)
        if of_broker is not None:
            assert str(plain.get(of_broker)) == key.default
