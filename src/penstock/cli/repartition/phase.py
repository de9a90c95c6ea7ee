"""The phases of a repartition, each of which can be killed and run again.

What a phase has begun is in the job before it is done to the cluster, so that the next run, or the
way back, knows of it. `docs/repartition.md` says what holds when.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from penstock.cli.cluster import Cluster, unknown_topic
from penstock.cli.config import describe_topic_settings
from penstock.cli.failure import Failure
from penstock.cli.group.change import delete_group
from penstock.cli.group.reader import ClusterReader
from penstock.cli.leader_call import READ_COMMITTED, read_metadata
from penstock.cli.operator.link import Link
from penstock.cli.repartition.checking import check_copy
from penstock.cli.repartition.closing import (
    close_topic,
    ends_of,
    open_topic,
    own_limit,
    records_behind,
    starts_of,
    wait_committed,
    wait_still,
)
from penstock.cli.repartition.copier import Copier, Copy
from penstock.cli.repartition.group_place import GroupPlace, read_places
from penstock.cli.repartition.job import Job, Jobs, Phase
from penstock.cli.repartition.key_look import placed_keys
from penstock.cli.repartition.key_place import find_partitioner
from penstock.cli.topic import create_topics, delete_topics

_SHORT_S: Final = 5.0
"""A round of copying that takes no longer is the last: the rest is left to the switch."""


class Repartition:
    def __init__(self, cluster: Cluster, source: str) -> None:
        self.cluster = cluster
        self.link = Link(cluster)
        self.jobs = Jobs(self.link)
        self.source = source

    def job(self) -> Job:
        found = self.jobs.find(self.source)
        if found is None:
            raise Failure(f"{self.source} is not being repartitioned; --partitions N begins it")
        return found

    # Copying

    def begin(self, partitions: int, target: str | None, partitioner: str | None) -> Job:
        """A new job, or the one that was begun before."""
        known = self.jobs.find(self.source)
        if known is not None:
            _check_same(known, partitions, target)
            return known
        there = {each.name: each for each in read_metadata(self.link).topics}
        if self.source not in there:
            raise unknown_topic(self.source)
        target = target or f"{self.source}-{partitions}"
        if target in there:
            raise Failure(f"{target} exists already; name another topic with --to")
        ends = ends_of(self.link, self.source)
        if len(ends) == partitions:
            raise Failure(f"{self.source} has {partitions} partitions already")
        keys = placed_keys(self.link, self.source, ends)
        chosen = partitioner or find_partitioner(self.source, keys, len(ends))
        starts = starts_of(self.link, self.source)
        job = Job(
            self.source, target, len(ends), partitions, chosen, int(time.time() * 1000), starts
        )
        self.jobs.keep(job)
        return job

    def copy(self, job: Job) -> int:
        """Until little is left. How many records were copied."""
        if job.phase is not Phase.copying:
            raise Failure(
                f"{self.source} is {job.phase} already; `penstock topics repartition "
                f"{self.source}` shows how far it is"
            )
        self._make_target(job)
        self._check_place(job)
        with Copier(self.cluster, _forth(job)) as copier:
            while True:
                began_s = time.monotonic()
                copier.run(ends_of(self.link, self.source, READ_COMMITTED))
                if time.monotonic() < began_s + _SHORT_S:
                    return copier.progress.count

    def _make_target(self, job: Job) -> None:
        metadata = read_metadata(self.link, [self.source])
        replicas = len(metadata.topics[0].partitions[0].replica_nodes)
        create_topics(
            self.cluster,
            [job.target],
            partitions=job.partitions,
            replication_factor=replicas,
            settings=describe_topic_settings(self.cluster, self.source),
            if_not_exists=True,
            validate_only=False,
        )

    def _check_place(self, job: Job) -> None:
        """A group's offsets expire a week after the last; without them all would come twice."""
        if any(ends_of(self.link, job.target).values()):
            with ClusterReader(self.link) as reader:
                found = reader.find(job.group)
                if found is None or not reader.committed([found]).get(job.group):
                    raise Failure(
                        f"nothing is known any more of how far the copy to {job.target} is; end "
                        f"it with --back, delete {job.target}, and begin anew"
                    )

    # The switch

    def switch(self, job: Job) -> Job:
        if job.phase is Phase.copying:
            self._make_target(job)
            self._check_place(job)
            limits = {self.source: own_limit(self.link, self.source)}
            job = replace(job, phase=Phase.switching, limits=limits)
            self.jobs.keep(job)
        if job.phase is not Phase.switching:
            raise Failure(f"{self.source} is {job.phase} already")
        close_topic(self.link, self.source)
        cut = wait_still(self.link, self.source)
        with Copier(self.cluster, _forth(job)) as copier:
            copier.run(cut)
            if ends_of(self.link, self.source) != cut:
                raise Failure(f"{self.source} grew behind its end; run the same again")
            target_cut = wait_committed(self.link, job.target)
            self._place_groups(copier, job, target_cut)
        job = replace(job, phase=Phase.switched, cut=dict(cut), target_cut=dict(target_cut))
        self.jobs.keep(job)
        return job

    def _place_groups(self, copier: Copier, job: Job, target_cut: Mapping[int, int]) -> None:
        """Everything before is read from the old topic, everything from here on from the new."""
        for each in read_places(self.link, job):
            # One that has a place is of a run that was killed behind this: it may have gone on.
            missing = {p: at for p, at in target_cut.items() if p not in each.on_target}
            if missing:
                copier.commit_places(each.group, job.target, missing)

    # The end, or the way back

    def check(self, job: Job) -> tuple[int, list[str]]:
        _expect(job, Phase.switched)
        compared, wrong = check_copy(self.cluster, self.link, job)
        if not wrong:
            self.jobs.keep(replace(job, is_checked=True))
        return compared, wrong

    def groups(self, job: Job) -> list[GroupPlace]:
        return read_places(self.link, job)

    def late(self, job: Job) -> int:
        """Records that came to the old topic behind its end."""
        return records_behind(self.link, self.source, job.cut)

    def finish(self, job: Job, *, delete: bool, force: bool) -> None:
        _expect(job, Phase.switched)
        if not job.is_checked:
            raise Failure(f"{job.target} was not checked; run it with --check first")
        late = self.late(job)
        if late:
            raise Failure(
                f"{late} records came to {self.source} behind its end, from producers that write "
                f"tiny ones; stop them, and take their records over by hand"
            )
        waiting = [each for each in self.groups(job) if each.left(job.cut)]
        if waiting and not force:
            names = ", ".join(each.group for each in waiting)
            raise Failure(
                f"records of {self.source} are left to read for {names}; --force ends it although"
            )
        if delete:
            delete_topics(self.cluster, [self.source], if_exists=True)
        self._forget(job)

    def _forget(self, job: Job) -> None:
        self.jobs.forget(job)
        with ClusterReader(self.link) as reader:
            for name in (job.group, job.back_group):
                group = reader.find(name)
                if group is not None:
                    delete_group(reader, group)

    def back(self, job: Job) -> int:
        """How many records were copied back."""
        if job.phase in (Phase.copying, Phase.switching):
            if self.source in job.limits:
                open_topic(self.link, self.source, job.limits[self.source])
            self._forget(job)
            return 0
        if job.phase is Phase.switched:
            limits = {**job.limits, job.target: own_limit(self.link, job.target)}
            job = replace(job, phase=Phase.returning, limits=limits)
            self.jobs.keep(job)
        close_topic(self.link, job.target)
        cut = wait_still(self.link, job.target)
        open_topic(self.link, self.source, job.limits[self.source])
        with Copier(self.cluster, _back(job)) as copier:
            copier.run(cut)
            self._place_groups_back(copier, job)
            copied = copier.progress.count
        self._forget(job)
        return copied

    def _place_groups_back(self, copier: Copier, job: Job) -> None:
        """Whoever has read from the new topic goes on behind what was copied back; whoever has
        not reads it in the old one."""
        ends = wait_committed(self.link, self.source)
        for each in self.groups(job):
            if each.has_moved(job.target_cut):
                copier.commit_places(each.group, self.source, ends)


def _check_same(job: Job, partitions: int, target: str | None) -> None:
    if job.partitions != partitions or target not in (None, job.target):
        raise Failure(
            f"{job.source} is being repartitioned already, into {job.partitions} partitions of "
            f"{job.target}; go on with that, or go back with --back"
        )


def _expect(job: Job, phase: Phase) -> None:
    if job.phase is not phase:
        raise Failure(f"{job.source} is {job.phase}, not {phase}; --switch comes first")


def _forth(job: Job) -> Copy:
    return Copy(
        job.source, job.target, job.partitions, job.partitioner, job.group, job.transactional_id
    )


def _back(job: Job) -> Copy:
    return Copy(
        job.target,
        job.source,
        job.source_partitions,
        job.partitioner,
        job.back_group,
        job.transactional_id,
        job.target_cut,
    )
