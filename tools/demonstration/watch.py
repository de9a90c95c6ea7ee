"""What the demo's table shows, gathered by consumers of the same topics, each in its own group."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

import orjson
from confluent_kafka import Consumer, TopicPartition

from penstock.pipelines.jobs.fraud.model import REVIEW

QUIET: dict[str, Any] = {"log_level": 0, "error_cb": lambda _: None}
_WINDOW_S = 5.0


class Reader(threading.Thread):
    """One consumer of one topic; a group where it is given one.

    `read` counts records. Offsets would count the markers of transactions too.
    """

    def __init__(
        self, address: str, topic: str, take: Callable[[list[Any]], None], group: str = ""
    ) -> None:
        super().__init__(name=group or topic, daemon=True)
        self.read = 0
        self.stopping = threading.Event()
        settings = {"bootstrap.servers": address, "group.id": group or "demo-watch"} | QUIET
        settings |= {"auto.offset.reset": "earliest", "isolation.level": "read_committed"}
        settings |= {"fetch.wait.max.ms": 50, "enable.auto.commit": bool(group)}
        settings |= {"auto.commit.interval.ms": 1000}
        self._consumer = Consumer(settings | {"topic.metadata.refresh.interval.ms": 1000})
        self._take = take
        self._topic = topic
        self._grouped = bool(group)

    def run(self) -> None:
        if self._grouped:
            self._consumer.subscribe([self._topic])
        else:
            partitions = self._consumer.list_topics(self._topic, timeout=10).topics[self._topic]
            self._consumer.assign(
                [TopicPartition(self._topic, p, 0) for p in partitions.partitions]
            )
        while not self.stopping.is_set():
            messages = [one for one in self._consumer.consume(2_000, 0.05) if not one.error()]
            if messages:
                self._take(messages)
                self.read += len(messages)
        self._consumer.close()

    def stop(self) -> None:
        self.stopping.set()
        if self.is_alive():
            self.join(10)


class Audit:
    """Follows every verdict: how long it took, and whether any payment was judged twice."""

    def __init__(self) -> None:
        self.verdicts = 0
        self.flagged = 0
        self.twice = 0
        self.reasons: Counter[str] = Counter()
        self.first_by_rule: dict[str, float] = {}
        self._seen: dict[int, bytearray] = {}
        self._paid_ms: dict[int, dict[int, int]] = {}
        self._latencies: deque[tuple[float, float]] = deque(maxlen=200_000)

    def take_payments(self, messages: list[Any]) -> None:
        for one in messages:
            times = self._paid_ms.setdefault(one.partition(), {})
            times[one.offset()] = one.timestamp()[1]

    def take_verdicts(self, messages: list[Any]) -> None:
        now = time.time()
        for one in messages:
            said = orjson.loads(one.value())
            partition, offset = said["partition"], said["offset"]
            self._count(partition, offset)
            paid_ms = self._paid_ms.get(partition, {}).pop(offset, None)
            if paid_ms is not None:
                self._latencies.append((now, now * 1000 - paid_ms))
            if said["decision"] == REVIEW:
                self.flagged += 1
                for reason in said["reasons"]:
                    self.reasons[reason["rule"]] += 1
                    self.first_by_rule.setdefault(reason["rule"], now)
        self.verdicts += len(messages)

    def _count(self, partition: int, offset: int) -> None:
        seen = self._seen.setdefault(partition, bytearray())
        if offset >= len(seen):
            seen.extend(bytes(offset + 10_000 - len(seen)))
        self.twice += seen[offset]
        seen[offset] = 1

    def latency_ms(self) -> tuple[float, float] | None:
        """Median and 99th percentile of the last seconds, from sent to read as committed."""
        since = time.time() - _WINDOW_S
        last = sorted(took for moment, took in list(self._latencies) if moment > since)
        if not last:
            return None
        return last[len(last) // 2], last[min(len(last) - 1, len(last) * 99 // 100)]


class Analytics:
    """Another group with its own question: what is paid where."""

    def __init__(self) -> None:
        self.accounts: Counter[str] = Counter()
        self.late = 0

    def take(self, messages: list[Any]) -> None:
        for one in messages:
            said = orjson.loads(one.value())
            self.late += said["late"]
            if said["decision"] == REVIEW:
                self.accounts[said["account"]] += 1


class Lags:
    """How far behind each group is, as any lag tool sees it: from the broker alone."""

    def __init__(self, address: str) -> None:
        self._settings = {"bootstrap.servers": address, "enable.auto.commit": False} | QUIET
        self._consumers: dict[str, Any] = {}

    def lag(self, group: str, topic: str) -> int | None:
        consumer = self._consumers.get(group)
        if consumer is None:
            own = {"group.id": group, "isolation.level": "read_committed"}
            consumer = self._consumers[group] = Consumer(self._settings | own)
        partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
        committed = consumer.committed([TopicPartition(topic, p) for p in partitions], timeout=10)
        behind = 0
        for place in committed:
            _, end = consumer.get_watermark_offsets(place, timeout=10)
            behind += max(0, end - max(place.offset, 0))
        return behind if any(place.offset >= 0 for place in committed) else None

    def close(self) -> None:
        for consumer in self._consumers.values():
            consumer.close()
