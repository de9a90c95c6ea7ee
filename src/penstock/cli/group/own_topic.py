"""A compacted topic of ours: the last value of each key, on whichever cluster it is kept."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

from penstock.cli.failure import Failure
from penstock.cli.leader_call import (
    EARLIEST,
    LATEST,
    READ_COMMITTED,
    Address,
    Leaders,
    leaders_of,
    list_offsets,
    read_metadata,
)
from penstock.cli.operator.link import Link, check
from penstock.cli.partition_record import iter_partition
from penstock.cli.wire_call import BrokerConnection
from penstock.model.error import ErrorCode
from penstock.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from penstock.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from penstock.records.builder import build_batch
from penstock.records.record import Record

_REPLICAS: Final = 3
_PRODUCE_VERSION: Final = 12
"""The last that calls topics by name."""
_RETRY_S: Final = 0.1
_PASSING: Final = (
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.LEADER_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS,
)


class OwnTopic:
    """One partition; made when something is first written to it."""

    def __init__(self, link: Link, name: str) -> None:
        self._link = link
        self._name = name
        self._place = (name, 0)

    def read(self) -> dict[bytes, bytes]:
        """Nothing of a topic that is not there."""
        leaders = self._leaders()
        address = leaders.by_place.get(self._place)
        if address is None:
            return {}
        offset = list_offsets(self._link, leaders, [self._place], EARLIEST).get(self._place, 0)
        end = list_offsets(self._link, leaders, [self._place], LATEST, READ_COMMITTED)
        found: dict[bytes, bytes] = {}
        with BrokerConnection(self._link.connect, *address) as connection:
            last = end.get(self._place, 0)
            for record in iter_partition(connection, self._place, offset, last):
                if record.value is None:
                    found.pop(record.key or b"", None)
                else:
                    found[record.key or b""] = record.value
        return found

    def write(self, values: Mapping[bytes, bytes | None]) -> None:
        """All of them at once; None takes a key away."""
        address = self._leaders().by_place.get(self._place)
        if address is None:
            address = self._make()
        now_ms = int(time.time() * 1000)
        records = [
            Record(count, now_ms, key, value) for count, (key, value) in enumerate(values.items())
        ]
        deadline = time.monotonic() + self._link.timeout_s
        while True:
            code = self._produce(address, bytes(build_batch(records)))
            if code not in _PASSING or time.monotonic() > deadline:
                check(code, what=self._name)
                return
            time.sleep(_RETRY_S)
            address = self._leaders().by_place.get(self._place, address)

    def _produce(self, address: Address, batch: bytes) -> int:
        part = PartitionProduceData(index=0, records=batch)
        request = ProduceRequest(
            acks=-1,
            timeout_ms=self._link.timeout_ms,
            topic_data=[TopicProduceData(name=self._name, partition_data=[part])],
        )
        with BrokerConnection(self._link.connect, *address) as connection:
            answer = connection.call(request, ProduceResponse, _PRODUCE_VERSION)
        return answer.responses[0].partition_responses[0].error_code

    def _make(self) -> Address:
        brokers = len(read_metadata(self._link, ()).brokers)
        topic = CreatableTopic(
            name=self._name,
            num_partitions=1,
            replication_factor=min(_REPLICAS, brokers),
            configs=[CreatableTopicConfig(name="cleanup.policy", value="compact")],
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=self._link.timeout_ms)
        (made,) = self._link.call(request, CreateTopicsResponse).topics
        if made.error_code != ErrorCode.TOPIC_ALREADY_EXISTS:
            check(made.error_code, made.error_message, f"topic {self._name}")
        deadline = time.monotonic() + self._link.timeout_s
        while time.monotonic() < deadline:
            address = self._leaders().by_place.get(self._place)
            if address is not None:
                return address
            time.sleep(_RETRY_S)
        raise Failure(f"topic {self._name} has no leader; `penstock brokers list` shows who is up")

    def _leaders(self) -> Leaders:
        return leaders_of(read_metadata(self._link, [self._name]))
