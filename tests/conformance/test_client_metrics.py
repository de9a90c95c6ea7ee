"""Subscriptions to clients' metrics: kept and told."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from penstock.metadata.config import ResourceType
from penstock.model.error import ErrorCode
from penstock.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from penstock.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from penstock.protocol.messages.list_config_resources import ListConfigResourcesRequest
from tests.conformance.clients.raw import Connection
from tests.patience import wait_until

SET, DELETE = 0, 1
KIND = int(ResourceType.CLIENT_METRICS)
DYNAMIC, DEFAULT = 7, 5
KEYS = ("metrics", "interval.ms", "match")


def alter(connection: Connection, name: str, **values: str | None) -> tuple[int, str | None]:
    changes = [
        AlterableConfig(
            name=key.replace("_", "."),
            value=value,
            config_operation=DELETE if value is None else SET,
        )
        for key, value in values.items()
    ]
    resource = AlterConfigsResource(resource_type=KIND, resource_name=name, configs=changes)
    (answer,) = connection.call(IncrementalAlterConfigsRequest(resources=[resource]), 1).responses
    return answer.error_code, answer.error_message


def listed(connection: Connection, version: int) -> list[str]:
    request = ListConfigResourcesRequest(resource_types=[KIND] if version else [])
    answer = connection.call(request, version)
    assert answer.error_code == ErrorCode.NONE
    return sorted(one.resource_name for one in answer.config_resources)


def described(connection: Connection, name: str) -> dict[str, tuple[str | None, int]]:
    resource = DescribeConfigsResource(
        resource_type=KIND, resource_name=name, configuration_keys=None
    )
    request = DescribeConfigsRequest(resources=[resource], include_synonyms=True)
    (answer,) = connection.call(request, 4).results
    assert answer.error_code == ErrorCode.NONE
    return {one.name: (one.value, one.config_source) for one in answer.configs}


@pytest.fixture
def subscription(connection: Connection, topic_name: str) -> Iterator[str]:
    yield topic_name
    alter(connection, topic_name, metrics=None, interval_ms=None, match=None)
    wait_until(lambda: topic_name not in listed(connection, 1))


@pytest.mark.feature("Set up, describe, list, take away")
@pytest.mark.client("raw requests")
def test_life(connection: Connection, subscription: str) -> None:
    assert described(connection, subscription) == {
        "metrics": ("", DEFAULT),
        "interval.ms": ("300000", DEFAULT),
        "match": ("", DEFAULT),
    }
    wanted = {"metrics": "org.apache.kafka.", "interval_ms": "15000"}
    assert alter(connection, subscription, **wanted) == (0, None)
    for version in (0, 1):
        wait_until(lambda version=version: subscription in listed(connection, version))  # type: ignore[misc]
    found = described(connection, subscription)
    assert found["metrics"] == ("org.apache.kafka.", DYNAMIC)
    assert found["interval.ms"] == ("15000", DYNAMIC)
    assert alter(connection, subscription, metrics=None, interval_ms=None) == (0, None)
    wait_until(lambda: subscription not in listed(connection, 1))


REFUSED = [
    ("interval_ms", "1", ErrorCode.INVALID_REQUEST, "interval must be between 100 and 3600000"),
    ("interval_ms", "x", ErrorCode.INVALID_CONFIG, "Not a number of type INT"),
    ("no_such", "1", ErrorCode.INVALID_REQUEST, "Unknown client metrics configuration: no.such"),
    ("match", "foo=bar", ErrorCode.INVALID_CONFIG, "Illegal client matching pattern: foo=bar"),
    ("match", "client_id=(", ErrorCode.INVALID_CONFIG, "Illegal client matching pattern"),
]


@pytest.mark.parametrize(("key", "value", "code", "message"), REFUSED)
@pytest.mark.feature("Settings that cannot be, with code and reason")
@pytest.mark.client("raw requests")
def test_refused(
    connection: Connection, topic_name: str, key: str, value: str, code: ErrorCode, message: str
) -> None:
    told, reason = alter(connection, topic_name, **{key: value})
    assert told == code
    assert message in (reason or "")


@pytest.mark.java
@pytest.mark.feature("--alter and --describe of client-metrics")
@pytest.mark.client("kafka-configs")
def test_tool(tool: Callable[..., str], connection: Connection, subscription: str) -> None:
    named = ["--entity-type", "client-metrics", "--entity-name", subscription]
    values = "metrics=[org.apache.kafka.producer.,org.apache.kafka.consumer.],match=[client_id=a.*]"
    tool("kafka-configs", "--alter", *named, "--add-config", values)
    wait_until(lambda: subscription in listed(connection, 1))
    metrics = "org.apache.kafka.producer.,org.apache.kafka.consumer."
    source = "DYNAMIC_CLIENT_METRICS_CONFIG"
    expected = [
        f"Dynamic configs for client-metric {subscription} are:",
        f"  match=client_id=a.* sensitive=false synonyms={{{source}:match=client_id=a.*}}",
        f"  metrics={metrics} sensitive=false synonyms={{{source}:metrics={metrics}}}",
    ]
    assert tool("kafka-configs", "--describe", *named).splitlines() == expected
    said = tool("kafka-configs", "--describe", *named[:3], f"{subscription}-none")
    assert "doesn't exist and doesn't have dynamic config" in said
