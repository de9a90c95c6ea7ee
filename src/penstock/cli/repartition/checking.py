"""Reads both topics up to the cut and compares them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, KafkaError, KafkaException, TopicPartition

from penstock.cli.cluster import Cluster
from penstock.cli.interrupt import check_interrupt
from penstock.cli.operator.link import Link
from penstock.cli.operator.setting import topic_settings
from penstock.cli.progress import Progress
from penstock.cli.repartition.closing import starts_of
from penstock.cli.repartition.job import Job
from penstock.cli.repartition.tally import Tally, differences


def check_copy(cluster: Cluster, link: Link, job: Job) -> tuple[int, list[str]]:
    """How many records were compared, and what is wrong."""
    policy = topic_settings(link, [job.source], "cleanup.policy").get(job.source, "")
    progress = Progress("compared")
    copied = _read(cluster, job.target, job.target_cut, progress)
    kept = _read(cluster, job.source, job.cut, progress)
    progress.clear()
    starts = starts_of(link, job.source)
    wrong = differences(
        kept,
        copied,
        is_compacted="compact" in policy,
        has_lost_head=any(at > job.starts.get(each, 0) for each, at in starts.items()),
    )
    return kept.records, wrong


def _read(cluster: Cluster, topic: str, until: Mapping[int, int], progress: Progress) -> Tally:
    tally = Tally()
    left = {each for each, end in until.items() if end > 0}
    consumer = cluster.consumer(
        isolation_level="read_committed", enable_partition_eof=True, fetch_wait_max_ms=50
    )
    try:
        with cluster.explaining():
            consumer.assign([TopicPartition(topic, each, OFFSET_BEGINNING) for each in left])
            while left:
                check_interrupt()
                for record in consumer.consume(2000, 0.2):
                    progress.add(_add(tally, record, until))
                    if _is_last(record, until):
                        left.discard(record.partition() or 0)
    finally:
        consumer.close()
    return tally


def _add(tally: Tally, record: Any, until: Mapping[int, int]) -> int:
    error = record.error()
    if error is not None:
        if error.code() != KafkaError._PARTITION_EOF:
            raise KafkaException(error)
        return 0
    if record.offset() >= until[record.partition()]:
        return 0
    tally.add(record.partition(), record.key(), record.value(), record.headers() or ())
    return 1


def _is_last(record: Any, until: Mapping[int, int]) -> bool:
    """The end of a partition is told by the offset behind its last record or marker."""
    reached: int = record.offset() + (record.error() is None)
    return reached >= until[record.partition()]
