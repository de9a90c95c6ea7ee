"""AlterConfigs and IncrementalAlterConfigs: settings of a broker are for that broker to be asked.

What this one may not take is refused here; the controller decides on the rest, wherever it is. It
cannot tell, of a request that was sent on, which broker was asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from penstock.controller.config_resource import check_receiver
from penstock.handlers.api import controller_request
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.metadata.config import ConfigResource
from penstock.model.error import ApiError
from penstock.protocol.messages import alter_configs as legacy
from penstock.protocol.messages import incremental_alter_configs as incremental

Request = legacy.AlterConfigsRequest | incremental.IncrementalAlterConfigsRequest
Resource = legacy.AlterConfigsResource | incremental.AlterConfigsResource
Response = legacy.AlterConfigsResponse | incremental.IncrementalAlterConfigsResponse
Result = legacy.AlterConfigsResourceResponse | incremental.AlterConfigsResourceResponse


def handle(broker: Broker, request: Request, call: Call) -> Answer:
    on_controller = call.client.listener in broker.controller_listeners
    refused = {} if on_controller or broker.controller.is_active else _refused(broker, request)
    if not refused:
        return controller_request.handle(broker, request, call)
    return _split(broker, request, call, refused)


async def _split(
    broker: Broker, request: Request, call: Call, refused: dict[int, Result]
) -> Response:
    asked: list[Any] = list(request.resources)
    request.resources = [each for index, each in enumerate(asked) if index not in refused]
    response: Response = (
        incremental.IncrementalAlterConfigsResponse()
        if isinstance(request, incremental.IncrementalAlterConfigsRequest)
        else legacy.AlterConfigsResponse()
    )
    if request.resources:
        response = await broker.controller.ask(request, call)
    decided: Iterator[Any] = iter(response.responses)
    merged: list[Any] = [refused.get(index) or next(decided) for index in range(len(asked))]
    response.responses = merged
    return response


def _refused(broker: Broker, request: Request) -> dict[int, Result]:
    """By their place in the request."""
    kind = (
        incremental.AlterConfigsResourceResponse
        if isinstance(request, incremental.IncrementalAlterConfigsRequest)
        else legacy.AlterConfigsResourceResponse
    )
    refused: dict[int, Result] = {}
    resources: Sequence[Resource] = request.resources
    for index, each in enumerate(resources):
        try:
            check_receiver(ConfigResource(each.resource_type, each.resource_name), broker.node_id)
        except ApiError as error:
            refused[index] = kind(
                error_code=error.code,
                error_message=error.message,
                resource_type=each.resource_type,
                resource_name=each.resource_name,
            )
    return refused
