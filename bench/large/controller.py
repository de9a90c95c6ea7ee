"""The controller of a cluster that is too large for this machine: the real one, without its nodes.

Owns the driving of it: brokers register, topics are made, records are encoded as they would be
written and replayed as they would come back. Takes no time for disks and networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from penstock.controller import ControllerConfig, ControllerShard, SettingsSchema
from penstock.controller.outcome import Outcome
from penstock.metadata import ClusterImage, MetadataRecord
from penstock.metadata.version import METADATA_LEVEL
from penstock.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from penstock.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.quorum.metadata_batch import encode_values, pack_batches
from penstock.settings.config import BrokerConfig

T = TypeVar("T")

LEVEL = METADATA_LEVEL
NOW_MS = 1_000_000
REPLICAS = 3


class LargeController:
    def __init__(self, image: ClusterImage | None = None) -> None:
        self._drawn = 0
        settings = BrokerConfig()
        self.shard = ControllerShard(
            ControllerConfig(), SettingsSchema(lambda: settings), self._draw, image
        )
        self.log_bytes = 0
        self.take(self.shard.decide_activate(now_ms=NOW_MS))

    @property
    def image(self) -> ClusterImage:
        return self.shard.image

    def _draw(self) -> bytes:
        self._drawn += 1
        return (self._drawn * 0x9E3779B97F4A7C15F39CC0605CEDC835 % (1 << 128)).to_bytes(16, "big")

    def take(self, outcome: Outcome[T]) -> Sequence[MetadataRecord]:
        """The decision takes effect; its records as a batch of the log are counted."""
        offset = self.image.next_offset
        for at, record in enumerate(outcome.records, offset):
            self.shard.replay(record, at)
        if outcome.adopt is not None:
            outcome.adopt()
        self.log_bytes += written_bytes(outcome.records, offset)
        return outcome.records

    def start_broker(self, broker_id: int) -> None:
        request = BrokerRegistrationRequest(
            broker_id=broker_id,
            incarnation_id=self._draw(),
            rack=f"rack-{broker_id % 3}",
            listeners=[Listener(name="PLAINTEXT", host=f"broker-{broker_id}.internal", port=9092)],
            features=[Feature(name=one, max_supported_version=99) for one in self.image.features],
            log_dirs=[(1000 + broker_id).to_bytes(16, "big")],
        )
        self.take(self.shard.decide_register_broker(request, 4, NOW_MS))
        self.take(self.shard.decide_heartbeat(self.heartbeat(broker_id), NOW_MS))

    def heartbeat(self, broker_id: int) -> BrokerHeartbeatRequest:
        return BrokerHeartbeatRequest(
            broker_id=broker_id,
            broker_epoch=self.image.brokers[broker_id].epoch,
            current_metadata_offset=self.image.next_offset - 1,
        )

    def create(self, names: Sequence[str], partitions: int) -> None:
        request = CreateTopicsRequest(
            topics=[
                CreatableTopic(name=name, num_partitions=partitions, replication_factor=REPLICAS)
                for name in names
            ]
        )
        outcome = self.shard.decide_create_topics(request)
        refused = [one for one in outcome.reply.topics if one.error_code]  # type: ignore[union-attr]
        assert not refused, refused[0]
        self.take(outcome)


def written_bytes(records: Sequence[MetadataRecord], offset: int) -> int:
    values = encode_values(records, LEVEL)
    return sum(len(batch) for batch in pack_batches(values, offset, 1, NOW_MS))
