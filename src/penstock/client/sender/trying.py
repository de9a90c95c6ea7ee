"""Sending without a spool: each record is tried for so long, then its sender is told.

`Blocking` lets callers wait while much is under way; `Failing` turns them away after a failure.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from confluent_kafka import KafkaException

from penstock.client.error import DeliveryError
from penstock.client.sender.link import DEFECTS, Link, cause_of
from penstock.client.sender.metric import Counts
from penstock.client.sender.policy import Block, Fail
from penstock.client.sender.record import Record, UnderWay

_FULL_WAIT_S = 0.01


class _Trying:
    """What both have in common."""

    def __init__(self, link: Link, counts: Counts) -> None:
        self._link = link
        self._counts = counts
        self.is_refused = False

    def _hand_over(self, record: Record) -> Future[Any]:
        under_way = UnderWay(record, time.perf_counter(), Future())
        try:
            self._link.produce(under_way, self._report)
        except KafkaException as error:
            raise DeliveryError(f"{record.topic}: {cause_of(error).str()}") from error
        return under_way.future

    def _report(self, under_way: UnderWay, error: Any, message: Any) -> None:
        if error is None:
            self.is_refused = False
            self._link.acknowledged(under_way, message)
            return
        if error.code() not in DEFECTS and not self.is_refused:
            self.is_refused = True
            self._counts.refusals += 1
        self._link.failed(under_way, error)

    def gauges(self) -> dict[str, float]:
        return {"under_way": len(self._link), "refused": float(self.is_refused)}

    def flush(self, timeout_s: float) -> bool:
        return wait_for(lambda: not len(self._link), timeout_s)

    def close(self, timeout_s: float) -> None:
        self._link.close(timeout_s)


class Blocking(_Trying):
    def __init__(self, policy: Block, link: Link, counts: Counts) -> None:
        super().__init__(link, counts)
        self._timeout_s = policy.timeout_ms / 1000
        self._room = threading.Semaphore(policy.under_way_max)

    def send(self, record: Record) -> Future[Any]:
        deadline = time.monotonic() + self._timeout_s
        if not self._room.acquire(timeout=self._timeout_s):
            raise DeliveryError(f"{record.topic}: writes are refused since {self._timeout_s:g} s")
        try:
            future = self._when_there_is_room(record, deadline)
        except BaseException:
            self._room.release()
            raise
        future.add_done_callback(lambda _: self._room.release())
        return future

    def _when_there_is_room(self, record: Record, deadline: float) -> Future[Any]:
        while True:
            try:
                return self._hand_over(record)
            except BufferError as error:
                if time.monotonic() > deadline:
                    raise DeliveryError(f"{record.topic}: {cause_of(error).str()}") from error
                time.sleep(_FULL_WAIT_S)


class Failing(_Trying):
    def __init__(self, policy: Fail, link: Link, counts: Counts) -> None:
        super().__init__(link, counts)
        self._probe_s = policy.probe_ms / 1000
        self._next_probe = 0.0

    def send(self, record: Record) -> Future[Any]:
        if self.is_refused and not self._may_probe():
            self._counts.failed += 1
            raise DeliveryError(f"{record.topic}: writes are refused at present")
        try:
            return self._hand_over(record)
        except BufferError as error:
            raise DeliveryError(f"{record.topic}: {cause_of(error).str()}") from error

    def _may_probe(self) -> bool:
        now = time.monotonic()
        if now < self._next_probe:
            return False
        self._next_probe = now + self._probe_s
        return True


def wait_for(condition: Callable[[], bool], timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True
