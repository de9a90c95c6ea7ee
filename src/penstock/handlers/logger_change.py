"""Levels of this broker's loggers: changed here, at once, and never written to the metadata log."""

from __future__ import annotations

from penstock.controller.config_change import Operation
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
)
from penstock.telemetry.level import LEVELS, ROOT_LOGGER, has_logger, set_level


def check_own_id(name: str, node_id: int) -> None:
    """ApiError unless the loggers asked for are those of this broker."""
    if not name:
        raise _invalid("Broker id must not be empty")
    try:
        asked = int(name)
    except ValueError:
        raise _invalid(f"Node id must be an integer, but it is: {name}") from None
    if asked != node_id:
        raise _invalid(f"Unexpected broker id, expected {node_id}, but received {name}")


def change_levels(resource: AlterConfigsResource, node_id: int, *, validate_only: bool) -> None:
    """All of them or none."""
    check_own_id(resource.resource_name, node_id)
    for config in resource.configs:
        _check(config)
    if validate_only:
        return
    for config in resource.configs:
        is_set = config.config_operation == Operation.SET
        set_level(config.name, config.value if is_set else None)


def _check(config: AlterableConfig) -> None:
    name, operation = config.name, config.config_operation
    if operation not in (Operation.SET, Operation.DELETE):
        words = Operation(operation).name if operation in set(Operation) else operation
        raise _invalid(f"{words} operation is not allowed for the BROKER_LOGGER resource")
    if not has_logger(name):
        raise ApiError(ErrorCode.INVALID_CONFIG, f"Logger {name} does not exist!")
    if operation == Operation.DELETE:
        if name == ROOT_LOGGER:
            raise _invalid("Removing the log level of the root logger is not allowed")
    elif config.value not in LEVELS:
        raise ApiError(
            ErrorCode.INVALID_CONFIG,
            f"Cannot set the log level of {name} to {config.value} as it is not a supported log "
            f"level. Valid log levels are {', '.join(LEVELS)}",
        )


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
