"""A look at all groups that this node coordinates, taken when somebody reads the metrics, and at
intervals where the node writes down its past.

Between two looks nothing is done but counting commits, and that only since the first. A look works
for a few milliseconds at a time, and follows what has changed: offsets of groups that committed,
rows of partitions that grew, times of what is not consumed yet.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final

from penstock.coordinator.group_host import GroupRuntime
from penstock.coordinator.share_summary import ShareSummaries
from penstock.coordinator.topic import CONSUMER_OFFSETS
from penstock.group.offset.tally import CommitTally
from penstock.group.view import view_of
from penstock.handlers.broker import Broker
from penstock.handlers.pace import Pace
from penstock.model.id import TopicPartition
from penstock.model.sla import limit_of
from penstock.node.lag.ends import LocalEnds
from penstock.node.lag.remote import Brokers, RemoteEnds
from penstock.node.lag.row import GroupRow, PartitionRow
from penstock.node.lag.share_row import ShareRow, renew
from penstock.node.lag.sla_reader import SlaReader
from penstock.node.lag.text import GroupText

STEP: Final = 20
"""Groups between two looks at the clock."""


class ShardRows:
    """The groups of one partition of `__consumer_offsets`, for as long as it is led here."""

    def __init__(self, runtime: GroupRuntime) -> None:
        self.runtime = runtime
        self.groups: dict[str, GroupRow] = {}
        self._tally = CommitTally()
        runtime.machine.store.tally = self._tally

    def refresh(self, now_ms: int) -> Iterator[None]:
        """In steps; afterwards `groups` are those there are, with their offsets. Those of share
        groups are kept elsewhere."""
        shard = self.runtime.machine
        ids, changed = shard.groups.ids(), self._tally.take_changed()
        kept: dict[str, GroupRow] = {}
        for count, group_id in enumerate(ids):
            group = shard.groups.find(group_id)
            if group is None:
                continue
            row = self.groups.get(group_id)
            if row is None:
                row = GroupRow(group_id)
                changed.add(group_id)
            kept[group_id] = row
            view = view_of(group)
            if view != row.view:
                row.view = view
                row.change()
            if group_id in changed:
                row.commits = self._tally.counts.get(group_id, 0)
                row.take_offsets(shard.store.of_group(group_id).items())
            if count % STEP == 0:
                yield
        kept |= self._share_rows(now_ms)
        yield
        for gone in self.groups.keys() - kept.keys():
            self._tally.forget(gone)
        self.groups = kept

    def _share_rows(self, now_ms: int) -> dict[str, ShareRow]:
        found: dict[str, ShareRow] = {}
        for group in self.runtime.machine.groups.share:
            row = self.groups.get(group.group_id)
            found[group.group_id] = row if isinstance(row, ShareRow) else ShareRow(group.group_id)
            found[group.group_id].observe(group, now_ms)
        return found


class GroupLook:
    def __init__(self, broker: Broker, brokers: Brokers) -> None:
        self._broker = broker
        self._remote = RemoteEnds(broker.image, brokers)
        self._slas = SlaReader(broker.image, self._remote)
        self._shards: dict[int, ShardRows] = {}
        self._looking = asyncio.Lock()

    async def render(self) -> bytes:
        """Whoever comes during a look takes the next: each is told of the present."""
        if CONSUMER_OFFSETS not in self._broker.image.topics:
            return b""
        async with self._looking:
            pace = Pace(self._broker.clock.monotonic)
            return await self._write(await self._look(pace), pace)

    async def rows(self) -> list[GroupRow]:
        """What is known of each group now. They go on changing with the next look."""
        if CONSUMER_OFFSETS not in self._broker.image.topics:
            return []
        async with self._looking:
            return await self._look(Pace(self._broker.clock.monotonic))

    async def _look(self, pace: Pace) -> list[GroupRow]:
        groups = await self._groups(pace)
        broker = self._broker
        local = LocalEnds(broker.node_id, broker.image, broker.partitions)
        shared = [each for each in groups if isinstance(each, ShareRow)]
        if shared:
            await renew(shared, self._summaries, local, broker.clock.now_ms())
        await self._look_at_logs(groups, local, pace)
        return groups

    @cached_property
    def _summaries(self) -> ShareSummaries:
        share = self._broker.share
        return ShareSummaries(self._broker.node_id, share.host, share.brokers)

    async def _groups(self, pace: Pace) -> list[GroupRow]:
        host = self._broker.groups
        led = self._broker.partitions.led_of_topic(CONSUMER_OFFSETS)
        shards: dict[int, ShardRows] = {}
        for index in led:
            runtime = host.loaded_at(index)
            if runtime is None:
                continue
            known = self._shards.get(index)
            is_same = known is not None and known.runtime is runtime
            shards[index] = known if known is not None and is_same else ShardRows(runtime)
            for _ in shards[index].refresh(self._broker.clock.now_ms()):
                await pace.keep()
        self._shards = shards
        return [row for shard in shards.values() for row in shard.groups.values()]

    async def _look_at_logs(self, groups: Iterable[GroupRow], local: LocalEnds, pace: Pace) -> None:
        new_limits = await self._slas.refresh(local)
        elsewhere: list[PartitionRow] = []
        for count, group in enumerate(groups):
            if new_limits:
                group.change()
            for row in group.rows.values():
                if new_limits or row.end is None:
                    row.limit_s = limit_of(self._slas.limits, group.group_id, row.place.topic)
                replica = local.find(row.place)
                # It may have gone in between, with its topic or its disk.
                if replica is None or not replica.is_open:
                    elsewhere.append(row)
                    group.calm = None
                    continue
                end = replica.high_watermark
                if end != row.end:
                    row.end, group.calm = end, None
                if row.wants_time:
                    row.learn_time(*await local.time_of(replica, row.committed))
            if count % STEP == 0:
                await pace.keep()
        if elsewhere:
            await self._ask_leaders(elsewhere)

    async def _ask_leaders(self, rows: list[PartitionRow]) -> None:
        ends = await self._remote.ends({row.place: None for row in rows})
        wanted: dict[TopicPartition, set[int]] = defaultdict(set)
        for row in rows:
            row.end = ends.get(row.place, row.end)
            if row.wants_time:
                wanted[row.place].add(row.committed)
        if not wanted:
            return
        times = await self._remote.times(wanted)
        for row in rows:
            if row.wants_time and (row.place, row.committed) in times:
                row.learn_time(times[row.place, row.committed])

    async def _write(self, groups: Iterable[GroupRow], pace: Pace) -> bytes:
        groups = list(groups)
        text = GroupText(sum(len(group.rows) for group in groups))
        now_ms = self._broker.clock.now_ms()
        for count, group in enumerate(groups):
            text.add(group, now_ms)
            if count % STEP == 0:
                await pace.keep()
        return text.render()
