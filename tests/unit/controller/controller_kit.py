"""A controller with one broker at work, and its records as they would come back from a log."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from penstock.controller import ControllerConfig, ControllerShard, SettingsSchema
from penstock.controller.outcome import Outcome
from penstock.machine.timers import Timers
from penstock.metadata import ClusterImage, MetadataRecord
from penstock.protocol.messages.broker_registration import BrokerRegistrationRequest, Feature
from penstock.protocol.record_frame import decode_metadata_record, encode_metadata_record
from penstock.settings.config import BrokerConfig

T = TypeVar("T")


class Controller:
    def __init__(self, brokers: int = 1, config: ControllerConfig | None = None) -> None:
        self.config = config or ControllerConfig()
        self.drawn = 0
        self.log: list[bytes] = []
        self.timers = Timers()
        self.shard = self._new_shard(None)
        self.do(lambda shard: shard.decide_activate())
        for broker_id in range(1, brokers + 1):
            self.start_broker(broker_id)

    def _new_shard(self, image: ClusterImage | None) -> ControllerShard:
        settings = BrokerConfig()
        schema = SettingsSchema(lambda: settings)
        return ControllerShard(self.config, schema, self._draw, image)

    @property
    def image(self) -> ClusterImage:
        return self.shard.image

    def _draw(self) -> bytes:
        self.drawn += 1
        return (self.drawn * 0x9E3779B97F4A7C15 % (1 << 128)).to_bytes(16, "big")

    def start_broker(self, broker_id: int) -> None:
        request = self.registration(broker_id)
        epoch = self.do(lambda shard: shard.decide_register_broker(request)).broker_epoch
        self.do(lambda shard: shard.decide_unfence_broker(broker_id, epoch))

    def registration(self, broker_id: int) -> BrokerRegistrationRequest:
        features = [Feature(name=one, max_supported_version=99) for one in self.image.features]
        return BrokerRegistrationRequest(
            broker_id=broker_id,
            incarnation_id=self._draw(),
            features=features,
            log_dirs=[(1000 + broker_id).to_bytes(16, "big")],
        )

    def do(self, decide: Callable[[ControllerShard], Outcome[T]]) -> T:
        return self.take(decide(self.shard)).reply  # type: ignore[return-value]

    def take(self, decision: Outcome[T]) -> Outcome[T]:
        for record in decision.records:
            self.shard.replay(record, len(self.log))
            self.log.append(encode_metadata_record(record))
        if decision.adopt is not None:
            decision.adopt()
        self.timers.apply(decision.timers)
        return decision

    def records(self) -> list[MetadataRecord]:
        return [decode_metadata_record(data) for data in self.log]

    def reloaded(self) -> ClusterImage:
        return replay(self.records())


def replay(records: list[MetadataRecord]) -> ClusterImage:
    image = ClusterImage()
    for offset, record in enumerate(records):
        image.replay(record, offset)
    return image
