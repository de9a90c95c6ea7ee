"""ControllerRegistration: a controller says where it listens and which feature levels it knows."""

from __future__ import annotations

from penstock.controller.config import ControllerContext
from penstock.controller.outcome import Outcome, conclude
from penstock.protocol.messages.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)
from penstock.protocol.messages.records.register_controller_record import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)


def decide_register_controller(
    context: ControllerContext, request: ControllerRegistrationRequest
) -> Outcome[ControllerRegistrationResponse]:
    record = RegisterControllerRecord(
        controller_id=request.controller_id,
        incarnation_id=request.incarnation_id,
        end_points=[
            ControllerEndpoint(
                name=one.name,
                host=one.host,
                port=one.port,
                security_protocol=one.security_protocol,
            )
            for one in request.listeners
        ],
        features=[
            ControllerFeature(
                name=one.name,
                min_supported_version=one.min_supported_version,
                max_supported_version=one.max_supported_version,
            )
            for one in request.features
        ],
    )
    response = ControllerRegistrationResponse(error_message=None)
    return conclude(context.config, [record], response)
