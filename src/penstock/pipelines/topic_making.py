"""Making the topics that a pipeline needs, and waiting until clients can use them."""

from __future__ import annotations

import time
from collections.abc import Mapping

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

TIMEOUT_S = 15.0


def ensure_topic(
    client: AdminClient,
    topic: str,
    partitions: int = -1,
    *,
    compacted: bool = False,
    config: Mapping[str, str] | None = None,
    timeout_s: float = TIMEOUT_S,
) -> bool:
    """Make the topic unless it is there (-1: with the broker's defaults); whether it was made."""
    own = {"cleanup.policy": "compact"} if compacted else {}
    own |= config or {}
    new = NewTopic(topic, num_partitions=partitions, replication_factor=-1, config=own)
    future = client.create_topics([new], request_timeout=timeout_s)[topic]
    try:
        future.result()
    except KafkaException as error:
        if error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:
            return False
        raise
    wait_known(client, topic, partitions, timeout_s)
    return True


def wait_known(
    client: AdminClient, topic: str, partitions: int = -1, timeout_s: float = TIMEOUT_S
) -> int:
    """A controller answers before its brokers know of a change; how many partitions they know."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        found = client.list_topics(topic, timeout=timeout_s).topics[topic].partitions
        if len(found) >= max(1, partitions) and all(one.leader >= 0 for one in found.values()):
            return len(found)
        time.sleep(0.05)
    raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"{topic} has no leader yet"))
