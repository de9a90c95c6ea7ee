"""AlterConfigs and IncrementalAlterConfigs: settings of a broker are for that broker to be asked.

What this one may not take is refused here, and levels of its loggers are changed here; the
controller decides on the rest, wherever it is. It cannot tell, of a request that was sent on, which
broker was asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from penstock.controller.config_resource import check_receiver
from penstock.handlers.api import controller_request
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.cordon_change import check_cordon
from penstock.handlers.logger_change import change_levels
from penstock.handlers.security_change import check_security
from penstock.metadata.config import ConfigResource, ResourceType
from penstock.model.error import ApiError, StorageError
from penstock.protocol.messages import alter_configs as legacy
from penstock.protocol.messages import incremental_alter_configs as incremental

Request = legacy.AlterConfigsRequest | incremental.IncrementalAlterConfigsRequest
Resource = legacy.AlterConfigsResource | incremental.AlterConfigsResource
Response = legacy.AlterConfigsResponse | incremental.IncrementalAlterConfigsResponse
Result = legacy.AlterConfigsResourceResponse | incremental.AlterConfigsResourceResponse


def handle(broker: Broker, request: Request, call: Call) -> Answer:
    on_controller = call.client.listener in broker.controller_listeners
    settled = {} if on_controller else _settled(broker, request)
    if not settled:
        return controller_request.handle(broker, request, call)
    return _split(broker, request, call, settled)


async def _split(
    broker: Broker, request: Request, call: Call, settled: dict[int, Result]
) -> Response:
    asked: list[Any] = list(request.resources)
    request.resources = [each for index, each in enumerate(asked) if index not in settled]
    response: Response = (
        incremental.IncrementalAlterConfigsResponse()
        if isinstance(request, incremental.IncrementalAlterConfigsRequest)
        else legacy.AlterConfigsResponse()
    )
    if request.resources:
        response = await _ask(broker, request, call)
    decided: Iterator[Any] = iter(response.responses)
    merged: list[Any] = [settled.get(index) or next(decided) for index in range(len(asked))]
    response.responses = merged
    return response


async def _ask(broker: Broker, request: Request, call: Call) -> Response:
    """What is refused as a whole is refused one by one: clients look for each that they named."""
    try:
        response: Response = await broker.controller.ask(request, call)
    except (ApiError, StorageError) as error:
        from penstock.handlers.refusal import refuse  # seldom needed

        assert request.API_KEY is not None
        return cast(Response, refuse(request.API_KEY, call.version, request, error))
    return response


def _settled(broker: Broker, request: Request) -> dict[int, Result]:
    """By their place in the request: what needs no controller."""
    kind = (
        incremental.AlterConfigsResourceResponse
        if isinstance(request, incremental.IncrementalAlterConfigsRequest)
        else legacy.AlterConfigsResourceResponse
    )
    settled: dict[int, Result] = {}
    resources: Sequence[Resource] = request.resources
    for index, each in enumerate(resources):
        result = kind(
            error_message=None, resource_type=each.resource_type, resource_name=each.resource_name
        )
        try:
            is_settled = _settle(broker, each, request.validate_only)
        except ApiError as error:
            is_settled = True
            result.error_code, result.error_message = error.code, error.message
        if is_settled:
            settled[index] = result
    return settled


def _settle(broker: Broker, resource: Resource, validate_only: bool) -> bool:
    """Whether nothing is left for the controller. ApiError if it is refused."""
    named = ConfigResource(resource.resource_type, resource.resource_name)
    if named.type == ResourceType.BROKER_LOGGER and isinstance(
        resource, incremental.AlterConfigsResource
    ):
        change_levels(resource, broker.node_id, validate_only=validate_only)
        return True
    check_receiver(named, broker.node_id)
    if named.type == ResourceType.BROKER and named.name:
        check_security(broker, resource)
        check_cordon(broker, resource)
    return False
