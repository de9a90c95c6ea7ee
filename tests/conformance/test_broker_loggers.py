"""Levels of a broker's loggers, shown and changed while it runs."""

from __future__ import annotations

from collections.abc import Callable

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
from tests.conformance.clients.raw import Connection
from tests.conformance.conftest import Cluster

SET, DELETE, APPEND = 0, 1, 2
KIND = int(ResourceType.BROKER_LOGGER)
SOURCE = 6
LEVELS = {"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "OFF"}
INVALID, MALFORMED = ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_CONFIG


def alter(
    connection: Connection, broker: object, logger: str, level: str | None, operation: int = SET
) -> tuple[int, str]:
    change = AlterableConfig(name=logger, value=level, config_operation=operation)
    resource = AlterConfigsResource(resource_type=KIND, resource_name=str(broker), configs=[change])
    (answer,) = connection.call(IncrementalAlterConfigsRequest(resources=[resource]), 1).responses
    return answer.error_code, answer.error_message or ""


def describe(connection: Connection, broker: object) -> tuple[int, dict[str, str | None]]:
    resource = DescribeConfigsResource(
        resource_type=KIND, resource_name=str(broker), configuration_keys=None
    )
    (answer,) = connection.call(DescribeConfigsRequest(resources=[resource]), 4).results
    for one in answer.configs:
        assert (one.config_source, one.read_only, one.is_sensitive) == (SOURCE, False, False)
    return answer.error_code, {one.name: one.value for one in answer.configs}


@pytest.mark.feature("Describe and set levels")
@pytest.mark.client("raw requests")
def test_levels(connection: Connection, cluster: Cluster) -> None:
    broker = cluster.broker_id
    code, before = describe(connection, broker)
    assert code == ErrorCode.NONE
    assert "root" in before and len(before) > 1
    assert set(before.values()) <= LEVELS
    logger = next(name for name in before if name != "root")
    try:
        assert alter(connection, broker, logger, "ERROR") == (0, "")
        assert describe(connection, broker)[1] == before | {logger: "ERROR"}
    finally:
        assert alter(connection, broker, logger, None, DELETE) == (0, "")
    assert describe(connection, broker)[1] == before | {logger: before["root"]}


@pytest.mark.parametrize(
    ("logger", "level", "operation", "code"),
    [
        ("root", "LOUD", SET, MALFORMED),
        ("no.such.logger", "INFO", SET, MALFORMED),
        ("root", None, DELETE, INVALID),
        ("root", "INFO", APPEND, INVALID),
    ],
)
@pytest.mark.feature("Levels, loggers and operations that cannot be")
@pytest.mark.client("raw requests")
def test_refused(
    connection: Connection,
    cluster: Cluster,
    logger: str,
    level: str | None,
    operation: int,
    code: ErrorCode,
) -> None:
    assert alter(connection, cluster.broker_id, logger, level, operation)[0] == code


@pytest.mark.parametrize("broker", ["", "4711", "x"])
@pytest.mark.feature("Loggers of another broker (INVALID_REQUEST)")
@pytest.mark.client("raw requests")
def test_of_another(connection: Connection, broker: str) -> None:
    assert describe(connection, broker) == (INVALID, {})
    assert alter(connection, broker, "root", "INFO")[0] == INVALID


@pytest.mark.java
@pytest.mark.feature("--describe of broker-loggers")
@pytest.mark.client("kafka-configs")
def test_tool(tool: Callable[..., str], cluster: Cluster) -> None:
    named = ["--entity-type", "broker-loggers", "--entity-name", str(cluster.broker_id)]
    first, *rest = tool("kafka-configs", "--describe", *named).splitlines()
    assert first == f"Dynamic configs for broker-logger {cluster.broker_id} are:"
    assert any(line.startswith("  root=") for line in rest)
