"""Space comes and goes at random under a node that rolls, creates topics and is killed: whatever
was acknowledged is there afterwards, once and in order, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock.model.error import RETRIABLE, ErrorCode
from penstock.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from penstock.protocol.messages.init_producer_id import InitProducerIdRequest
from penstock.protocol.messages.metadata import MetadataRequest
from tests.node.node_kit import FailingDisk, running
from tests.node.test_full_disk import commit, commit_error, committed, create, read_all, wait_zero
from tests.node.wire_kit import PRODUCE_VERSION, Wire, produce, produced, recent

LIVES = 3
STEPS = 80


@dataclass
class Ledger:
    """What was acknowledged."""

    records: dict[str, list[bytes]] = field(default_factory=dict)
    topics: set[str] = field(default_factory=set)
    offset: int = -1


def rolling(name: str) -> CreateTopicsRequest:
    config = CreatableTopicConfig(name="internal.segment.bytes", value="600")
    topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1, configs=[config])
    return CreateTopicsRequest(topics=[topic])


class Story:
    def __init__(self, seed: int, home: Path) -> None:
        self.chance = Random(seed)
        self.home = home
        self.ledger = Ledger()
        self.disk = FailingDisk()
        self.refused = 0
        self._number = 0

    def live(self) -> None:
        self.disk.free()
        with running(self.home, self.disk) as node:
            with Wire(node.address) as wire:
                self.check(wire)
                producer_id = self._begin(wire)
                sequences = dict.fromkeys(self.ledger.records, 0)
                for _ in range(STEPS):
                    self._weather()
                    self._step(wire, producer_id, sequences)
                self.disk.free()
                self.check(wire)
            assert node.node.log_dirs.metadata.offline is None
            node.stop() if self.chance.random() < 0.3 else node.abandon()

    def _begin(self, wire: Wire) -> int:
        for name in ("t", "u"):
            if name not in self.ledger.topics:
                assert wire.call(rolling(name), 7).topics[0].error_code == 0
                self.ledger.topics.add(name)
                self.ledger.records[name] = []
        wait_zero(lambda: commit_error(wire.call(commit(0), 8)))
        self.ledger.offset = 0
        producer_id: int = wire.call(InitProducerIdRequest(transactional_id=None), 4).producer_id
        return producer_id

    def _weather(self) -> None:
        roll = self.chance.random()
        if roll < 0.12:
            self.disk.fill(self.chance.choice((0, 0, 10, 100, 700)))
            self.disk.may_create = self.chance.random() < 0.5
        elif roll < 0.3:
            self.disk.free()

    def _step(self, wire: Wire, producer_id: int, sequences: dict[str, int]) -> None:
        roll = self.chance.random()
        if roll < 0.85:
            self._produce(wire, producer_id, sequences)
        elif roll < 0.93:
            self._create(wire)
        else:
            self._commit(wire)

    def _produce(self, wire: Wire, producer_id: int, sequences: dict[str, int]) -> None:
        topic = self.chance.choice(["t", "u"])
        self._number += 1
        content = b"%d " % self._number + b"x" * self.chance.randrange(200)
        data = recent(
            content, producer_id=producer_id, producer_epoch=0, base_sequence=sequences[topic]
        )
        answer = produced(wire.call(produce(topic, data), PRODUCE_VERSION))
        if answer.error_code == 0:
            assert answer.base_offset == len(self.ledger.records[topic])
            self.ledger.records[topic].append(content)
            sequences[topic] += 1
        else:
            assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
            self.refused += 1

    def _create(self, wire: Wire) -> None:
        self._number += 1
        name = f"made-{self._number}"
        answer = wire.call(create(name), 7).topics[0]
        if answer.error_code == 0:
            self.ledger.topics.add(name)
        else:
            assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR

    def _commit(self, wire: Wire) -> None:
        offset = self.ledger.offset + 1
        code = commit_error(wire.call(commit(offset), 8))
        if code == 0:
            self.ledger.offset = offset
        else:
            assert code in RETRIABLE

    def check(self, wire: Wire) -> None:
        found: Any = wire.call(MetadataRequest(topics=None), 9)
        names = {each.name for each in found.topics} - {"__consumer_offsets"}
        assert names == self.ledger.topics
        for topic, kept in self.ledger.records.items():
            assert read_all(wire, topic) == kept
        if self.ledger.offset >= 0:
            assert committed(wire) == self.ledger.offset


@pytest.mark.parametrize("seed", range(3))
def test_whatever_the_weather(seed: int, tmp_path: Path) -> None:
    story = Story(seed, tmp_path / "data")
    for _ in range(LIVES):
        story.live()
    story.disk.free()
    with running(story.home) as node, Wire(node.address) as wire:
        story.check(wire)
    assert story.refused > 3
