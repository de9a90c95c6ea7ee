"""DescribeConfigs: every setting with its value, and where that value comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from penstock.controller import check_topic_name
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.logger_change import check_own_id
from penstock.metadata.config import ResourceType
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from penstock.settings.describe import (
    Entry,
    describe_broker,
    describe_broker_default,
    describe_client_metrics,
    describe_group,
    describe_logger,
    describe_topic,
)
from penstock.telemetry.level import logger_levels


def handle(broker: Broker, request: DescribeConfigsRequest, call: Call) -> Answer:
    return DescribeConfigsResponse(
        results=[_describe(broker, resource, request) for resource in request.resources]
    )


def _describe(
    broker: Broker, resource: DescribeConfigsResource, request: DescribeConfigsRequest
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )
    try:
        entries = _find(broker, resource)
    except ApiError as error:
        result.error_code = error.code
        result.error_message = error.message or ""
        return result
    wanted = frozenset(resource.configuration_keys or ())
    result.configs = [
        _rendered(entry, request) for entry in entries if not wanted or entry.name in wanted
    ]
    return result


def _find(broker: Broker, resource: DescribeConfigsResource) -> Iterable[Entry]:
    describe = _BY_TYPE.get(resource.resource_type)
    if describe is None:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"Unsupported resource type: {resource.resource_type}",
        )
    return describe(broker, resource.resource_name)


def _topic(broker: Broker, name: str) -> Iterable[Entry]:
    if name not in broker.image.topics:
        check_topic_name(name)
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return describe_topic(broker.config, broker.image.configs.topic(name))


def _broker(broker: Broker, name: str) -> Iterable[Entry]:
    if not name:
        return describe_broker_default(broker.config)
    if not name.isdigit():
        raise ApiError(
            ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}"
        )
    if int(name) != broker.node_id:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"Unexpected broker id, expected {broker.node_id} or empty string, but received {name}",
        )
    return describe_broker(broker.config)


def _group(broker: Broker, name: str) -> Iterable[Entry]:
    if not name:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
    return describe_group(broker.config, broker.image.configs.of(ResourceType.GROUP, name))


def _client_metrics(broker: Broker, name: str) -> Iterable[Entry]:
    if not name:
        raise ApiError(
            ErrorCode.INVALID_REQUEST, "Client metrics subscription name must not be empty"
        )
    return describe_client_metrics(broker.image.configs.of(ResourceType.CLIENT_METRICS, name))


def _loggers(broker: Broker, name: str) -> Iterable[Entry]:
    check_own_id(name, broker.node_id)
    return [describe_logger(logger, level) for logger, level in logger_levels().items()]


_BY_TYPE: dict[int, Callable[[Broker, str], Iterable[Entry]]] = {
    ResourceType.TOPIC: _topic,
    ResourceType.BROKER: _broker,
    ResourceType.BROKER_LOGGER: _loggers,
    ResourceType.CLIENT_METRICS: _client_metrics,
    ResourceType.GROUP: _group,
}


def _rendered(entry: Entry, request: DescribeConfigsRequest) -> DescribeConfigsResourceResult:
    result = DescribeConfigsResourceResult(
        name=entry.name,
        value=entry.value,
        read_only=entry.read_only,
        config_source=entry.source,
        is_sensitive=entry.is_sensitive,
        config_type=entry.type,
        documentation=entry.documentation if request.include_documentation else None,
    )
    if request.include_synonyms:
        result.synonyms = [
            DescribeConfigsSynonym(name=one.name, value=one.value, source=one.source)
            for one in entry.synonyms
        ]
    return result
