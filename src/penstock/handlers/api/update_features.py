"""UpdateFeatures: levels are the controller's to change, `kraft.version` is the quorum's.

The quorum keeps its version in a control record of its own, and the controller only looks whether
every node can go along. Nothing is changed where one of the features cannot be.
"""

from __future__ import annotations

from copy import copy

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.metadata.release import KRAFT_VERSION
from penstock.model.error import ErrorCode
from penstock.protocol.messages.update_features import (
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)


def handle(broker: Broker, request: UpdateFeaturesRequest, call: Call) -> Answer:
    controller = broker.controller
    if not controller.is_active and call.client.listener not in broker.controller_listeners:
        return controller.forward(request, call)
    for update in request.feature_updates:
        if update.feature == KRAFT_VERSION and not request.validate_only:
            return _with_kraft_version(broker, request, call, update.max_version_level)
    return controller.ask_active(request, call)


async def _with_kraft_version(
    broker: Broker, request: UpdateFeaturesRequest, call: Call, level: int
) -> UpdateFeaturesResponse:
    looked = copy(request)
    looked.validate_only = True
    response: UpdateFeaturesResponse = await broker.controller.ask_active(looked, call)
    if response.error_code:
        return response
    answer = await broker.quorum.upgrade_kraft_version(level)
    if answer.error == ErrorCode.NOT_LEADER_OR_FOLLOWER:
        return UpdateFeaturesResponse(error_code=ErrorCode.NOT_CONTROLLER)
    if answer.error is not ErrorCode.NONE:
        message = (
            "The update failed for all features since the following feature had an error: "
            f"Invalid update version {level} for feature {KRAFT_VERSION}. {answer.message or ''}"
        )
        return UpdateFeaturesResponse(error_code=answer.error, error_message=message.rstrip())
    changed: UpdateFeaturesResponse = await broker.controller.ask_active(request, call)
    return changed
