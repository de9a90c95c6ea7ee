"""Limits of tenants, at every way to a topic or its settings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from penstock.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from penstock.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from penstock.settings.tenant import Tenant, parse_tenant
from tests.unit.controller.controller_kit import Controller

TOPIC, BROKER = 2, 4
Answer = tuple[int, str | None]


@pytest.fixture
def controller() -> Controller:
    return Controller()


def alter(controller: Controller, kind: int, name: str, **values: str | None) -> Answer:
    request = IncrementalAlterConfigsRequest(
        resources=[
            AlterConfigsResource(
                resource_type=kind,
                resource_name=name,
                configs=[
                    AlterableConfig(
                        name=key.replace("_", "."),
                        value=value,
                        config_operation=1 if value is None else 0,
                    )
                    for key, value in values.items()
                ],
            )
        ]
    )
    (one,) = controller.do(
        lambda shard: shard.decide_incremental_alter_configs(request, None)
    ).responses
    return one.error_code, one.error_message


def tenant(controller: Controller, name: str, **limits: Any) -> Answer:
    return alter(controller, BROKER, "", **{f"penstock_tenant_{name}": json.dumps(limits)})


def create(controller: Controller, *topics: tuple[str, int], **settings: str) -> list[Answer]:
    configs = [
        CreatableTopicConfig(name=key.replace("_", "."), value=value)
        for key, value in settings.items()
    ]
    request = CreateTopicsRequest(
        topics=[
            CreatableTopic(name=name, num_partitions=count, replication_factor=1, configs=configs)
            for name, count in topics
        ]
    )
    answer = controller.do(lambda shard: shard.decide_create_topics(request))
    return [(each.error_code, each.error_message) for each in answer.topics]


def grow(controller: Controller, name: str, count: int) -> Answer:
    request = CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name=name, count=count, assignments=None)]
    )
    (one,) = controller.do(lambda shard: shard.decide_create_partitions(request)).results
    return one.error_code, one.error_message


FINE = (ErrorCode.NONE, None)


def test_topics_and_partitions_are_counted_also_within_a_request(controller: Controller) -> None:
    assert tenant(controller, "pay", prefix="pay.", owner="a@b", topics=3, partitions=10) == FINE
    assert create(controller, ("pay.a", 4), ("other", 50)) == [FINE, FINE]
    made = create(controller, ("pay.b", 4), ("pay.c", 4), ("pay.d", 2))
    refused = "tenant pay (owner a@b): has 8 of 10 partitions, and 4 more are asked for"
    assert made == [FINE, (ErrorCode.POLICY_VIOLATION, refused), FINE]
    assert create(controller, ("pay.e", 0 + 1))[0][1] == (
        "tenant pay (owner a@b): has 3 of 3 topics, and 1 more are asked for"
    )
    assert set(controller.image.topics.by_name) == {"pay.a", "other", "pay.b", "pay.d"}


def test_growth_counts(controller: Controller) -> None:
    tenant(controller, "pay", prefix="pay.", partitions=10)
    create(controller, ("pay.a", 4), ("pay.b", 4))
    assert grow(controller, "pay.a", 7)[0] == ErrorCode.POLICY_VIOLATION
    assert grow(controller, "pay.a", 6) == FINE
    create(controller, ("other", 1))
    assert grow(controller, "other", 50) == FINE


def test_retention_and_message_size(controller: Controller) -> None:
    tenant(controller, "pay", prefix="pay.", retention_ms=86_400_000, message_bytes=2_000_000)
    (by_default,) = create(controller, ("pay.a", 1))
    assert by_default == (
        ErrorCode.POLICY_VIOLATION,
        "tenant pay: retention.ms is 604800000, at most 86400000 is allowed",
    )
    assert create(controller, ("pay.a", 1), retention_ms="3600000") == [FINE]
    assert alter(controller, TOPIC, "pay.a", retention_ms="-1")[0] == ErrorCode.POLICY_VIOLATION
    assert alter(controller, TOPIC, "pay.a", retention_ms=None)[0] == ErrorCode.POLICY_VIOLATION
    large = alter(controller, TOPIC, "pay.a", max_message_bytes="2000001")
    assert large[1] == "tenant pay: max.message.bytes is 2000001, at most 2000000 is allowed"
    assert alter(controller, TOPIC, "pay.a", retention_ms="7200000") == FINE


def test_bytes_kept(controller: Controller) -> None:
    tenant(controller, "pay", prefix="pay.", bytes=1000)
    assert "set retention.bytes" in (create(controller, ("pay.a", 1))[0][1] or "")
    assert create(controller, ("pay.a", 4), retention_bytes="200") == [FINE]
    assert create(controller, ("pay.b", 2), retention_bytes="200")[0][0] != 0
    assert alter(controller, TOPIC, "pay.a", retention_bytes="251")[0] != 0
    assert alter(controller, TOPIC, "pay.a", retention_bytes="250") == FINE
    assert grow(controller, "pay.a", 5)[0] == ErrorCode.POLICY_VIOLATION
    assert alter(controller, TOPIC, "pay.a", retention_bytes="100") == FINE
    assert grow(controller, "pay.a", 10) == FINE


def test_defaults_are_those_of_topics_that_name_none(controller: Controller) -> None:
    defaults = {"retention.ms": "1000", "cleanup.policy": "compact"}
    tenant(controller, "pay", prefix="pay.", retention_ms=5000, defaults=defaults)
    assert create(controller, ("pay.a", 1)) == [FINE]
    assert create(controller, ("pay.b", 1), retention_ms="2000") == [FINE]
    assert dict(controller.image.configs.topic("pay.a")) == defaults
    assert controller.image.configs.topic("pay.b")["retention.ms"] == "2000"


def test_the_longest_prefix_owns_a_topic(controller: Controller) -> None:
    tenant(controller, "all", prefix="pay.", topics=0)
    tenant(controller, "eu", prefix="pay.eu.", topics=1)
    assert create(controller, ("pay.eu.a", 1)) == [FINE]
    assert "tenant all:" in (create(controller, ("pay.us", 1))[0][1] or "")
    assert create(controller, ("pay", 1)) == [FINE]


def test_what_no_tenant_can_be_is_refused(controller: Controller) -> None:
    for limits, word in (
        ({}, "prefix is missing"),
        ({"prefix": "a", "topics": -1}, "topics is -1"),
        ({"prefix": "a", "partitions": True}, "partitions is True"),
        ({"prefix": "a", "colour": "red"}, "colour is not known"),
        ({"prefix": "a", "users": "alice"}, "users: expected a list"),
        ({"prefix": "a", "defaults": {"retention.ms": 5}}, "defaults: expected"),
    ):
        code, message = tenant(controller, "x", **limits)
        assert code == ErrorCode.INVALID_REQUEST and word in (message or "")
    code, _ = alter(controller, BROKER, "", penstock_tenant_x="no JSON")
    assert code == ErrorCode.INVALID_REQUEST


def test_a_tenant_and_its_text() -> None:
    one = Tenant("pay", "pay.", "a@b", ("alice",), 3, None, 10, None, 5, {"retention.ms": "1"})
    assert parse_tenant("pay", one.text()) == one
    assert json.loads(Tenant("pay", "pay.").text()) == {"prefix": "pay."}
