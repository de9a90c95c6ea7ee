"""The limits that are in force, read from their topic as it grows."""

from __future__ import annotations

from typing import Final

from penstock.metadata.image import ClusterImage
from penstock.model.error import ApiError
from penstock.model.id import ZERO_ID, TopicPartition
from penstock.model.sla import SLA_TOPIC, SlaKey, decode_sla
from penstock.node.lag.ends import LocalEnds
from penstock.node.lag.remote import RemoteEnds
from penstock.records.header import iter_batches
from penstock.records.record import iter_records
from penstock.storage.lookup import batch_at

PLACE: Final = TopicPartition(SLA_TOPIC, 0)
REMOTE_BYTES: Final = 1 << 20


class SlaReader:
    def __init__(self, image: ClusterImage, remote: RemoteEnds) -> None:
        self.limits: dict[SlaKey, float] = {}
        self._image = image
        self._remote = remote
        self._topic_id = ZERO_ID
        self._next_offset = 0

    async def refresh(self, local: LocalEnds) -> bool:
        """Whether anything has changed."""
        topic = self._image.topics.get(SLA_TOPIC)
        topic_id = ZERO_ID if topic is None else topic.id
        was = dict(self.limits)
        if topic_id != self._topic_id:
            self._topic_id, self._next_offset, self.limits = topic_id, 0, {}
        if topic is not None:
            replica = local.find(PLACE)
            try:
                if replica is None:
                    self._take(await self._remote.records(PLACE, self._next_offset, REMOTE_BYTES))
                else:
                    bound = replica.high_watermark
                    while found := batch_at(replica.log, self._next_offset, bound):
                        self._take(found.read())
            except ApiError:
                pass
        return self.limits != was

    def _take(self, data: bytes) -> None:
        view = memoryview(data)
        for position, header in iter_batches(data, 0, len(data)):
            self._next_offset = header.next_offset
            if header.is_control:
                continue
            for record in iter_records(view[position : position + header.size]):
                decoded = decode_sla(record.key, record.value)
                if decoded is None:
                    continue
                key, seconds = decoded
                if seconds is None:
                    self.limits.pop(key, None)
                else:
                    self.limits[key] = seconds
