"""A task's producer: the one transactional producer through which task i of an output writes.

Opening a producer takes the transactional id over from whoever held it: a worker presumed dead can
commit nothing from then on, and what it had open is aborted. Only then is the fence read. It
is kept by its worker process for the next batch; that another worker has taken it over in the
meantime shows in the first call of a transaction, before any row is taken.

Two attempts of one task may run at once, where Spark speculates or has given an executor up too
early. The newer takes the id over; the older, finding itself fenced, sees whether the newer writes
the batch: if so it has nothing left to do, otherwise it fails. It never takes the id back.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer

from penstock.client.fatal import fatal_errors_told
from penstock.client.steady import STEADY_TRANSACTIONS
from penstock.pipelines.silent import SILENT
from penstock.pipelines.sinks.fence import FenceReader, Target

_TIMEOUT_S = 60.0
_ABORT_TIMEOUT_S = 10.0
_RETRY_S = 0.1
# How long a fenced attempt watches a batch that nobody has in a transaction before it gives up.
_NOBODY_S = 5.0
_FENCED = (
    KafkaError._FENCED,
    KafkaError._FATAL,
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.PRODUCER_FENCED,
)

QUEUE_MESSAGES_MAX = 1_000_000
QUEUE_KBYTES_MAX = 2_000_000


class TaskProducer:
    def __init__(self, target: Target, query_id: str, task: int) -> None:
        self._target, self._query_id, self._task = target, query_id, task
        self.producer = Producer(_producer_settings(target, task), logger=SILENT)
        self.producer.init_transactions(_TIMEOUT_S)
        reader = _shared_reader(target)
        self._group = reader.group_metadata
        self.next_batch = reader.read([task], query_id)[0]

    def begin(self, batch: int) -> None:
        """Moves the fence first: this is where a producer that was taken over finds out."""
        self.producer.begin_transaction()
        fence = self._target.fence(self._task, batch + 1, self._query_id)
        _retrying(
            lambda: self.producer.send_offsets_to_transaction([fence], self._group, _TIMEOUT_S)
        )

    def commit(self, batch: int) -> None:
        _retrying(self.producer.commit_transaction)
        self.next_batch = batch + 1

    def close(self) -> bool:
        """Ends what is open, so that readers need not wait for the transaction to time out.

        Whether it was still ours: False if another has taken the transactional id over.
        """
        ours = True
        with suppress(KafkaException):
            self.producer.purge()
        try:
            self.producer.abort_transaction(_ABORT_TIMEOUT_S)
        except KafkaException as failure:
            # None open, or fenced, or the broker is away: whoever opens the producer aborts it.
            ours = not says_fenced(failure)
        with suppress(KafkaException), fatal_errors_told():
            # It raises if it was fenced.
            self.producer.close()
        return ours


def says_fenced(failure: BaseException) -> bool:
    """Whether the transactional id was taken over, as far as this failure tells."""
    return isinstance(failure, KafkaException) and failure.args[0].code() in _FENCED


def _retrying(call: Callable[[], Any]) -> None:
    """Until librdkafka itself says that trying again is of no use."""
    deadline = time.monotonic() + _TIMEOUT_S
    while True:
        try:
            call()
            return
        except KafkaException as failure:
            if not failure.args[0].retriable() or time.monotonic() > deadline:
                raise
        time.sleep(_RETRY_S)


def _producer_settings(target: Target, task: int) -> dict[str, Any]:
    return {
        # Where a key goes is where Java's producers, and Spark's own sink, would put it.
        "partitioner": "murmur2_random",
        "linger.ms": 5,
        "batch.num.messages": 100_000,
        "queue.buffering.max.messages": QUEUE_MESSAGES_MAX,
        "queue.buffering.max.kbytes": QUEUE_KBYTES_MAX,
        # The broker decides what is too large, by its own or its topic's max.message.bytes.
        "message.max.bytes": 100_000_000,
        **STEADY_TRANSACTIONS,
        **target.kafka,
        # A record that fails makes its transaction fail, so its report would say nothing new.
        "delivery.report.only.error": True,
        "transactional.id": target.transactional_id(task),
        "transaction.timeout.ms": target.transaction_timeout_ms,
    }


# What this worker process holds. A worker runs one task at a time.
_producers: dict[tuple[str, str, str], TaskProducer] = {}
_readers: dict[tuple[str, str], FenceReader] = {}


def begun_producer(
    target: Target, query_id: str, task: int, batch: int, attempt: int = 0
) -> TaskProducer | None:
    """A task's producer in a transaction for this batch; none if the batch was written before."""
    name = _name(target, query_id, task)
    producer = _producers.get(name)
    if producer is not None:
        try:
            return _begin(producer, batch)
        except KafkaException as failure:
            taken = not drop_producer(target, query_id, task) or says_fenced(failure)
            # By whoever had the batch before this one; or by a newer attempt at this one.
            if taken and attempt == 0 and _is_written(target, query_id, task, batch, 0.0):
                return None
    return _begin(_open(target, query_id, task), batch)


def drop_producer(target: Target, query_id: str, task: int) -> bool:
    """Whether it was still ours."""
    producer = _producers.pop(_name(target, query_id, task), None)
    return producer is None or producer.close()


def is_written_by_another(target: Target, query_id: str, task: int, batch: int) -> bool:
    """Asked by an attempt that was fenced: wait for what the newer one comes to."""
    return _is_written(target, query_id, task, batch, _NOBODY_S)


def _is_written(target: Target, query_id: str, task: int, batch: int, patience_s: float) -> bool:
    deadline = time.monotonic() + patience_s
    while True:
        asked = time.monotonic()
        try:
            # Answered when no transaction is open that moves this fence.
            if _shared_reader(target).read([task], query_id)[0] > batch:
                return True
        except KafkaException:
            return False
        if time.monotonic() - asked > _RETRY_S:
            deadline = time.monotonic() + patience_s
        if time.monotonic() >= deadline:
            return False
        time.sleep(_RETRY_S)


def _begin(producer: TaskProducer, batch: int) -> TaskProducer | None:
    if producer.next_batch > batch:
        return None
    producer.begin(batch)
    return producer


def _open(target: Target, query_id: str, task: int) -> TaskProducer:
    # Workers belong to one query at a time: producers of another are those of one that has ended.
    for name in [each for each in _producers if each[2] != query_id]:
        _producers.pop(name).close()
    producer = TaskProducer(target, query_id, task)
    _producers[_name(target, query_id, task)] = producer
    return producer


def _name(target: Target, query_id: str, task: int) -> tuple[str, str, str]:
    return str(target.kafka["bootstrap.servers"]), target.transactional_id(task), query_id


def _shared_reader(target: Target) -> FenceReader:
    name = str(target.kafka["bootstrap.servers"]), target.group
    if name not in _readers:
        while _readers:
            _readers.popitem()[1].close()
        _readers[name] = FenceReader(target)
    return _readers[name]
