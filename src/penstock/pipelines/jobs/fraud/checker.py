"""Proof that no payment was skipped and none was judged twice, from the topics alone.

Verdicts are read first and noted by the place of their payment, a few bytes for each; then the
payments are read and each must find its one verdict, with its own id, or its one dead letter if it
is no payment at all. Only committed records count. Nothing is kept of the records themselves, so
ten million payments need some hundred megabytes.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson
from confluent_kafka import Consumer, TopicPartition

from penstock.client.patience import NO_COORDINATOR_YET, patiently
from penstock.pipelines.jobs.fraud.accuracy import Accuracy, decode_label, truths
from penstock.pipelines.jobs.fraud.generator import LABELS
from penstock.pipelines.jobs.fraud.model import (
    DEAD_LETTERS,
    PAYMENTS,
    REVIEW,
    REVIEWS,
    VERDICTS,
    PaymentError,
    decode_payment,
)
from penstock.pipelines.scan import Scan, UnreadableError
from penstock.pipelines.transforms import dead_letter as name

GROUP = "fraud"
_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Topics:
    payments: str = PAYMENTS
    verdicts: str = VERDICTS
    reviews: str = REVIEWS
    dead_letters: str = DEAD_LETTERS
    labels: str = LABELS


@dataclass(slots=True)
class Report:
    payments: int = 0
    undecodable: int = 0
    verdicts: int = 0
    flagged: int = 0
    late: int = 0
    reviews: int = 0
    dead_letters: int = 0
    repeated_ids: int = 0
    """Payments that came with the id of another: the sender's doing, each has its verdict."""
    seconds: float = 0.0
    violations: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    accuracy: Accuracy | None = None

    @property
    def holds(self) -> bool:
        return not self.violations

    def violate(self, what: str, where: object) -> None:
        self.violations[what] += 1
        shown = self.examples.setdefault(what, [])
        if len(shown) < _EXAMPLES:
            shown.append(str(where))

    def document(self) -> dict[str, Any]:
        figures = {
            each: getattr(self, each)
            for each in ("payments", "undecodable", "verdicts", "flagged", "late", "reviews")
        }
        return figures | {
            "dead_letters": self.dead_letters,
            "repeated_ids": self.repeated_ids,
            "seconds": round(self.seconds, 3),
            "holds": self.holds,
            "violations": dict(self.violations),
            "examples": self.examples,
            "accuracy": self.accuracy.document() if self.accuracy is not None else None,
        }


class _Column:
    """What was noted for each offset of one partition of the payments."""

    def __init__(self, begin: int, end: int) -> None:
        self.begin, self.end = begin, end
        self.verdicts = bytearray(end - begin)
        self.flagged = bytearray(end - begin)
        self.reviews = bytearray(end - begin)
        self.dead = bytearray(end - begin)
        self.ids: Any = np.zeros(end - begin, dtype=np.int64)


def note(marks: bytearray, index: int) -> int:
    """Count, up to what a byte holds; the count."""
    marks[index] = count = min(marks[index] + 1, 255)
    return count


