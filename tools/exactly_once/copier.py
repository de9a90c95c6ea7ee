"""One copier: reads a topic as a member of a group and writes another, in transactions.

A child process, made to be killed or stopped at any moment. It notes what it does and sees in its
history file. With a fault planted it does what careless applications do.
"""

from __future__ import annotations

import argparse
import faulthandler
import pickle
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, Producer
from confluent_kafka import TopicPartition as Position

from penstock.model.id import TopicPartition
from penstock.testing.history import Outcome, Recorder
from tools.exactly_once.diary import Diary
from tools.exactly_once.setup import (
    COPY,
    GROUP,
    SESSION_TIMEOUT_MS,
    SOURCE,
    TRANSACTION_HEADER,
    TRANSACTION_TIMEOUT_MS,
    client_settings,
)

BATCH_RECORDS = 50
GAVE_UP = 3
# librdkafka's call that sends offsets heeds no time-out (its issue #5456), so a round has an alarm
# that ends the process.
ROUND_S = 10
# No zombie is fenced: each process has a transactional id of its own, and its offsets do not
# say in which generation of the group they were read.
UNFENCED = "unfenced"
# Offsets are committed beside the transaction, not in it.
LOOSE_OFFSETS = "loose-offsets"
FAULTS = (UNFENCED, LOOSE_OFFSETS)


class MembershipLostError(RuntimeError):
    """Nobody knows of which generation the batch is: it must not be copied."""


