"""AlterConfigs and IncrementalAlterConfigs: each resource of a request stands or falls by itself.

The older call replaces everything that is set; the newer one changes the keys it names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import TypeVar

from penstock.controller.config import ControllerContext
from penstock.controller.config_resource import (
    check_cordoning,
    check_eligible_leaders,
    check_exists,
    check_name,
    check_receiver,
    eligible_leaders_cleared,
)
from penstock.controller.outcome import Outcome, conclude
from penstock.controller.policy import check_policy
from penstock.controller.tenant import TenantLimits
from penstock.metadata.config import ConfigResource, ResourceType
from penstock.metadata.record import MetadataRecord
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages import alter_configs as legacy
from penstock.protocol.messages import incremental_alter_configs as incremental
from penstock.protocol.messages.records.config_record import ConfigRecord
from penstock.settings.broker import MADE_BY_CONTROLLER

ResourceT = TypeVar("ResourceT", legacy.AlterConfigsResource, incremental.AlterConfigsResource)
Changes = dict[str, str | None]
"""New values by key; None deletes."""


class Operation(IntEnum):
    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


def decide_incremental_alter_configs(
    context: ControllerContext,
    request: incremental.IncrementalAlterConfigsRequest,
    receiver_id: int | None,
) -> Outcome[incremental.IncrementalAlterConfigsResponse]:
    records, errors = _alter(context, request.resources, receiver_id, _incremental_changes)
    results = [
        incremental.AlterConfigsResourceResponse(
            error_code=ErrorCode.NONE if error is None else error.code,
            error_message=None if error is None else error.message,
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        )
        for resource, error in zip(request.resources, errors, strict=True)
    ]
    response = incremental.IncrementalAlterConfigsResponse(responses=results)
    return conclude(context.config, [] if request.validate_only else records, response)


def decide_alter_configs(
    context: ControllerContext, request: legacy.AlterConfigsRequest, receiver_id: int | None
) -> Outcome[legacy.AlterConfigsResponse]:
    records, errors = _alter(context, request.resources, receiver_id, _replacing_changes)
    results = [
        legacy.AlterConfigsResourceResponse(
            error_code=ErrorCode.NONE if error is None else error.code,
            error_message=None if error is None else error.message,
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        )
        for resource, error in zip(request.resources, errors, strict=True)
    ]
    response = legacy.AlterConfigsResponse(responses=results)
    return conclude(context.config, [] if request.validate_only else records, response)


def _alter(
    context: ControllerContext,
    resources: Sequence[ResourceT],
    receiver_id: int | None,
    changes_of: Callable[[ControllerContext, ResourceT, Mapping[str, str]], Changes],
) -> tuple[list[MetadataRecord], list[ApiError | None]]:
    counts = Counter((one.resource_type, one.resource_name) for one in resources)
    records: list[MetadataRecord] = []
    errors: list[ApiError | None] = []
    for asked in resources:
        resource = ConfigResource(asked.resource_type, asked.resource_name)
        try:
            if counts[resource] > 1:
                raise _invalid("Each resource must appear at most once.")
            check_receiver(resource, receiver_id)
            current = context.image.configs.of(*resource)
            changes = changes_of(context, asked, current)
            _check(context, resource, current, changes)
            records += _records(resource, current, changes)
            records += eligible_leaders_cleared(context.image, resource, changes)
            errors.append(None)
        except ApiError as error:
            errors.append(error)
    return records, errors


def _check(
    context: ControllerContext,
    resource: ConfigResource,
    current: Mapping[str, str],
    changes: Changes,
) -> None:
    check_name(resource)
    merged = {**current, **changes}
    values = {key: value for key, value in merged.items() if value is not None}
    if resource.type == ResourceType.TOPIC:
        context.schema.check_topic(values)
        TenantLimits(context).check_change(resource.name, current, values)
    elif resource.type == ResourceType.BROKER:
        # Taking away what cannot be set is no mistake.
        altered = [key for key, value in changes.items() if value is not None]
        check_eligible_leaders(context.image, resource, changes)
        check_cordoning(context.image, resource, changes)
        context.schema.check_broker(resource.name, values, altered)
    else:
        context.schema.check_other(resource.type, resource.name, values)
    check_exists(context.image, resource)
    if context.config.alter_config_policy is not None:
        kind = ResourceType(resource.type).name
        policy = context.config.alter_config_policy
        check_policy(policy, resource_type=kind, name=resource.name, configs=values)


def _records(
    resource: ConfigResource, current: Mapping[str, str], changes: Changes
) -> list[ConfigRecord]:
    """A broker's settings are written even when the same: that makes it read key files again."""
    is_broker = resource.type == ResourceType.BROKER
    return [
        ConfigRecord(
            resource_type=resource.type, resource_name=resource.name, name=key, value=value
        )
        for key, value in changes.items()
        if is_broker or current.get(key) != value
    ]


def _replacing_changes(
    _context: ControllerContext, asked: legacy.AlterConfigsResource, current: Mapping[str, str]
) -> Changes:
    _check_keys([config.name for config in asked.configs])
    _refuse_nulls([config.name for config in asked.configs if config.value is None])
    changes: Changes = {config.name: config.value for config in asked.configs}
    # What the controller has made is not shown to whoever sends the rest back.
    kept = MADE_BY_CONTROLLER.union(changes)
    changes.update((key, None) for key in current if key not in kept)
    return changes


def _incremental_changes(
    context: ControllerContext, asked: incremental.AlterConfigsResource, current: Mapping[str, str]
) -> Changes:
    _check_keys([config.name for config in asked.configs])
    _refuse_nulls(
        [
            config.name
            for config in asked.configs
            if config.value is None and config.config_operation != Operation.DELETE
        ]
    )
    return {
        config.name: _new_value(context, asked.resource_type, config, current.get(config.name))
        for config in asked.configs
    }


def _new_value(
    context: ControllerContext,
    resource_type: int,
    config: incremental.AlterableConfig,
    current: str | None,
) -> str | None:
    try:
        operation = Operation(config.config_operation)
    except ValueError:
        raise _invalid(f"Unknown operations type {config.config_operation}") from None
    if operation == Operation.DELETE:
        return None
    if operation == Operation.SET:
        return config.value
    if not context.schema.is_list(resource_type, config.name):
        raise ApiError(ErrorCode.INVALID_CONFIG, _no_list(resource_type, operation, config.name))
    if current is None:
        current = context.schema.default_of(resource_type, config.name)
    return edit_list(operation, current or "", config.value or "")


def _no_list(resource_type: int, operation: Operation, key: str) -> str:
    if resource_type == ResourceType.BROKER:
        return f"Config value {operation.name.lower()} is not allowed for config key: {key}"
    return f"Can't {operation.name} to key {key} because its type is not LIST."


def edit_list(operation: Operation, current: str, value: str) -> str:
    items = [item for item in current.split(",") if item]
    for item in value.split(","):
        if operation == Operation.SUBTRACT and item in items:
            items.remove(item)
        elif operation == Operation.APPEND and item not in items:
            items.append(item)
    return ",".join(items)


def _check_keys(names: list[str]) -> None:
    if len(set(names)) != len(names):
        raise _invalid("Error due to duplicate config keys")


def _refuse_nulls(names: list[str]) -> None:
    if names:
        raise _invalid(f"Null value not supported for : {', '.join(names)}")


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
