"""Brokers coming and going: registration, unfencing, fencing.

A registered broker is fenced until it has caught up; what it may lead is settled as it is let in.
"""

from __future__ import annotations

from penstock.controller.config import ControllerContext
from penstock.controller.election import elect_leader, min_isr, retire_replica
from penstock.controller.outcome import Outcome, conclude
from penstock.metadata.broker import BrokerImage
from penstock.metadata.partition import NO_LEADER
from penstock.metadata.record import MetadataRecord
from penstock.model.error import ApiError, ErrorCode
from penstock.model.id import id_to_str
from penstock.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from penstock.protocol.messages.records.broker_registration_change_record import (
    BrokerRegistrationChangeRecord,
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

_RESERVED_DIRECTORIES = 100
_UNFENCE, _FENCE = -1, 1


def decide_register_broker(
    context: ControllerContext, request: BrokerRegistrationRequest
) -> Outcome[BrokerRegistrationResponse]:
    _check_directories(context, request)
    _check_features(context, request)
    existing = context.image.brokers.get(request.broker_id)
    is_same_life = existing is not None and existing.incarnation_id == request.incarnation_id
    record = _registration(request)
    if existing is not None and is_same_life:
        record.broker_epoch = existing.epoch
        record.fenced = existing.fenced
        record.in_controlled_shutdown = existing.in_controlled_shutdown
    else:
        record.broker_epoch = _next_epoch(context)
    response = BrokerRegistrationResponse(broker_epoch=record.broker_epoch)
    return conclude(context.config, [record], response)


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


def _check_directories(context: ControllerContext, request: BrokerRegistrationRequest) -> None:
    directories = request.log_dirs
    if not directories:
        raise _invalid("No directories specified in request")
    if any(int.from_bytes(one, "big") < _RESERVED_DIRECTORIES for one in directories):
        raise _invalid("Reserved directory ID in request")
    if len(set(directories)) != len(directories):
        raise _invalid("Duplicate directory ID in request")
    for broker in context.image.brokers.values():
        taken = set(broker.log_dirs).intersection(directories)
        if broker.id != request.broker_id and taken:
            raise _invalid(
                f"Broker {broker.id} is already registered with directory {id_to_str(min(taken))}"
            )


def _check_features(context: ControllerContext, request: BrokerRegistrationRequest) -> None:
    ranges = {
        one.name: (one.min_supported_version, one.max_supported_version) for one in request.features
    }
    for name, level in context.image.features.items():
        low, high = ranges.get(name, (0, 0))
        if not low <= level <= high:
            raise ApiError(
                ErrorCode.UNSUPPORTED_VERSION,
                f"Unable to register because the broker does not support finalized version "
                f"{level} of {name}. The broker wants a version between {low} and {high}, "
                "inclusive.",
            )


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REGISTRATION, message)


def decide_unfence_broker(
    context: ControllerContext, broker_id: int, broker_epoch: int
) -> Outcome[None]:
    """Partitions that stand without a leader, and that the broker may lead, get it."""
    broker = check_epoch(context, broker_id, broker_epoch)
    if broker.is_active:
        return conclude(context.config, [], None)
    records: list[MetadataRecord] = [
        BrokerRegistrationChangeRecord(
            broker_id=broker_id, broker_epoch=broker_epoch, fenced=_UNFENCE
        )
    ]
    active = {broker_id, *(one.id for one in context.image.active_brokers)}
    for topic in context.image.topics:
        for index, partition in topic.partitions.items():
            if partition.leader == NO_LEADER and broker_id in partition.replicas:
                enough = min_isr(context, topic.name, partition)
                change = elect_leader(topic.id, index, partition, None, active, enough)
                records += [change] if change is not None else []
    return conclude(context.config, records, None)


def decide_fence_broker(
    context: ControllerContext, broker_id: int, broker_epoch: int
) -> Outcome[None]:
    """What the broker led goes to another in-sync replica, or waits for it as an eligible one."""
    broker = check_epoch(context, broker_id, broker_epoch)
    if broker.fenced:
        return conclude(context.config, [], None)
    records = _retirements(context, broker_id)
    records.append(
        BrokerRegistrationChangeRecord(
            broker_id=broker_id, broker_epoch=broker_epoch, fenced=_FENCE
        )
    )
    return conclude(context.config, records, None)


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
    if broker.is_active:
        raise ApiError(
            ErrorCode.INVALID_REQUEST, f"Broker ID {broker.id} is running: stop it first"
        )
    records = _retirements(context, broker.id)
    records.append(UnregisterBrokerRecord(broker_id=broker.id, broker_epoch=broker.epoch))
    return conclude(context.config, records, UnregisterBrokerResponse())


def _retirements(context: ControllerContext, broker_id: int) -> list[MetadataRecord]:
    """Every partition that the broker led or was in sync with."""
    active = {one.id for one in context.image.active_brokers if one.id != broker_id}
    return [
        retire_replica(
            topic.id, index, partition, broker_id, active, min_isr(context, topic.name, partition)
        )
        for topic in context.image.topics
        for index, partition in topic.partitions.items()
        if broker_id in partition.isr or partition.leader == broker_id
    ]


def check_epoch(context: ControllerContext, broker_id: int, broker_epoch: int) -> BrokerImage:
    broker = context.image.brokers.get(broker_id)
    if broker is None:
        raise ApiError(
            ErrorCode.STALE_BROKER_EPOCH, f"No broker registration found for broker id {broker_id}"
        )
    if broker.epoch != broker_epoch:
        raise ApiError(
            ErrorCode.STALE_BROKER_EPOCH,
            f"Expected broker epoch {broker.epoch}, but got broker epoch {broker_epoch}",
        )
    return broker
