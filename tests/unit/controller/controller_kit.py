"""A controller with one broker at work, and its records as they would come back from a log."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from penstock.controller import ControllerConfig, ControllerShard, SettingsSchema
from penstock.controller.outcome import Outcome
from penstock.metadata import ClusterImage, MetadataRecord
from penstock.protocol.messages.broker_registration import BrokerRegistrationRequest, Feature
from penstock.protocol.record_frame import decode_metadata_record, encode_metadata_record
from penstock.settings.config import BrokerConfig

T = TypeVar("T")


class Controller:
    def __init__(self, brokers: int = 1, config: ControllerConfig | None = None) -> None:
        settings = BrokerConfig()
        self.drawn = 0
        self.log: list[bytes] = []
        self.shard = ControllerShard(
            config or ControllerConfig(), SettingsSchema(lambda: settings), self._draw
        )
        self.do(lambda shard: shard.decide_activate())
        for broker_id in range(1, brokers + 1):
            self.start_broker(broker_id)

    @property
    def image(self) -> ClusterImage:
        return self.shard.image

    def _draw(self) -> bytes:
        self.drawn += 1
        return (self.drawn * 0x9E3779B97F4A7C15 % (1 << 128)).to_bytes(16, "big")

    def start_broker(self, broker_id: int) -> None:
        features = [Feature(name=one, max_supported_version=99) for one in self.image.features]
        request = BrokerRegistrationRequest(
            broker_id=broker_id,
            incarnation_id=self._draw(),
            features=features,
            log_dirs=[(1000 + broker_id).to_bytes(16, "big")],
        )
        epoch = self.do(lambda shard: shard.decide_register_broker(request)).broker_epoch
        self.do(lambda shard: shard.decide_unfence_broker(broker_id, epoch))

    def do(self, decide: Callable[[ControllerShard], Outcome[T]]) -> T:
        decision = decide(self.shard)
        for record in decision.records:
            self.shard.replay(record, len(self.log))
            self.log.append(encode_metadata_record(record))
        return decision.reply  # type: ignore[return-value]

    def reloaded(self) -> ClusterImage:
        return replay([decode_metadata_record(data) for data in self.log])


def replay(records: list[MetadataRecord]) -> ClusterImage:
    image = ClusterImage()
    for offset, record in enumerate(records):
        image.replay(record, offset)
    return image
