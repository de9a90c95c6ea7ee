"""Settings, of whatever has some."""

from __future__ import annotations

from penstock.protocol.entity import Entity
from penstock.protocol.messages import alter_configs as legacy
from penstock.protocol.messages import incremental_alter_configs as incremental
from penstock.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from penstock.protocol.messages.list_config_resources import ListConfigResourcesRequest
from tests.authorization.cases import ABSENT, GROUP, TOPIC, Scene, case

TOPICS, BROKERS, LOGGERS, CLIENT_METRICS, GROUPS = 2, 4, 8, 16, 32


@case("describe settings", 32)
def describe_configs(scene: Scene) -> Entity:
    resources = [
        (TOPICS, TOPIC),
        (TOPICS, ABSENT),
        (BROKERS, "1"),
        (LOGGERS, "1"),
        (CLIENT_METRICS, "authz-metrics"),
        (GROUPS, GROUP),
    ]
    return DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
            for kind, name in resources
        ]
    )


SETTINGS = (
    (TOPICS, TOPIC, "retention.ms", "86400000"),
    (BROKERS, "1", "log.cleaner.threads", "1"),
    (GROUPS, GROUP, "consumer.session.timeout.ms", "50000"),
    (CLIENT_METRICS, "authz-metrics", "interval.ms", "10000"),
)


@case("alter settings", 33)
def alter_configs(scene: Scene) -> Entity:
    return legacy.AlterConfigsRequest(
        validate_only=True,
        resources=[
            legacy.AlterConfigsResource(
                resource_type=kind,
                resource_name=name,
                configs=[legacy.AlterableConfig(name=key, value=value)],
            )
            for kind, name, key, value in SETTINGS
        ],
    )


@case("alter settings one by one", 44)
def incremental_alter_configs(scene: Scene) -> Entity:
    return incremental.IncrementalAlterConfigsRequest(
        validate_only=True,
        resources=[
            incremental.AlterConfigsResource(
                resource_type=kind,
                resource_name=name,
                configs=[incremental.AlterableConfig(name=key, value=value)],
            )
            for kind, name, key, value in SETTINGS
        ],
    )


@case("list what has settings", 74)
def list_config_resources(scene: Scene) -> Entity:
    return ListConfigResourcesRequest()
