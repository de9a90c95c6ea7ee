"""One piece of a spool sent: in order, until all of it is acknowledged or refused for good."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from confluent_kafka import KafkaException

from penstock.client.lasting_producer import is_fatal
from penstock.client.sender.link import DEFECTS, Link, cause_of
from penstock.client.sender.record import Record, UnderWay
from penstock.client.sender.spool import SpoolFiles

_PIECE_BYTES = 1_000_000
_AGAIN_S = 0.2
_LOOK_S = 0.1


class Replay:
    def __init__(
        self,
        link: Link,
        files: SpoolFiles,
        is_ended: Callable[[], bool],
        set_aside: Callable[[Record, str], None],
    ) -> None:
        """`set_aside` is given what is refused for good, and why."""
        self.sent = 0
        self._parted = 0
        """So many of the piece are behind the beginning of the spool."""
        self._link = link
        self._files = files
        self._is_ended = is_ended
        self._set_aside = set_aside
        self._piece = files.read(_PIECE_BYTES)
        self._reports: dict[int, Any] = {}
        """By place in the piece: None, or the error."""
        self._settled: dict[int, Any] = {}
        """Acknowledged, or refused for good."""
        self._heard = threading.Event()
        self._one_by_one = False
        self._is_broken = False
        """The producer failed for good: the rest is for the next one."""

    def run(self) -> None:
        """The spool begins behind what is settled then. Where something cannot be set aside it
        raises; called again it goes on there, and sends nothing twice."""
        while len(self._settled) < len(self._piece) and not self._is_ended():
            self._try_rest()
        before = self._parted
        try:
            while self._parted in self._settled:
                self._part_with(self._piece[self._parted][0], self._settled[self._parted])
                self._parted += 1
        finally:
            if self._parted > before:
                self._files.advance(self._piece[self._parted - 1][1])

    def _part_with(self, record: Record, error: Any) -> None:
        if error is None:
            self.sent += 1
        else:
            self._set_aside(record, error.str())

    def _try_rest(self) -> None:
        self._reports.clear()
        self._is_broken = False
        rest = [number for number in range(len(self._piece)) if number not in self._settled]
        handed = sum(self._hand_over(number) for number in rest[: 1 if self._one_by_one else None])
        while len(self._reports) < handed and not self._is_ended():
            self._heard.wait(_LOOK_S)
            self._heard.clear()
        if len(self._reports) < handed or self._is_broken:
            self._link.abandon()
        self._settle()

    def _settle(self) -> None:
        """Records travel together, and are refused together: which of them it is shows when each
        is sent alone."""
        defects = 0
        for number, error in list(self._reports.items()):
            if error is None or (error.code() in DEFECTS and self._one_by_one):
                self._settled[number] = error
            defects += error is not None and error.code() in DEFECTS
        self._one_by_one = self._one_by_one or defects > 0
        if any(error is not None for error in self._reports.values()) and not defects:
            time.sleep(_AGAIN_S)

    def _hand_over(self, number: int) -> bool:
        """Whether a report is to come. Nothing may overtake what comes before it: a record that
        cannot be handed over is waited for, and after a fatal error none is."""

        def report(_: UnderWay, error: Any, message: Any) -> None:
            self._reports[number] = error
            self._heard.set()

        under_way = UnderWay(self._piece[number][0], 0.0, Future())
        while not self._is_ended() and not self._is_broken:
            try:
                self._link.produce(under_way, report)
                return True
            except BufferError:
                self._heard.wait(_LOOK_S)
            except KafkaException as error:
                if (cause := cause_of(error)).code() in DEFECTS:
                    self._settled[number] = cause
                    return False
                self._is_broken = is_fatal(error)
                time.sleep(_AGAIN_S)
        return False
