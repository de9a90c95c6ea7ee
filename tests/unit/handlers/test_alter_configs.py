"""Settings of which some are decided here and some by a controller that does not answer."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from penstock.handlers.api import alter_configs
from penstock.handlers.broker import Broker
from penstock.handlers.call import Call, ClientState
from penstock.metadata.config import ResourceType
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)


def resource(kind: ResourceType, name: str, key: str, value: str) -> AlterConfigsResource:
    change = AlterableConfig(name=key, config_operation=0, value=value)
    return AlterConfigsResource(resource_type=kind, resource_name=name, configs=[change])


def test_each_is_answered_where_the_controller_is_away() -> None:
    async def ask(request: Any, call: Call) -> Any:
        raise ApiError(ErrorCode.REQUEST_TIMED_OUT, "no controller is known")

    broker = SimpleNamespace(
        node_id=1, controller_listeners=frozenset(), controller=SimpleNamespace(ask=ask)
    )
    request = IncrementalAlterConfigsRequest(
        resources=[
            resource(ResourceType.TOPIC, "t", "retention.ms", "1000"),
            resource(ResourceType.BROKER_LOGGER, "1", "no.such.logger", "INFO"),
        ]
    )
    call = Call(ClientState("127.0.0.1:1"), 1)
    answer: Any = alter_configs.handle(cast(Broker, broker), request, call)
    told = asyncio.run(answer).responses
    assert [(one.resource_type, one.resource_name, one.error_code) for one in told] == [
        (ResourceType.TOPIC, "t", ErrorCode.REQUEST_TIMED_OUT),
        (ResourceType.BROKER_LOGGER, "1", ErrorCode.INVALID_CONFIG),
    ]
