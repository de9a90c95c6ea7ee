"""Which resources settings can be put on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from penstock.controller.config import ELIGIBLE_LEADERS
from penstock.controller.topic_name import check_topic_name
from penstock.metadata.config import ConfigResource, ResourceType
from penstock.metadata.image import ClusterImage
from penstock.metadata.record import MetadataRecord
from penstock.metadata.version import CORDONED_DIRECTORIES_LEVEL, METADATA_VERSION
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.records.clear_elr_record import ClearElrRecord
from penstock.settings.cordon import CORDONED

_MIN_ISR: Final = "min.insync.replicas"

_STORED: Final = frozenset(
    (ResourceType.TOPIC, ResourceType.BROKER, ResourceType.CLIENT_METRICS, ResourceType.GROUP)
)
"""Log levels of a broker live in that process alone and are never written."""


def check_receiver(resource: ConfigResource, receiver_id: int | None) -> None:
    """A broker checks settings for itself only: it cannot know what another one could bear."""
    if resource.type not in _STORED:
        raise _invalid(f"Unknown resource type {resource.type}")
    if resource.type != ResourceType.BROKER or not resource.name or receiver_id is None:
        return
    try:
        broker_id = int(resource.name)
    except ValueError:
        raise _invalid(f"Node id must be an integer, but it is: {resource.name}") from None
    if broker_id != receiver_id:
        raise _invalid(f"Unexpected broker id, expected {receiver_id}, but received {broker_id}")


def check_name(resource: ConfigResource) -> None:
    if resource.type == ResourceType.TOPIC:
        if not resource.name:
            raise _invalid("Default topic resources are not allowed.")
        check_topic_name(resource.name)
    elif resource.type == ResourceType.BROKER:
        _check_broker_name(resource.name)
    elif resource.type == ResourceType.GROUP and not resource.name:
        raise _invalid("Default group resources are not allowed.")
    elif resource.type == ResourceType.CLIENT_METRICS and not resource.name:
        raise _invalid("Subscription name can't be empty")


def _check_broker_name(name: str) -> None:
    if not name:
        return
    try:
        broker_id = int(name)
    except ValueError:
        raise _invalid("Unable to parse broker name as a base 10 number.") from None
    if broker_id < 0:
        raise _invalid("Invalid negative broker ID.")


def check_eligible_leaders(
    image: ClusterImage, resource: ConfigResource, changes: Mapping[str, str | None]
) -> None:
    """Where eligible leaders are kept (KIP-966), the whole cluster has one min.insync.replicas."""
    if _MIN_ISR not in changes or not image.features.get(ELIGIBLE_LEADERS):
        return
    if resource.name:
        raise ApiError(
            ErrorCode.INVALID_CONFIG,
            f"Broker-level {_MIN_ISR} cannot be altered while ELR is enabled.",
        )
    if changes[_MIN_ISR] is None:
        raise ApiError(
            ErrorCode.INVALID_CONFIG,
            f"Cluster-level {_MIN_ISR} cannot be removed while ELR is enabled.",
        )


def check_cordoning(
    image: ClusterImage, resource: ConfigResource, changes: Mapping[str, str | None]
) -> None:
    """Below a level of metadata nobody could keep what brokers say of it (KIP-1066)."""
    level = image.features.get(METADATA_VERSION, 0)
    if CORDONED in changes and level < CORDONED_DIRECTORIES_LEVEL:
        raise ApiError(
            ErrorCode.INVALID_CONFIG,
            f"The {CORDONED} configuration value cannot be set because it requires "
            f"{METADATA_VERSION} >= 4.3-IV0",
        )


def eligible_leaders_cleared(
    image: ClusterImage, resource: ConfigResource, changes: Mapping[str, str | None]
) -> list[MetadataRecord]:
    """Who is eligible was judged by what was enough before; the same value again counts too, since
    a broker may have gone by another meanwhile."""
    if _MIN_ISR not in changes or not image.features.get(ELIGIBLE_LEADERS):
        return []
    if resource.type == ResourceType.TOPIC:
        return [ClearElrRecord(topic_name=resource.name)]
    return [ClearElrRecord()] if resource == (ResourceType.BROKER, "") else []


def check_exists(image: ClusterImage, resource: ConfigResource) -> None:
    if resource.type == ResourceType.TOPIC and resource.name not in image.topics:
        raise ApiError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{resource.name}' does not exist."
        )
    if resource.type == ResourceType.BROKER and resource.name:
        broker_id = int(resource.name)
        if broker_id not in image.brokers:
            raise ApiError(
                ErrorCode.BROKER_ID_NOT_REGISTERED, f"No broker with id {broker_id} found."
            )


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