class Checker:
    def __init__(
        self,
        client: Mapping[str, Any],
        topics: Topics | None = None,
        *,
        with_labels: bool = True,
        timeout_s: float = 10.0,
        on_read: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.report = Report()
        self._client = dict(client)
        self._topics = topics or Topics()
        self._with_labels = with_labels
        self._timeout_s = timeout_s
        self._on_read = on_read
        self._columns: dict[int, _Column] = {}

    def run(self) -> Report:
        began = time.monotonic()
        with self._scan(self._topics.payments) as payments:
            # The ends are fixed before the verdicts are read: each of these must have one by now.
            self._columns = {
                each: _Column(payments.begins[each], payments.ends[each])
                for each in payments.partitions
            }
            self.report.accuracy = self._accuracy()
            self._each(self._topics.verdicts, self._verdict)
            self._each(self._topics.reviews, self._review)
            self._each(self._topics.dead_letters, self._dead_letter)
            for batch in payments.batches():
                for record in batch:
                    self._payment(record)
                self._on_read(len(batch))
        self._close()
        self.report.seconds = time.monotonic() - began
        return self.report

    def _scan(self, topic: str) -> Scan:
        return Scan(self._client, topic, timeout_s=self._timeout_s)

    def _each(self, topic: str, note_one: Callable[[Any], None]) -> None:
        try:
            scan = self._scan(topic)
        except UnreadableError:
            # Topics are made by what writes them first: there may be no review yet.
            return
        with scan:
            for batch in scan.batches():
                for record in batch:
                    note_one(record)
                self._on_read(len(batch))

    def _accuracy(self) -> Accuracy | None:
        if not self._with_labels:
            return None
        found = []

        def take(record: Any) -> None:
            label = decode_label(record.key(), record.value())
            if label is not None:
                found.append(label)

        self._each(self._topics.labels, take)
        return Accuracy(truths(found)) if found else None

    def _verdict(self, record: Any) -> None:
        report = self.report
        try:
            said = orjson.loads(record.value())
            place = (said["partition"], said["offset"])
            payment, flagged = said["payment"], said["decision"] == REVIEW
        except (KeyError, TypeError, ValueError):
            report.violate("verdicts that cannot be read", _place(record))
            return
        column = self._columns.get(place[0])
        if column is None or place[1] < column.begin:
            report.violate("verdicts without a payment", f"{_place(record)}: {payment}")
            return
        if place[1] >= column.end:
            # Of a payment that came after the ends were taken: not part of this check.
            return
        index = place[1] - column.begin
        report.verdicts += 1
        report.flagged += flagged
        report.late += bool(said.get("late"))
        if note(column.verdicts, index) > 1:
            report.violate("payments with more than one verdict", f"{place}: {payment}")
            return
        if record.key() != payment.encode():
            report.violate("verdicts not keyed by their payment", _place(record))
        column.flagged[index] = flagged
        column.ids[index] = hash(payment)
        if report.accuracy is not None:
            rules = [one["rule"] for one in said["reasons"]] if flagged else ()
            report.accuracy.add(payment, flagged=flagged, reasons=rules)

    def _review(self, record: Any) -> None:
        try:
            said = orjson.loads(record.value())
            column, offset = self._columns[said["partition"]], said["offset"]
        except (KeyError, TypeError, ValueError):
            self.report.violate("reviews that cannot be read", _place(record))
            return
        if column.begin <= offset < column.end:
            self.report.reviews += 1
            note(column.reviews, offset - column.begin)

    def _dead_letter(self, record: Any) -> None:
        said = {key: value for key, value in record.headers() or () if value is not None}
        try:
            column = self._columns[int(said[name.PARTITION])]
            offset = int(said[name.OFFSET])
            topic = said[name.TOPIC].decode()
        except (KeyError, ValueError):
            self.report.violate("dead letters without their origin", _place(record))
            return
        if topic == self._topics.payments and column.begin <= offset < column.end:
            self.report.dead_letters += 1
            note(column.dead, offset - column.begin)

    def _payment(self, record: Any) -> None:
        report, column = self.report, self._columns[record.partition()]
        index = record.offset() - column.begin
        report.payments += 1
        try:
            payment = decode_payment(record.value())
        except PaymentError:
            report.undecodable += 1
            if column.dead[index] != 1 or column.verdicts[index]:
                what = "undecodable records without exactly one dead letter"
                report.violate(what, _place(record))
            column.verdicts[index] = column.dead[index] = 0
            return
        if column.verdicts[index] == 0:
            report.violate("payments without a verdict", f"{_place(record)}: {payment.payment}")
        elif column.ids[index] != hash(payment.payment):
            report.violate("verdicts on another payment", f"{_place(record)}: {payment.payment}")
        if column.dead[index]:
            report.violate("payments among the dead letters", _place(record))
        if column.reviews[index] != column.flagged[index]:
            report.violate("reviews that differ from the flagged verdicts", _place(record))
        # What is left noted in the end belongs to no payment.
        column.verdicts[index] = column.dead[index] = column.reviews[index] = 0

    def _close(self) -> None:
        for partition, column in self._columns.items():
            for marks, what in (
                (column.verdicts, "verdicts without a payment"),
                (column.reviews, "reviews without a payment"),
                (column.dead, "dead letters without a payment"),
            ):
                for index in np.flatnonzero(np.frombuffer(marks, dtype=np.uint8)).tolist():
                    self.report.violate(what, (partition, column.begin + index))
        ids = [column.ids[column.ids != 0] for column in self._columns.values()]
        together = np.concatenate(ids) if ids else np.zeros(0)
        self.report.repeated_ids = len(together) - len(np.unique(together))


def _place(record: Any) -> str:
    return f"{record.topic()}-{record.partition()} @ {record.offset()}"


def wait_until_judged(
    client: Mapping[str, Any],
    patience_s: float,
    *,
    topic: str = PAYMENTS,
    group: str = GROUP,
    timeout_s: float = 10.0,
) -> int:
    """Until the detector has committed all payments there are now; how many it still lacks."""
    with Scan(client, topic, timeout_s=timeout_s) as scan:
        ends = dict(scan.ends)
    own = {"group.id": group, "isolation.level": "read_committed", "enable.auto.commit": False}
    consumer = Consumer(dict(client) | own)
    deadline = time.monotonic() + patience_s
    try:
        while True:
            behind = _behind(consumer, topic, ends, timeout_s)
            if not behind or time.monotonic() > deadline:
                return behind
            time.sleep(0.2)
    finally:
        consumer.close()


def _behind(consumer: Any, topic: str, ends: Mapping[int, int], timeout_s: float) -> int:
    places = [TopicPartition(topic, each) for each in ends]
    committed = patiently(
        lambda: consumer.committed(places, timeout=timeout_s), NO_COORDINATOR_YET, timeout_s
    )
    return sum(max(0, ends[each.partition] - max(each.offset, 0)) for each in committed)
