"""Which topics the members of a group read, as far as the group tells.

The metadata of a member is the clients' own affair; only the protocol type "consumer" promises a
format, whose first version prefixes all later ones.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.error import ProtocolError
from penstock.protocol.codec import decode
from penstock.protocol.messages.records.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
)

CONSUMER_PROTOCOL_TYPE = "consumer"

_VERSION_BYTES = 2


def subscribed_topics(metadata: Iterable[bytes]) -> frozenset[str] | None:
    """None when one member's metadata cannot be read: then nothing is known."""
    topics: set[str] = set()
    try:
        for data in metadata:
            subscription, _ = decode(ConsumerProtocolSubscription, 0, data, _VERSION_BYTES)
            topics.update(subscription.topics)
    except ProtocolError:
        return None
    return frozenset(topics)
