"""What one request did to one resource, for the record.

Names, numbers and settings; never a key, a value or a secret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from penstock.metadata.image import ClusterImage
from penstock.model.error import ErrorCode
from penstock.model.id import TopicId

TOPIC: Final = "TOPIC"
GROUP: Final = "GROUP"
CLUSTER: Final = "CLUSTER"
TRANSACTIONAL_ID: Final = "TRANSACTIONAL_ID"
LISTENER: Final = "LISTENER"
USER: Final = "USER"

CLUSTER_NAME: Final = "kafka-cluster"

REFUSED: Final = frozenset(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
        ErrorCode.SASL_AUTHENTICATION_FAILED,
    }
)

Values = Mapping[str, Any]


class Access(NamedTuple):
    """Reading and writing: counted, and summed over a while."""

    operation: str
    resource_type: str
    resource: str
    error: int = 0
    records: int = 0
    bytes: int = 0


class Change(NamedTuple):
    """Of the cluster: each is a line of its own."""

    operation: str
    resource_type: str
    resource: str
    error: int = 0
    before: Values | None = None
    after: Values | None = None


Entry = Access | Change
Read = Callable[[Any], Iterable[Entry]]
"""What was done, by the answer: a response, None where none is sent, or an ErrorCode in its
place."""


def outcome(error: int) -> str:
    if not error:
        return "allowed"
    return "refused" if error in REFUSED else "failed"


def error_name(error: int) -> str | None:
    """Kafka's name of it."""
    if not error:
        return None
    try:
        return ErrorCode(error).name
    except ValueError:
        return str(error)


def topic_name(image: ClusterImage, name: str | None, topic_id: TopicId) -> str:
    """Newer requests say the id alone."""
    if name:
        return name
    topic = image.topics.get_by_id(topic_id)
    return str(topic_id) if topic is None else topic.name
