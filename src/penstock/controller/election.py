"""Who leads a partition.

A leader comes from the in-sync replicas; where none is left, from those known to hold everything
committed (KIP-966), then from the one that is known to have led last. Only an unclean election,
which may lose records, looks further.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from penstock.controller.leader_rules import LeaderRules
from penstock.metadata.partition import NO_LEADER, PartitionImage


class Election(IntEnum):
    PREFERRED = 0
    UNCLEAN = 1
    ONLINE = 2
    """Not to be asked for: what any change of a partition does to keep it led."""


class Vote(NamedTuple):
    """The partition as it shall be, as it was, and what kind of election it is."""

    replicas: Sequence[int]
    isr: Sequence[int]
    elr: Sequence[int]
    before: PartitionImage
    election: Election
    rules: LeaderRules
    told: Mapping[int, bytes] = {}
    """Directories of replicas, where this change names others than before."""

    def may_lead(self, broker_id: int) -> bool:
        return self.rules.may_lead(broker_id, self.before, self.told.get(broker_id))

    def is_valid(self, broker_id: int) -> bool:
        return broker_id in (self.isr or self.elr) and self.may_lead(broker_id)


def elect(vote: Vote) -> tuple[int, bool]:
    """The leader, or -1, and whether the election may have lost records."""
    if vote.election == Election.PREFERRED and vote.is_valid(vote.replicas[0]):
        return vote.replicas[0], False
    if vote.is_valid(vote.before.leader):
        return vote.before.leader, False
    for broker_id in vote.replicas:
        if vote.is_valid(broker_id):
            return broker_id, False
    last_known = _last_known_leader(vote)
    if last_known is not None:
        return last_known, True
    if vote.election == Election.UNCLEAN:
        for broker_id in vote.replicas:
            if vote.may_lead(broker_id):
                return broker_id, True
    return NO_LEADER, False


def _last_known_leader(vote: Vote) -> int | None:
    """Alive, or it stays leaderless: a fenced one was elected once (KAFKA-19522)."""
    known = vote.before.last_known_elr
    if not vote.rules.keeps_eligible or vote.isr or vote.elr or len(known) != 1:
        return None
    return known[0] if known[0] in vote.replicas and vote.may_lead(known[0]) else None
