"""Settings: of topics and groups by their names, of everything else by the cluster."""

from __future__ import annotations

from penstock.handlers.authorization.asked import Asked, split
from penstock.handlers.call import Answer
from penstock.metadata.config import ResourceType as ConfigType
from penstock.model.acl import Operation
from penstock.model.error import ErrorCode
from penstock.protocol.messages import alter_configs as legacy
from penstock.protocol.messages import incremental_alter_configs as incremental
from penstock.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)

_MESSAGES = {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "Topic authorization failed.",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "Group authorization failed.",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "Cluster authorization failed.",
}
_OF_CLUSTER = (ConfigType.BROKER, ConfigType.BROKER_LOGGER, ConfigType.CLIENT_METRICS)

Resource = DescribeConfigsResource | legacy.AlterConfigsResource | incremental.AlterConfigsResource


def _may(asked: Asked, operation: Operation, resource: Resource) -> bool:
    """A kind of resource that nobody knows is for the handler to refuse."""
    kind, name = resource.resource_type, resource.resource_name
    if kind == ConfigType.TOPIC:
        return asked.may_topic(operation, name)
    if kind == ConfigType.GROUP:
        return asked.may_group(operation, name)
    return kind not in _OF_CLUSTER or asked.may_cluster(operation)


def _code(resource: Resource) -> ErrorCode:
    if resource.resource_type == ConfigType.TOPIC:
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    if resource.resource_type == ConfigType.GROUP:
        return ErrorCode.GROUP_AUTHORIZATION_FAILED
    return ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def _describe(asked: Asked, request: DescribeConfigsRequest) -> Answer:
    request.resources, refused = split(
        request.resources, lambda one: _may(asked, Operation.DESCRIBE_CONFIGS, one)
    )
    told = [
        DescribeConfigsResult(
            error_code=_code(one),
            error_message=_MESSAGES[_code(one)],
            resource_type=one.resource_type,
            resource_name=one.resource_name,
        )
        for one in refused
    ]
    return asked.answer_rest(request, request.resources, DescribeConfigsResponse, "results", told)


def _alter(asked: Asked, request: legacy.AlterConfigsRequest) -> Answer:
    request.resources, refused = split(
        request.resources, lambda one: _may(asked, Operation.ALTER_CONFIGS, one)
    )
    told = [
        legacy.AlterConfigsResourceResponse(
            error_code=_code(one),
            error_message=_MESSAGES[_code(one)],
            resource_type=one.resource_type,
            resource_name=one.resource_name,
        )
        for one in refused
    ]
    return asked.answer_rest(
        request, request.resources, legacy.AlterConfigsResponse, "responses", told
    )


def _alter_incrementally(
    asked: Asked, request: incremental.IncrementalAlterConfigsRequest
) -> Answer:
    request.resources, refused = split(
        request.resources, lambda one: _may(asked, Operation.ALTER_CONFIGS, one)
    )
    told = [
        incremental.AlterConfigsResourceResponse(
            error_code=_code(one),
            error_message=_MESSAGES[_code(one)],
            resource_type=one.resource_type,
            resource_name=one.resource_name,
        )
        for one in refused
    ]
    response = incremental.IncrementalAlterConfigsResponse
    return asked.answer_rest(request, request.resources, response, "responses", told)


GUARDS = {32: _describe, 33: _alter, 44: _alter_incrementally}
