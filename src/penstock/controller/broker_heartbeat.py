"""BrokerHeartbeat: a broker says that it lives and what it wants; it hears what it may do.

A broker is fenced, at work, or on its way out in a controlled shutdown; each heartbeat may take it
one step further.
"""

from __future__ import annotations

from enum import Enum

from penstock.controller.broker_change import (
    begin_shutdown,
    check_epoch,
    cordon,
    fence,
    lose_directories,
    unfence,
)
from penstock.controller.config import ControllerContext
from penstock.controller.outcome import Outcome, conclude
from penstock.metadata.broker import BrokerImage
from penstock.metadata.record import MetadataRecord
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.broker_heartbeat import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
)


class BrokerState(Enum):
    FENCED = "fenced"
    UNFENCED = "unfenced"
    CONTROLLED_SHUTDOWN = "controlled shutdown"
    SHUT_DOWN_NOW = "shut down now"


_FENCED_STATES = (BrokerState.FENCED, BrokerState.SHUT_DOWN_NOW)


def decide_heartbeat(
    context: ControllerContext,
    request: BrokerHeartbeatRequest,
    now_ms: int,
    received_ms: int | None = None,
) -> Outcome[BrokerHeartbeatResponse]:
    """One that waited for long says only that the broker lived then: its wishes may be outdated."""
    broker = check_epoch(context, request.broker_id, request.broker_epoch)
    if received_ms is not None and _is_outdated(context, now_ms - received_ms):
        context.sessions.note_contact(broker.id, received_ms)
        raise ApiError(ErrorCode.REQUEST_TIMED_OUT, "The controller was busy for too long.")
    state = _state_of(broker)
    lost = [one for one in request.offline_log_dirs if one in broker.log_dirs]
    if lost and len(lost) == len(broker.log_dirs):
        after = BrokerState.SHUT_DOWN_NOW if request.want_shut_down else BrokerState.FENCED
        records = _enter(context, broker, state, after)
    elif lost:
        # One thing at a time: nobody is let in, or leads, on a directory that has just gone.
        after, records = state, lose_directories(context, broker, lost)
    else:
        after = _next_state(context, broker, state, request)
        records = _enter(context, broker, state, after)
    # Not said until the broker has caught up: it does not know its settings before.
    if request.cordoned_log_dirs is not None:
        records += cordon(context, broker, request.cordoned_log_dirs)
    reply = BrokerHeartbeatResponse(
        is_caught_up=context.sessions.is_caught_up(broker.id, request.current_metadata_offset),
        is_fenced=after in _FENCED_STATES,
        should_shut_down=after == BrokerState.SHUT_DOWN_NOW,
    )
    outcome = conclude(context.config, records, reply)
    return outcome._replace(adopt=lambda: _adopt(context, request, after, now_ms))


def _is_outdated(context: ControllerContext, waited_ms: int) -> bool:
    return waited_ms > context.config.broker_heartbeat_interval_ms // 2


def _state_of(broker: BrokerImage) -> BrokerState:
    if broker.fenced:
        return BrokerState.FENCED
    if broker.in_controlled_shutdown:
        return BrokerState.CONTROLLED_SHUTDOWN
    return BrokerState.UNFENCED


def _next_state(
    context: ControllerContext,
    broker: BrokerImage,
    state: BrokerState,
    request: BrokerHeartbeatRequest,
) -> BrokerState:
    if state == BrokerState.FENCED:
        return _after_fenced(context, request)
    if state == BrokerState.UNFENCED:
        return _after_unfenced(context, request)
    others = [one.id for one in context.image.active_brokers if one.id != broker.id]
    is_free = not context.index.leads_any(broker.id)
    if is_free and context.sessions.may_shut_down(broker.id, others):
        return BrokerState.SHUT_DOWN_NOW
    return BrokerState.CONTROLLED_SHUTDOWN


def _after_fenced(context: ControllerContext, request: BrokerHeartbeatRequest) -> BrokerState:
    if request.want_shut_down:
        return BrokerState.SHUT_DOWN_NOW
    offset = request.current_metadata_offset
    if not request.want_fence and context.sessions.is_caught_up(request.broker_id, offset):
        return BrokerState.UNFENCED
    return BrokerState.FENCED


def _after_unfenced(context: ControllerContext, request: BrokerHeartbeatRequest) -> BrokerState:
    if request.want_fence:
        return BrokerState.SHUT_DOWN_NOW if request.want_shut_down else BrokerState.FENCED
    if not request.want_shut_down:
        return BrokerState.UNFENCED
    if context.index.leads_any(request.broker_id):
        return BrokerState.CONTROLLED_SHUTDOWN
    return BrokerState.SHUT_DOWN_NOW


def _enter(
    context: ControllerContext, broker: BrokerImage, state: BrokerState, after: BrokerState
) -> list[MetadataRecord]:
    if after == state:
        return []
    if after == BrokerState.UNFENCED:
        return unfence(context, broker)
    if after == BrokerState.CONTROLLED_SHUTDOWN:
        return begin_shutdown(context, broker)
    return [] if broker.fenced else fence(context, broker)


def _adopt(
    context: ControllerContext, request: BrokerHeartbeatRequest, after: BrokerState, now_ms: int
) -> None:
    sessions, broker_id = context.sessions, request.broker_id
    if after == BrokerState.SHUT_DOWN_NOW:
        # Its next life need not wait for the end of a session that nobody uses.
        sessions.end(broker_id)
        return
    sessions.note_contact(broker_id, now_ms)
    sessions.note_offset(broker_id, request.current_metadata_offset)
    if after == BrokerState.CONTROLLED_SHUTDOWN:
        sessions.note_shutdown(broker_id, context.image.next_offset - 1)
