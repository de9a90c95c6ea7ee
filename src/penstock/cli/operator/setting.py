"""Settings of topics and brokers, through whichever broker answers.

`penstock.cli.config` asks each broker for its own; here one may be down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from penstock.cli.operator.link import Link, check
from penstock.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
)
from penstock.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

_TOPIC, _BROKER = 2, 4
_SET, _DELETE = 0, 1
_SET_ON_TOPIC = 1
"""DescribeConfigs' word for a value that a topic has of its own."""


class Change(NamedTuple):
    """A setting of a topic (by name) or of a broker (by id); None takes it away."""

    resource: str | int
    name: str
    value: str | None


def alter_settings(link: Link, changes: Iterable[Change]) -> None:
    by_resource: dict[str | int, list[AlterableConfig]] = {}
    for each in changes:
        operation = _DELETE if each.value is None else _SET
        by_resource.setdefault(each.resource, []).append(
            AlterableConfig(name=each.name, config_operation=operation, value=each.value)
        )
    if not by_resource:
        return
    resources = [
        AlterConfigsResource(
            resource_type=_TOPIC if isinstance(resource, str) else _BROKER,
            resource_name=str(resource),
            configs=configs,
        )
        for resource, configs in by_resource.items()
    ]
    request = IncrementalAlterConfigsRequest(resources=resources)
    answer = link.call(request, IncrementalAlterConfigsResponse)
    for done in answer.responses:
        check(done.error_code, done.error_message, f"settings of {done.resource_name}")


def topic_settings(link: Link, topics: Iterable[str], name: str) -> Mapping[str, str]:
    """The value in force of one setting, by topic."""
    return {topic: each.value or "" for topic, each in _describe(link, topics, name)}


def own_topic_settings(link: Link, topics: Iterable[str], name: str) -> Mapping[str, str]:
    """Only of topics that have it set themselves."""
    return {
        topic: each.value or ""
        for topic, each in _describe(link, topics, name)
        if each.config_source == _SET_ON_TOPIC and each.value
    }


def _describe(
    link: Link, topics: Iterable[str], name: str
) -> list[tuple[str, DescribeConfigsResourceResult]]:
    resources = [
        DescribeConfigsResource(
            resource_type=_TOPIC, resource_name=topic, configuration_keys=[name]
        )
        for topic in topics
    ]
    if not resources:
        return []
    answer = link.call(DescribeConfigsRequest(resources=resources), DescribeConfigsResponse)
    # A topic that was deleted meanwhile has none.
    return [
        (result.resource_name, entry)
        for result in answer.results
        if not result.error_code
        for entry in result.configs
        if entry.name == name
    ]