class Copier:
    def __init__(self, options: argparse.Namespace, recorder: Recorder) -> None:
        self._fault: str | None = options.fault
        self._work_s: float = options.work_s
        self._round_s: int = options.round_s
        self._dice = random.Random(options.name)
        self._diary = Diary(options.name, recorder)
        self._batch: list[Message] = []
        self._membership: Any = None
        self._stopping = False
        settings = client_settings(options.bootstrap)
        own_id = options.name if self._fault == UNFENCED else options.slot
        self._producer = Producer(
            settings
            | {"transactional.id": own_id, "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS}
            | {"linger.ms": 1}
        )
        self._consumer = Consumer(settings | _GROUP_SETTINGS)
        # Never joins: what it says of the group names neither a member nor a generation.
        self._bystander = Consumer(settings | {"group.id": GROUP})

    def stop(self) -> None:
        self._stopping = True

    def run(self) -> None:
        signal.alarm(3 * self._round_s)
        _insist(self._producer.init_transactions)
        self._consumer.subscribe(
            [SOURCE], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._revoked
        )
        while not self._stopping:
            signal.alarm(self._round_s)
            self._read()
            if self._batch:
                self._copy_or_undo()
        self._consumer.close()

    def _assigned(self, consumer: Consumer, partitions: list[Position]) -> None:
        # Kept from here on: later the client may have lost its place and forgotten the generation.
        self._membership = consumer.consumer_group_metadata()
        began_s = self._diary.now_s()
        committed = committed_of(consumer, partitions)
        self._diary.assigned(committed, began_s)
        consumer.assign(committed)

    def _revoked(self, _: Consumer, __: list[Position]) -> None:
        self._batch.clear()
        self._membership = None

    def _read(self) -> None:
        self._batch.clear()
        message = self._consumer.poll(0.2)
        while message is not None:
            if message.error() is None:
                self._batch.append(message)
            if len(self._batch) >= BATCH_RECORDS:
                break
            message = self._consumer.poll(0)
        self._diary.polled(self._batch)

    def _copy_or_undo(self) -> None:
        try:
            self._copy()
        except KafkaException as problem:
            error = problem.args[0]
            if not error.txn_requires_abort():
                raise
            self._undo()

    def _copy(self) -> None:
        self._producer.begin_transaction()
        transaction = self._diary.begun()
        for message in self._batch:
            self._send(message, transaction)
        self._work()
        offsets = _next_offsets(self._batch)
        if self._fault != LOOSE_OFFSETS:
            self._diary.offsets_sent(offsets)
            claim = self._claim()
            _insist(lambda: self._producer.send_offsets_to_transaction(offsets, claim))
        self._diary.ending(commit=True)
        _insist(self._producer.commit_transaction)
        self._diary.ended(commit=True)
        if self._fault == LOOSE_OFFSETS:
            self._work()
            self._diary.offsets_beside(offsets, Outcome.UNKNOWN)
            self._consumer.commit(offsets=offsets, asynchronous=False)
            self._diary.offsets_beside(offsets, Outcome.OK)

    def _send(self, message: Message, transaction: str) -> None:
        where = TopicPartition(COPY, message.partition() or 0)
        value = message.value() or b""
        send = self._diary.sending(where, value)
        self._producer.produce(
            COPY,
            value,
            message.key(),
            partition=where.partition,
            headers={TRANSACTION_HEADER: transaction},
            on_delivery=lambda error, sent: (
                None if error else self._diary.sent(send, sent.offset())
            ),
        )
        self._producer.poll(0)

    def _work(self) -> None:
        """Most of a copier's time passes here, so most kills and stops come here."""
        time.sleep(self._dice.uniform(0, self._work_s))

    def _claim(self) -> Any:
        if self._fault == UNFENCED:
            return self._bystander.consumer_group_metadata()
        if self._membership is None or generation_of(self._membership) < 0:
            raise MembershipLostError
        return self._membership

    def _undo(self) -> None:
        self._diary.ending(commit=False)
        _insist(self._producer.abort_transaction)
        self._diary.ended(commit=False)
        assignment = self._consumer.assignment()
        if assignment:
            began_s = self._diary.now_s()
            committed = committed_of(self._consumer, assignment)
            self._diary.assigned(committed, began_s)
            for position in committed:
                position.offset = max(position.offset, 0)
                self._consumer.seek(position)


_GROUP_SETTINGS = {
    "group.id": GROUP,
    "enable.auto.commit": False,
    "auto.offset.reset": "earliest",
    "isolation.level": "read_committed",
    "session.timeout.ms": SESSION_TIMEOUT_MS,
    "heartbeat.interval.ms": 300,
    "max.poll.interval.ms": 15_000,
    "fetch.wait.max.ms": 50,
    "fetch.error.backoff.ms": 20,
}


def _insist(call: Callable[[], object]) -> None:
    """Calls of transactions may be made again after a time-out, and then go on where they were."""
    while True:
        try:
            call()
            return
        except KafkaException as problem:
            if not problem.args[0].retriable():
                raise


def committed_of(consumer: Consumer, partitions: list[Position]) -> list[Position]:
    """Of all of them, or it raises: an offset that was not told is not one that is not there."""
    committed = consumer.committed(partitions, timeout=20)
    for position in committed:
        if position.error is not None:
            raise KafkaException(position.error)
    return committed


def _next_offsets(batch: list[Message]) -> list[Position]:
    latest = {message.partition() or 0: message.offset() or 0 for message in batch}
    return [Position(SOURCE, index, offset + 1) for index, offset in latest.items()]


def generation_of(membership: Any) -> int:
    """The client tells it only in the form in which the object travels."""
    travelling = b"CGMDv2:"
    words = pickle.dumps(membership)
    at = words.index(travelling) + len(travelling)
    return int.from_bytes(words[at : at + 4], sys.byteorder, signed=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="copier", description=__doc__.partition("\n")[0])
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--slot", required=True, help="the transactional id")
    parser.add_argument("--name", required=True, help="of this process, never used twice")
    parser.add_argument("--history", type=Path, required=True)
    parser.add_argument("--work-s", type=float, default=0.05)
    parser.add_argument("--round-s", type=int, default=ROUND_S, help="a round may take no longer")
    parser.add_argument("--fault", choices=FAULTS)
    options = parser.parse_args()
    # Asked by whoever waits for it in vain, it says where it stands.
    faulthandler.register(signal.SIGUSR1)
    with Recorder(options.history) as recorder:
        copier = Copier(options, recorder)
        signal.signal(signal.SIGTERM, lambda *_: copier.stop())
        try:
            copier.run()
        except (KafkaException, MembershipLostError) as problem:
            print(f"{options.name}: {problem!r}", flush=True)
            return GAVE_UP
    return 0


if __name__ == "__main__":
    sys.exit(main())
