"""Who may register as a broker, in the order in which Kafka finds fault."""

from __future__ import annotations

from penstock.controller.config import ControllerContext
from penstock.metadata.broker import BrokerImage
from penstock.metadata.version import METADATA_VERSION
from penstock.model.error import ApiError, ErrorCode
from penstock.model.id import id_to_str
from penstock.protocol.messages.broker_registration import BrokerRegistrationRequest

_RESERVED_DIRECTORIES = 100
_KRAFT_VERSION = "kraft.version"


def check_registration(
    context: ControllerContext,
    request: BrokerRegistrationRequest,
    existing: BrokerImage | None,
    now_ms: int,
) -> None:
    _check_cluster(context, request)
    if (
        existing is not None
        and existing.incarnation_id != request.incarnation_id
        and context.sessions.is_live(existing.id, now_ms)
    ):
        raise ApiError(
            ErrorCode.DUPLICATE_BROKER_REGISTRATION,
            "Another broker is registered with that broker id. If it was this one before it was "
            "started again, its session has to end first.",
        )
    if request.is_migrating_zk_broker:
        raise ApiError(
            ErrorCode.BROKER_ID_NOT_REGISTERED, "Brokers of a ZooKeeper cluster do not register."
        )
    _check_directories(context, request)
    _check_features(context, request)


def _check_cluster(context: ControllerContext, request: BrokerRegistrationRequest) -> None:
    expected = context.config.cluster_id
    if expected is not None and request.cluster_id != expected:
        raise ApiError(
            ErrorCode.INCONSISTENT_CLUSTER_ID,
            f"Expected cluster ID {expected}, but got cluster ID {request.cluster_id}",
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
    if METADATA_VERSION not in ranges:
        raise _invalid(f"The broker does not say which levels of {METADATA_VERSION} it supports")
    levels = {**dict.fromkeys(ranges, 0), **context.image.features}
    if context.quorum.kraft_version:
        levels[_KRAFT_VERSION] = context.quorum.kraft_version
    for name, level in levels.items():
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
