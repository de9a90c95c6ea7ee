"""One change of one partition, from what is wanted of it to the record that says so.

Every change goes through here, since each may finish a reassignment, has to say who is eligible to
lead (KIP-966), and elects where the leader can no longer be one.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.controller.election import Election, Vote, elect
from penstock.controller.leader_rules import LeaderRules
from penstock.controller.reassigned_replicas import finished
from penstock.metadata.partition import NO_LEADER, PartitionImage
from penstock.metadata.topic import TopicImage
from penstock.model.directory_id import MIGRATING
from penstock.protocol.messages.records.partition_change_record import PartitionChangeRecord

LEADER_UNCHANGED = -2
RECOVERED, RECOVERING = 0, 1


class PartitionChange:
    """Set what is wanted, then ask for the record. Begins as the partition is."""

    __slots__ = (
        "_index",
        "_partition",
        "_rules",
        "_topic",
        "adding",
        "directories",
        "election",
        "elr",
        "isr",
        "recovery",
        "removing",
        "replicas",
        "stopped_uncleanly",
    )

    def __init__(
        self, rules: LeaderRules, topic: TopicImage, index: int, partition: PartitionImage
    ) -> None:
        self._rules = rules
        self._topic = topic
        self._index = index
        self._partition = partition
        self.isr: Sequence[int] = partition.isr
        self.elr: Sequence[int] = partition.elr
        self.replicas: Sequence[int] = partition.replicas
        self.adding: Sequence[int] = partition.adding_replicas
        self.removing: Sequence[int] = partition.removing_replicas
        self.recovery = partition.leader_recovery_state
        self.directories: dict[int, bytes] = {}
        """Told by the broker that holds the replica."""
        self.stopped_uncleanly: int | None = None
        """A broker that may have lost what it had: it is not eligible any more."""
        self.election = Election.UNCLEAN if rules.allows_unclean(topic) else Election.ONLINE

    def record(self) -> PartitionChangeRecord | None:
        """None if the partition is already as wanted."""
        record = PartitionChangeRecord(partition_id=self._index, topic_id=self._topic.id)
        self._finish_reassignment()
        self._settle_eligible()
        self._elect(record)
        self._fill_in_sync(record)
        self._fill_eligible(record)
        self._fill_assignment(record)
        if self.recovery != self._partition.leader_recovery_state:
            record.leader_recovery_state = self.recovery
        return None if _says_nothing(record) else record

    def _finish_reassignment(self) -> None:
        if not self.adding and not self.removing:
            return
        final = finished(self.replicas, self.isr, self.adding, self.removing)
        if final is not None:
            self.replicas, self.isr = final
            self.adding = self.removing = ()

    def _settle_eligible(self) -> None:
        """With enough in sync more is committed than the eligible have: they are so no longer."""
        rules, before = self._rules, self._partition
        if not rules.keeps_eligible or len(self.isr) >= rules.min_isr(
            self._topic, len(self.replicas)
        ):
            self.elr = ()
            return
        had_all = {*before.elr, *before.isr} - {*self.isr, self.stopped_uncleanly}
        self.elr = [one for one in self.replicas if one in had_all]

    def _elect(self, record: PartitionChangeRecord) -> None:
        before = self._partition
        leader, is_unclean = elect(
            Vote(
                self.replicas,
                self.isr,
                self.elr,
                before,
                self.election,
                self._rules,
                self.directories,
            )
        )
        if leader != before.leader or is_unclean:
            record.leader = leader
            if is_unclean:
                self.isr, self.elr, self.recovery = (leader,), (), RECOVERING
            elif leader in self.elr:
                self.isr = (leader,)
                self.elr = [one for one in self.elr if one != leader]
        elif not set(before.replicas).issubset(self.replicas):
            # A replica that leaves must not be mistaken for one of this epoch.
            record.leader = leader

    def _fill_in_sync(self, record: PartitionChangeRecord) -> None:
        """Without eligible leaders the last in-sync replica stays listed: nothing else tells."""
        is_kept = not self.isr and not self._rules.keeps_eligible
        if not is_kept and tuple(self.isr) != self._partition.isr:
            record.isr = list(self.isr)

    def _fill_eligible(self, record: PartitionChangeRecord) -> None:
        before = self._partition
        if tuple(self.elr) != before.elr:
            record.eligible_leader_replicas = list(self.elr)
        if not self._rules.keeps_eligible:
            return
        leader = before.leader if record.leader == LEADER_UNCHANGED else record.leader
        if leader != NO_LEADER:
            last_known: tuple[int, ...] = ()
        elif before.leader != NO_LEADER and not self.isr:
            last_known = (before.leader,)
        else:
            last_known = before.last_known_elr
        if last_known != before.last_known_elr:
            record.last_known_elr = list(last_known)

    def _fill_assignment(self, record: PartitionChangeRecord) -> None:
        before = self._partition
        if tuple(self.replicas) != before.replicas:
            record.replicas = list(self.replicas)
        if tuple(self.removing) != before.removing_replicas:
            record.removing_replicas = list(self.removing)
        if tuple(self.adding) != before.adding_replicas:
            record.adding_replicas = list(self.adding)
        if record.replicas is not None or self.directories:
            directories = self._new_directories()
            # With replicas always, the same or not: Kafka takes them for unknown otherwise.
            if record.replicas is not None or tuple(directories) != before.directories:
                record.directories = directories

    def _new_directories(self) -> list[bytes]:
        before = self._partition
        held = before.directories or (MIGRATING,) * len(before.replicas)
        known = {**dict(zip(before.replicas, held, strict=True)), **self.directories}
        return [
            known[one] if one in known else self._rules.new_directory(one) for one in self.replicas
        ]


def _says_nothing(record: PartitionChangeRecord) -> bool:
    return (
        record.leader == LEADER_UNCHANGED
        and record.leader_recovery_state == -1
        and record.isr is None
        and record.replicas is None
        and record.directories is None
        and record.adding_replicas is None
        and record.removing_replicas is None
        and record.eligible_leader_replicas is None
        and record.last_known_elr is None
    )
