"""What one decision knows of the cluster when it changes partitions: who may lead, what is enough.

Owns nothing that lasts: it is made for a decision, with the brokers that come or go by it, and
remembers what it was asked, since one decision may change ten thousand partitions.
"""

from __future__ import annotations

from typing import Final

from penstock.controller.config import ELIGIBLE_LEADERS, ControllerContext
from penstock.controller.placement import default_directory
from penstock.metadata.broker import BrokerImage
from penstock.metadata.partition import PartitionImage
from penstock.metadata.topic import TopicImage
from penstock.model.directory_id import UNASSIGNED, is_online

MIN_ISR: Final = "min.insync.replicas"
UNCLEAN_ELECTION: Final = "unclean.leader.election.enable"


class LeaderRules:
    """`gone` may not lead, whatever the image says; `back` may, though still fenced there."""

    def __init__(
        self, context: ControllerContext, *, gone: int | None = None, back: int | None = None
    ) -> None:
        image = context.image
        self._context = context
        self.keeps_eligible = bool(image.features.get(ELIGIBLE_LEADERS))
        self._active = {
            broker.id: broker.log_dirs
            for broker in image.brokers.values()
            if broker.id != gone and (broker.is_active or _comes_back(broker, back))
        }
        self._min_isr: dict[str, int] = {}
        self._unclean: dict[str, bool] = {}

    def may_lead(
        self, broker_id: int, partition: PartitionImage, directory: bytes | None = None
    ) -> bool:
        """It is at work, and the directory that holds the replica is: the one that it has just
        told, or the one that is known."""
        online = self._active.get(broker_id)
        if online is None:
            return False
        return is_online(directory or partition.directory(broker_id), online)

    def min_isr(self, topic: TopicImage, replica_count: int) -> int:
        """How many in-sync replicas are enough: below that nothing new is committed.

        Never more than the leader counts with, who knows the replicas of its partition: whoever
        is called eligible for too long could lead without what was committed meanwhile.
        """
        wanted = self._min_isr.get(topic.name)
        if wanted is None:
            wanted = self._min_isr[topic.name] = self._wanted_min_isr(topic)
        return min(wanted, replica_count)

    def _wanted_min_isr(self, topic: TopicImage) -> int:
        text = self._setting(topic.name, MIN_ISR)
        wanted = self._context.config.min_insync_replicas if text is None else int(text)
        first = topic.partitions.get(0)
        return wanted if first is None else min(wanted, len(first.replicas))

    def allows_unclean(self, topic: TopicImage) -> bool:
        allowed = self._unclean.get(topic.name)
        if allowed is None:
            text = self._setting(topic.name, UNCLEAN_ELECTION)
            default = self._context.config.unclean_leader_election_enable
            allowed = default if text is None else text.lower() == "true"
            self._unclean[topic.name] = allowed
        return allowed

    def _setting(self, topic: str, key: str) -> str | None:
        configs = self._context.image.configs
        return configs.topic(topic).get(key) or configs.broker(None).get(key)

    def new_directory(self, broker_id: int) -> bytes:
        broker = self._context.image.brokers.get(broker_id)
        return UNASSIGNED if broker is None else default_directory(broker)


def _comes_back(broker: BrokerImage, back: int | None) -> bool:
    return broker.id == back and not broker.in_controlled_shutdown
