"""Brokers coming and going: registration, unfencing, fencing, leaving for good.

A registered broker is fenced until it has caught up; what it may lead is settled as it is let in.
"""

from __future__ import annotations

from collections.abc import Collection

from penstock.controller.broker_change import (
    check_epoch,
    cordon,
    fence,
    stop_cleanly,
    stop_uncleanly,
    unfence,
)
from penstock.controller.config import ControllerContext
from penstock.controller.outcome import Outcome, conclude
from penstock.controller.registration_check import check_registration
from penstock.metadata.broker import BrokerImage
from penstock.metadata.record import MetadataRecord
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from penstock.protocol.messages.records.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from penstock.protocol.messages.records.unregister_broker_record import UnregisterBrokerRecord
from penstock.protocol.messages.unregister_broker import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)

_PREVIOUS_EPOCH_FROM = 3
"""Earlier versions cannot say how the broker stopped, so that none of its stops counts as clean."""


def decide_register_broker(
    context: ControllerContext,
    request: BrokerRegistrationRequest,
    version: int | None = None,
    now_ms: int = 0,
) -> Outcome[BrokerRegistrationResponse]:
    """`version` is that of the request. Without it a node registers its own broker in a cluster of
    one: it has no session, and has settled itself what its last life left behind."""
    existing = context.image.brokers.get(request.broker_id)
    check_registration(context, request, existing, now_ms)
    record = _registration(request)
    records: list[MetadataRecord] = []
    is_same_life = existing is not None and existing.incarnation_id == request.incarnation_id
    if existing is not None and is_same_life:
        record.broker_epoch = existing.epoch
        record.fenced = existing.fenced
        record.in_controlled_shutdown = existing.in_controlled_shutdown
        if existing.cordoned_log_dirs is not None:
            record.cordoned_log_dirs = list(existing.cordoned_log_dirs)
    else:
        record.broker_epoch = _next_epoch(context)
        if version is not None:
            records = _end_last_life(context, request, existing, version)
    # Last, since a reader may see part of a batch: out of the in-sync sets before the new life.
    records.append(record)
    response = BrokerRegistrationResponse(broker_epoch=record.broker_epoch)
    outcome = conclude(context.config, records, response)
    if version is None:
        return outcome
    sessions = context.sessions
    begin = sessions.note_contact if is_same_life else sessions.begin
    return outcome._replace(adopt=lambda: begin(request.broker_id, now_ms))


def _end_last_life(
    context: ControllerContext,
    request: BrokerRegistrationRequest,
    existing: BrokerImage | None,
    version: int,
) -> list[MetadataRecord]:
    is_clean = (
        existing is not None
        and version >= _PREVIOUS_EPOCH_FROM
        and request.previous_broker_epoch == existing.epoch
    )
    if is_clean:
        return stop_cleanly(context, request.broker_id, request.log_dirs)
    return stop_uncleanly(context, request.broker_id)


def _next_epoch(context: ControllerContext) -> int:
    """The offset the record will have or little less: it grows, and no other broker gets it."""
    taken = [broker.epoch for broker in context.image.brokers.values()]
    return max(context.image.next_offset, max(taken, default=-1) + 1)


def _registration(request: BrokerRegistrationRequest) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=request.broker_id,
        incarnation_id=request.incarnation_id,
        end_points=[
            BrokerEndpoint(
                name=one.name,
                host=one.host,
                port=one.port,
                security_protocol=one.security_protocol,
            )
            for one in request.listeners
        ],
        features=[
            BrokerFeature(
                name=one.name,
                min_supported_version=one.min_supported_version,
                max_supported_version=one.max_supported_version,
            )
            for one in request.features
        ],
        rack=request.rack,
        log_dirs=request.log_dirs,
    )


def decide_unfence_broker(
    context: ControllerContext, broker_id: int, broker_epoch: int
) -> Outcome[None]:
    broker = check_epoch(context, broker_id, broker_epoch)
    return conclude(context.config, unfence(context, broker) if broker.fenced else [], None)


def decide_cordon(
    context: ControllerContext, broker_id: int, broker_epoch: int, directories: Collection[bytes]
) -> Outcome[None]:
    """Of a node that is its own cluster: others say it in their heartbeats."""
    broker = check_epoch(context, broker_id, broker_epoch)
    return conclude(context.config, cordon(context, broker, directories), None)


def decide_fence_broker(
    context: ControllerContext, broker_id: int, broker_epoch: int
) -> Outcome[None]:
    """At once, of a broker whose process is known to be gone: it need not be waited for, and its
    next life may register as soon as it likes."""
    broker = check_epoch(context, broker_id, broker_epoch)
    outcome = conclude(context.config, [] if broker.fenced else fence(context, broker), None)
    return outcome._replace(adopt=lambda: context.sessions.end(broker_id))


def decide_unregister_broker(
    context: ControllerContext, request: UnregisterBrokerRequest
) -> Outcome[UnregisterBrokerResponse]:
    """Of one that is gone. Kafka unregisters a running one too, and is then without it for good."""
    broker = context.image.brokers.get(request.broker_id)
    if broker is None:
        raise ApiError(
            ErrorCode.BROKER_ID_NOT_REGISTERED,
            f"Broker ID {request.broker_id} is not currently registered",
        )
    if not broker.fenced:
        raise ApiError(
            ErrorCode.INVALID_REQUEST, f"Broker ID {broker.id} is running: stop it first"
        )
    records = stop_uncleanly(context, broker.id)
    records.append(UnregisterBrokerRecord(broker_id=broker.id, broker_epoch=broker.epoch))
    outcome = conclude(context.config, records, UnregisterBrokerResponse())
    return outcome._replace(adopt=lambda: context.sessions.forget(broker.id))
