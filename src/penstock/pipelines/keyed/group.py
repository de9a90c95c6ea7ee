"""The consumer group that a transaction's source offsets are committed for.

Lanes are no members: the group's one member is the run itself, in the driver. A commit without a
member is allowed in a transaction, which is fenced by its producer instead.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer

from penstock.pipelines.kafka import consumer_settings

_known: dict[tuple[str, str], tuple[Consumer, Any]] = {}
_lock = threading.Lock()


def group_metadata(client: Mapping[str, Any], group: str) -> Any:
    """What `send_offsets_to_transaction` wants to know of the group."""
    # Only a consumer can be asked for it, and it must live as long as the answer is used.
    key = (str(client.get("bootstrap.servers")), group)
    with _lock:
        if key not in _known:
            consumer = Consumer(consumer_settings(client, group))
            # Without a member it never changes, and each question waits for the client's thread.
            _known[key] = consumer, consumer.consumer_group_metadata()
        return _known[key][1]
