"""Whether a topic's records have keys, by a look at the last ones of its partitions."""

from __future__ import annotations

import time

from confluent_kafka import KafkaException, TopicPartition

from penstock.cli.cluster import Cluster, unknown_topic
from penstock.cli.failure import Failure
from penstock.cli.interrupt import check_interrupt

_PARTITIONS_MAX = 32
_RECORDS = 20
"""Of each partition."""
_WAIT_S = 5.0


def check_keys(cluster: Cluster, topic: str) -> None:
    """Fail if more partitions would part the records of a key."""
    if has_keys(cluster, topic):
        raise Failure(
            f"{topic} has records with keys: with more partitions, new records of a key may go to "
            "another partition than its old ones, and their order is lost; `penstock topics "
            f"repartition {topic} --partitions N` keeps it, --yes goes on without"
        )


def has_keys(cluster: Cluster, topic: str) -> bool:
    found = cluster.metadata().topics.get(topic)
    if found is None:
        raise unknown_topic(topic)
    led = [each.id for each in found.partitions.values() if each.leader >= 0][:_PARTITIONS_MAX]
    consumer = cluster.consumer(enable_partition_eof=True)
    try:
        with cluster.explaining():
            starts = []
            for partition in led:
                low, high = consumer.get_watermark_offsets(
                    TopicPartition(topic, partition), timeout=cluster.timeout_s
                )
                if high > low:
                    starts.append(TopicPartition(topic, partition, max(low, high - _RECORDS)))
            if not starts:
                return False
            consumer.assign(starts)
            return _read(consumer, len(starts), min(cluster.timeout_s, _WAIT_S))
    finally:
        consumer.close()


def _read(consumer: object, partitions: int, wait_s: float) -> bool:
    """What cannot be read in that time tells nothing of keys."""
    from confluent_kafka import KafkaError

    deadline_s = time.monotonic() + wait_s
    ended = 0
    while ended < partitions and time.monotonic() < deadline_s:
        check_interrupt()
        for record in consumer.consume(500, 0.2):  # type: ignore[attr-defined]
            if record.error() is None:
                if record.key() is not None:
                    return True
            elif record.error().code() == KafkaError._PARTITION_EOF:
                ended += 1
            else:
                raise KafkaException(record.error())
    return False
