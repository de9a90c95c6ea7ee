"""Reading a topic as a member of a consumer group, and committing what was printed.

A record counts as printed when the next one is asked for: whoever prints has then written it. It
is committed after the output was flushed, so a record may be printed twice and is never skipped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicPartition

from penstock.cli.cluster import Cluster, reason, unknown_topic
from penstock.cli.failure import Failure
from penstock.cli.output import plural
from penstock.cli.position import Anchor

_POLL_S = 0.25
_COMMIT_EVERY_S = 5.0
_RESET = {Anchor.beginning: "earliest", Anchor.end: "latest"}
_PASSING = (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._TIMED_OUT)


class GroupReader:
    def __init__(
        self,
        cluster: Cluster,
        topic: str,
        group: str,
        start: Anchor,
        *,
        follow: bool,
        flush: Callable[[], None],
    ) -> None:
        self.committed = 0
        """Records that this run committed."""
        self._cluster = cluster
        self._topic = topic
        self._group = group
        self._follow = follow
        self._flush = flush
        self._open: set[int] | None = None
        """Assigned partitions whose end was not reached; None before the first assignment."""
        self._printed: dict[int, int] = {}
        self._printed_count = 0
        self._consumer = cluster.consumer(
            group_id=group,
            enable_partition_eof=True,
            auto_offset_reset=_RESET[start],
            fetch_wait_max_ms=100,
            allow_auto_create_topics=False,
        )

    def __enter__(self) -> GroupReader:
        with self._cluster.explaining():
            metadata = self._consumer.list_topics(self._topic, timeout=self._cluster.timeout_s)
        found = metadata.topics.get(self._topic)
        if found is None or found.error is not None or not found.partitions:
            self._consumer.close()
            raise unknown_topic(self._topic)
        self._consumer.subscribe(
            [self._topic],
            on_assign=self._on_assign,
            on_revoke=self._on_revoke,
            on_lost=self._on_lost,
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Commit and leave; after Ctrl-C too, but not when printing itself failed."""
        try:
            if kind is None or kind is KeyboardInterrupt:
                self._commit()
        finally:
            self._printed.clear()
            self._consumer.close()

    def _on_assign(self, _: Any, partitions: list[TopicPartition]) -> None:
        self._open = {each.partition for each in partitions}

    def _on_revoke(self, _: Any, __: list[TopicPartition]) -> None:
        self._commit()
        self._open = None

    def _on_lost(self, _: Any, __: list[TopicPartition]) -> None:
        # Others may have gone on from the last commit: what was printed since is theirs.
        self._printed.clear()
        self._printed_count = 0
        self._open = None

    def read(self, count: int | None = None) -> Iterator[Any]:
        """Records as they come, at most `count`; None where it has to wait for more."""
        deadline = time.monotonic() + self._cluster.timeout_s
        next_commit = time.monotonic() + _COMMIT_EVERY_S
        remaining = count
        while remaining != 0 and not self._at_end():
            record = self._poll()
            if record is not None:
                yield record
                self._mark_printed(record)
                remaining = None if remaining is None else remaining - 1
            else:
                yield None
            if self._open is not None:
                deadline = time.monotonic() + self._cluster.timeout_s
            elif time.monotonic() > deadline and not self._follow:
                raise Failure(
                    f"group {self._group} assigned no partition within "
                    f"{self._cluster.timeout_s:g} s; --timeout lets it take longer"
                )
            if time.monotonic() > next_commit:
                self._commit()
                next_commit = time.monotonic() + _COMMIT_EVERY_S

    def _at_end(self) -> bool:
        return not self._follow and self._open is not None and not self._open

    def _poll(self) -> Any:
        record: Any = self._consumer.poll(_POLL_S)
        error = None if record is None else record.error()
        if error is None:
            return record
        if error.code() == KafkaError._PARTITION_EOF:
            if self._open is not None:
                self._open.discard(record.partition())
        elif error.code() not in _PASSING:
            raise Failure(f"group {self._group}: {reason(error)}")
        elif not self._follow:
            raise self._cluster.unreachable()
        return None

    def _mark_printed(self, record: Any) -> None:
        self._printed[record.partition()] = record.offset() + 1
        self._printed_count += 1

    def _commit(self) -> None:
        if not self._printed:
            return
        offsets = [
            TopicPartition(self._topic, partition, offset)
            for partition, offset in self._printed.items()
        ]
        self._flush()
        try:
            settled = self._consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:
            raise self._not_committed(error.args[0]) from error
        for each in settled or ():
            if each.error is not None:
                raise self._not_committed(each.error)
        self.committed += self._printed_count
        self._printed, self._printed_count = {}, 0

    def _not_committed(self, error: Any) -> Failure:
        return Failure(
            f"group {self._group}: {plural(self._printed_count, 'record')} printed but not "
            f"committed: {reason(error)}"
        )
