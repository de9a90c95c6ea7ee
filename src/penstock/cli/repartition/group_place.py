"""Groups of a topic that is repartitioned: who is ready for the other topic, and who is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from penstock.cli.group.reader import ClusterReader
from penstock.cli.operator.link import Link
from penstock.cli.repartition.job import Job

Offsets = Mapping[int, int]


class GroupPlace(NamedTuple):
    group: str
    on_source: Offsets
    on_target: Offsets
    members: int

    def left(self, cut: Offsets) -> int:
        """Records of the old topic that it has not read; partitions without an offset count
        whole."""
        return sum(max(end - self.on_source.get(each, 0), 0) for each, end in cut.items())

    def has_moved(self, target_cut: Offsets) -> bool:
        """It has read from the new topic what was written there."""
        return any(at > target_cut.get(each, 0) for each, at in self.on_target.items())


def read_places(link: Link, job: Job) -> list[GroupPlace]:
    """Of every group that has offsets on one of both topics, but for the copy's own."""
    with ClusterReader(link) as reader:
        listed = [each for each in reader.listed() if each.name not in (job.group, job.back_group)]
        committed = reader.committed(listed)
        members = {each.name: len(each.members) for each in reader.described(listed)}
    found = []
    for name, offsets in sorted(committed.items()):
        source = {p: at for (topic, p), at in offsets.items() if topic == job.source}
        target = {p: at for (topic, p), at in offsets.items() if topic == job.target}
        if source or target:
            found.append(GroupPlace(name, source, target, members.get(name, 0)))
    return found
