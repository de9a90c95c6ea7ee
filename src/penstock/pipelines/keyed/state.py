"""The states of one source partition, and how they come back from the state topic.

The state topic is compacted and has the partitions of the source. A state's record has the event's
key (`state_key`); one record more in each partition holds the position: the offset of the next
event to judge. Restoring reads committed records only, so what it finds is what some transaction
wrote whole. This module never writes: that is the lane's, in the transaction that holds the outputs
too.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from penstock.client.patience import ends_of
from penstock.pipelines.kafka import CALL_TIMEOUT_S, consumer_settings

# No text in UTF-8 begins so: keys of events that do are set apart from the position's.
_OWN = b"\xff\xff"
POSITION_KEY = _OWN + b"position"
_SET_APART = _OWN + b"key:"
_RESTORE_SILENCE_S = 30.0
# A client waits for a whole batch or for so long: the end of a partition is no whole batch.
_BATCH = 10_000
_BATCH_S = 0.02
# So long a broker holds the fetch that finds the end.
_END_WAIT = {"fetch.wait.max.ms": 10}


class Position(NamedTuple):
    offset: int
    """Of the next event."""
    run: str
    """The run that holds the partition."""
    partitions: int
    """How many the source had: states stand where keys of so many go."""
    counts: tuple[int, ...] = ()
    """What that run has come to in this partition, in the order of `LaneSpec.counted`."""


class PartitionState:
    def __init__(self, topic: str, partition: int) -> None:
        self.topic = topic
        self.partition = partition
        self.states: dict[bytes, bytes] = {}
        """Committed ones, encoded."""
        self.position: Position | None = None
        self._next_offset = 0

    def restore(self, client: Mapping[str, Any], group: str) -> int:
        """Read what was committed since the last call (everything, at first); records read."""
        consumer = Consumer({**consumer_settings(client, group), **_END_WAIT})
        try:
            low, high = _ends(consumer, self.topic, self.partition)
            start = max(low, self._next_offset)
            if start >= high:
                return 0
            consumer.assign([TopicPartition(self.topic, self.partition, start)])
            return self._read_to_end(consumer)
        finally:
            consumer.close()

    def keep(self, changed: Mapping[bytes, bytes | None], position: Position) -> None:
        """Take over what a transaction has committed."""
        for key, state in changed.items():
            self._set(key, state)
        self.position = position

    def _read_to_end(self, consumer: Consumer) -> int:
        count = 0
        deadline = time.monotonic() + _RESTORE_SILENCE_S
        while time.monotonic() < deadline:
            for message in consumer.consume(_BATCH, _BATCH_S):
                error = message.error()
                if error is None:
                    self._read(message.key() or b"", message.value())
                    self._next_offset = (message.offset() or 0) + 1
                    count += 1
                elif error.code() == KafkaError._PARTITION_EOF:
                    self._next_offset = message.offset() or 0
                    return count
                elif not error.retriable() and error.code() != KafkaError._TRANSPORT:
                    raise KafkaException(error)
                deadline = time.monotonic() + _RESTORE_SILENCE_S
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"no end of {self.topic} in sight"))

    def _read(self, key: bytes, value: bytes | None) -> None:
        if key == POSITION_KEY:
            self.position = decode_position(value)
        else:
            self._set(event_key(key), value)

    def _set(self, key: bytes, value: bytes | None) -> None:
        if value is None:
            self.states.pop(key, None)
        else:
            self.states[key] = value


def state_key(key: bytes) -> bytes:
    """Under which the state of an event's key is written: any bytes but the position's."""
    return _SET_APART + key if key.startswith(_OWN) else key


def event_key(key: bytes) -> bytes:
    """The other way round."""
    return key.removeprefix(_SET_APART)


def encode_position(position: Position) -> bytes:
    return orjson.dumps(
        {
            "position": position.offset,
            "run": position.run,
            "partitions": position.partitions,
            "counts": position.counts,
        }
    )


def decode_position(value: bytes | None) -> Position | None:
    if value is None:
        return None
    fields = orjson.loads(value)
    # Earlier versions named a run by the time of its start, as a number, and counted nothing.
    return Position(
        int(fields["position"]),
        str(fields["run"]),
        int(fields["partitions"]),
        tuple(fields.get("counts", ())),
    )


def read_position(
    consumer: Consumer, topic: str, partition: int, chunk: int = 50
) -> Position | None:
    """The last committed position in a partition of the state topic, looked for from its end.

    Every transaction ends with one, so it is near the end unless aborted records follow it.
    """
    low, high = _ends(consumer, topic, partition)
    start = high
    while start > low:
        start = max(low, start - chunk)
        found = _last_position(consumer, topic, partition, start)
        if found is not None:
            return found
        chunk *= 10
    return None


def _ends(consumer: Consumer, topic: str, partition: int) -> tuple[int, int]:
    """Asked for before the partition is assigned: a client that is given a partition whose leader
    it does not know yet looks for it again only half a second later."""
    return ends_of(consumer, topic, partition, CALL_TIMEOUT_S)


def _last_position(consumer: Consumer, topic: str, partition: int, start: int) -> Position | None:
    found: Position | None = None
    consumer.assign([TopicPartition(topic, partition, start)])
    deadline = time.monotonic() + _RESTORE_SILENCE_S
    while time.monotonic() < deadline:
        for message in consumer.consume(_BATCH, _BATCH_S):
            error = message.error()
            if error is None:
                if message.key() == POSITION_KEY:
                    found = decode_position(message.value())
            elif error.code() == KafkaError._PARTITION_EOF:
                return found
    raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"{topic}-{partition} cannot be read"))
