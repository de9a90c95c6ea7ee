"""Sending with a spool: records go to the broker, or to a file while it refuses, in one order.

Either directly: what is under way is kept in mind, and goes to the spool, all of it in order, when
the oldest waits for too long. Or by way of the spool: what is sent is appended there, a thread
takes from the beginning, and when nothing is left the next record goes directly again.
"""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException

from penstock.client.error import DeliveryError
from penstock.client.record import Spooled
from penstock.client.sender.link import DEFECTS, Link, cause_of
from penstock.client.sender.metric import Counts
from penstock.client.sender.policy import Spool
from penstock.client.sender.record import Record, UnderWay
from penstock.client.sender.replay import Replay
from penstock.client.sender.spool import SpoolFiles, SpoolFullError
from penstock.client.sender.trying import wait_for
from penstock.client.session import LOG

_TICK_S = 0.05
_AFTER_ERROR_S = 1.0
_LAST_BYTES = 64 * 1024


class Spooling:
    def __init__(self, policy: Spool, link: Link, counts: Counts) -> None:
        self._link = link
        self._counts = counts
        self._patience_s = policy.patience_ms / 1000
        self._folder = Path(policy.folder)
        self._files = SpoolFiles(self._folder, policy.bytes_max, sync=policy.sync)
        # Once more by the same thread: whoever hears that a record is kept may send the next.
        self._lock = threading.RLock()
        self._under_way: dict[int, UnderWay] = {}
        """By number, as they were sent."""
        self._number = 0
        self.is_refused = not self._files.is_empty
        """All goes by way of the spool."""
        self._wake = threading.Event()
        self._was_refused = False
        self._closing = False
        self._last_until = float("inf")
        self._unfinished: Replay | None = None
        """One that has sent what it could not part with yet."""
        self._thread = threading.Thread(target=self._run, name="penstock-spool", daemon=True)
        self._thread.start()

    def send(self, record: Record) -> Future[Any]:
        future: Future[Any] = Future()
        with self._lock:
            if self._closing:
                raise DeliveryError(f"{record.topic}: the sender is closed")
            if self.is_refused:
                self._files.append([record])
                self._counts.spooled += 1
                future.set_result(Spooled(record.topic))
            else:
                self._send_directly(record, future)
        return future

    def _send_directly(self, record: Record, future: Future[Any]) -> None:
        self._number += 1
        number = self._number
        under_way = UnderWay(record, time.perf_counter(), future)
        self._under_way[number] = under_way
        try:
            self._link.produce(under_way, lambda *said: self._report(number, *said))
        except (KafkaException, BufferError) as error:
            cause = cause_of(error)
            if cause.code() in DEFECTS:
                del self._under_way[number]
                raise DeliveryError(f"{record.topic}: {cause.str()}") from error
            self._refuse(cause.str())

    def _report(self, number: int, under_way: UnderWay, error: Any, message: Any) -> None:
        """In the producer's thread; takes no lock, or `_refuse` would wait for it for ever."""
        if error is not None and error.code() not in DEFECTS:
            self._was_refused = number in self._under_way
            self._wake.set()
        elif self._under_way.pop(number, None) is None:
            # In the spool by now.
            return
        elif error is None:
            self._link.acknowledged(under_way, message)
        else:
            self._link.failed(under_way, error)

    # --- from one way to the other -----------------------------------------------------------

    def _refuse(self, reason: str) -> None:
        """With the lock: what is under way goes to the spool, before anything that comes later."""
        LOG.warning("writes are refused (%s); records go to %s", reason, self._folder)
        self._counts.refusals += 1
        self._link.abandon()
        rest = [self._under_way[number] for number in sorted(self._under_way)]
        self._under_way.clear()
        self._was_refused = False
        self.is_refused = True
        self._wake.set()
        try:
            if rest:
                self._files.append([each.record for each in rest])
        except SpoolFullError as error:
            self._counts.failed += len(rest)
            for each in rest:
                each.future.set_exception(error)
            return
        self._counts.spooled += len(rest)
        for each in rest:
            each.future.set_result(Spooled(each.record.topic))

    def _run(self) -> None:
        while not self._closing:
            try:
                self._turn()
            except Exception:
                # Such as a disk that cannot be read now: what is in the spool stays there.
                LOG.exception("the spool %s", self._folder)
                time.sleep(_AFTER_ERROR_S)

    def _turn(self) -> None:
        if not self.is_refused:
            self._wake.wait(_TICK_S)
            self._wake.clear()
            self._look()
        elif self._replay() and self._files.bytes_unsent <= _LAST_BYTES:
            self._replay_last()

    def _replay_last(self) -> None:
        """Writes are taken, and little is left: whoever sends waits for a moment. Where somebody
        always sends, the spool would never be empty otherwise."""
        with self._lock:
            self._last_until = time.monotonic() + self._patience_s
            try:
                while not self._files.is_empty and not self._must_end():
                    self._replay()
            finally:
                self._last_until = float("inf")
            self.is_refused = not self._files.is_empty
            if not self.is_refused:
                LOG.warning("writes are taken again; %s is empty", self._folder)

    def _must_end(self) -> bool:
        return self._closing or time.monotonic() > self._last_until

    def _look(self) -> None:
        oldest = self._oldest()
        late = oldest is not None and time.perf_counter() - oldest.since > self._patience_s
        if late or self._was_refused:
            with self._lock:
                if not self.is_refused:
                    self._refuse(f"no acknowledgement for {self._patience_s:g} s")

    def _oldest(self) -> UnderWay | None:
        try:
            return next(iter(self._under_way.values()), None)
        except RuntimeError:
            # Changed by a report meanwhile: something was acknowledged.
            return None

    def _replay(self) -> bool:
        """Whether writes are taken, so far as is known then."""
        replay = self._unfinished
        if replay is None:
            replay = Replay(self._link, self._files, self._must_end, self._set_aside)
        self._unfinished = replay
        replay.run()
        self._unfinished = None
        self._counts.replayed += replay.sent
        return not self._must_end()

    def _set_aside(self, record: Record, reason: str) -> None:
        """Refused for good, and nobody waits for it any more: where somebody can look."""
        said = {
            "topic": record.topic,
            "key": None if record.key is None else record.key.hex(),
            "value": None if record.value is None else record.value.hex(),
            "timestamp": record.timestamp_ms,
            "error": reason,
        }
        with open(self._folder / "refused.jsonl", "a") as file:
            file.write(json.dumps(said) + "\n")
        self._counts.set_aside += 1
        LOG.error("%s: a record of the spool is refused: %s", record.topic, reason)

    # --- the end -----------------------------------------------------------------------------

    def gauges(self) -> dict[str, float]:
        return {
            "under_way": len(self._link),
            "refused": float(self.is_refused),
            "spool_bytes": self._files.bytes_kept,
        }

    def flush(self, timeout_s: float) -> bool:
        return wait_for(lambda: not self._under_way and self._files.is_empty, timeout_s)

    def close(self, timeout_s: float) -> None:
        """What is not acknowledged by then stays in the spool, for whoever opens it next."""
        self.flush(timeout_s)
        with self._lock:
            self._closing = True
            if self._under_way:
                self._refuse("the sender is closed")
        self._wake.set()
        self._thread.join()
        self._link.close(timeout_s)
        self._files.close()
