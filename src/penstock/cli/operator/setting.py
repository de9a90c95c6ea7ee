"""Settings of topics and brokers while some brokers may be down. Prints nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from penstock.cli.operator.link import Link, check
from penstock.cli.wire_call import Unreachable
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
_SET_ON_TOPIC, _SET_ON_BROKER = 1, 2
"""DescribeConfigs' words for a value that a topic, or a broker, was given of its own."""


class Change(NamedTuple):
    """A setting of a topic (by name) or of a broker (by id); None takes it away."""

    resource: str | int
    name: str
    value: str | None


def alter_settings(link: Link, changes: Iterable[Change]) -> None:
    """Each broker takes its own settings only; one that is down is passed over."""
    topics: list[AlterConfigsResource] = []
    for resource, configs in _by_resource(changes).items():
        kind = _TOPIC if isinstance(resource, str) else _BROKER
        altered = AlterConfigsResource(
            resource_type=kind, resource_name=str(resource), configs=configs
        )
        if isinstance(resource, str):
            topics.append(altered)
            continue
        request = IncrementalAlterConfigsRequest(resources=[altered])
        try:
            _check(link.call_broker(resource, request, IncrementalAlterConfigsResponse))
        except Unreachable:
            continue
    if topics:
        request = IncrementalAlterConfigsRequest(resources=topics)
        _check(link.call(request, IncrementalAlterConfigsResponse))


def alter_all_brokers(link: Link, values: Mapping[str, str | None]) -> None:
    """Those that Kafka keeps under no name: for every broker that has no value of its own."""
    changes = [Change("", name, value) for name, value in values.items()]
    altered = AlterConfigsResource(
        resource_type=_BROKER, resource_name="", configs=_by_resource(changes)[""]
    )
    request = IncrementalAlterConfigsRequest(resources=[altered])
    for each in link.call(request, IncrementalAlterConfigsResponse).responses:
        check(each.error_code, each.error_message, "settings of all brokers")


def _by_resource(changes: Iterable[Change]) -> dict[str | int, list[AlterableConfig]]:
    found: dict[str | int, list[AlterableConfig]] = {}
    for each in changes:
        operation = _DELETE if each.value is None else _SET
        found.setdefault(each.resource, []).append(
            AlterableConfig(name=each.name, config_operation=operation, value=each.value)
        )
    return found


def _check(answer: IncrementalAlterConfigsResponse) -> None:
    for each in answer.responses:
        check(each.error_code, each.error_message, f"settings of {each.resource_name}")


def own_broker_setting(link: Link, broker: int, name: str) -> str | None:
    """What it was given while it runs; None of one that is down."""
    resource = DescribeConfigsResource(
        resource_type=_BROKER, resource_name=str(broker), configuration_keys=[name]
    )
    request = DescribeConfigsRequest(resources=[resource])
    try:
        answer = link.call_broker(broker, request, DescribeConfigsResponse)
    except Unreachable:
        return None
    entries = [each for result in answer.results for each in result.configs]
    own = (each.value for each in entries if each.config_source == _SET_ON_BROKER)
    return next(own, None)


def topic_settings(link: Link, topics: Iterable[str], name: str) -> Mapping[str, str]:
    """The value in force of one setting, by topic."""
    return {topic: each.value or "" for topic, each in _describe(link, topics, name)}


def topic_settings_at(
    link: Link, host: str, port: int, topics: Iterable[str], name: str
) -> Mapping[str, str]:
    """As one broker has them: a change does not reach all at the same moment."""

    def ask(request: DescribeConfigsRequest) -> DescribeConfigsResponse:
        return link.call_at(host, port, request, DescribeConfigsResponse)

    return {topic: each.value or "" for topic, each in _read(ask, topics, name)}


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
    return _read(lambda request: link.call(request, DescribeConfigsResponse), topics, name)


def _read(
    ask: Callable[[DescribeConfigsRequest], DescribeConfigsResponse],
    topics: Iterable[str],
    name: str,
) -> list[tuple[str, DescribeConfigsResourceResult]]:
    resources = [
        DescribeConfigsResource(
            resource_type=_TOPIC, resource_name=topic, configuration_keys=[name]
        )
        for topic in topics
    ]
    if not resources:
        return []
    answer = ask(DescribeConfigsRequest(resources=resources))
    # A topic that was deleted meanwhile has none.
    return [
        (result.resource_name, entry)
        for result in answer.results
        if not result.error_code
        for entry in result.configs
        if entry.name == name
    ]
