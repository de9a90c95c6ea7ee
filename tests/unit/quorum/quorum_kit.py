"""Quorums on real directories that call each other over a network of this process.

Every request and answer goes through its bytes, so that what is tested is what would be sent. Links
can be cut. Times are short, and nothing waits longer than it has to.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from penstock.metadata import MetadataRecord
from penstock.protocol.codec import decode, encode
from penstock.protocol.entity import Entity
from penstock.protocol.messages.api_versions import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    SupportedFeatureKey,
)
from penstock.protocol.messages.records.config_record import ConfigRecord
from penstock.quorum.channel import ChannelError
from penstock.quorum.config import QuorumConfig
from penstock.quorum.host import Quorum
from penstock.quorum.metadata_log import MetadataLog
from penstock.quorum.wire import RESPONSES
from penstock.raft import (
    Node,
    RaftConfig,
    RaftEndpoint,
    ReplicaKey,
    VersionRange,
    Voter,
    VoterSet,
)
from penstock.storage.disk import Disk
from penstock.telemetry.clock import SystemClock
from tests.unit.quorum.log_kit import open_metadata_log

CLUSTER = "test-cluster"
LISTENER = "CONTROLLER"
WAIT_S = 20.0


def endpoint_of(node_id: int) -> RaftEndpoint:
    return RaftEndpoint(LISTENER, f"node-{node_id}", 9000 + node_id)


def voter_of(node_id: int) -> Voter:
    return Voter(ReplicaKey(node_id), (endpoint_of(node_id),), VersionRange(0, 1))


def voters_of(*node_ids: int) -> VoterSet:
    return VoterSet(voter_of(one) for one in node_ids)


def setting(name: str, value: str = "1") -> ConfigRecord:
    return ConfigRecord(resource_type=4, resource_name="", name=name, value=value)


class Network:
    """Who is there, and who cannot reach whom."""

    def __init__(self) -> None:
        self.members: dict[int, Member] = {}
        self.cut: set[int] = set()
        self.versions: dict[type[Entity], int] = {}
        """The highest that is spoken, where it is not the newest."""
        self.calls: list[tuple[int, int, Entity]] = []

    def channel(self, node_id: int) -> _Channel:
        return _Channel(self, node_id)


class _Channel:
    def __init__(self, network: Network, node_id: int) -> None:
        self._network = network
        self._node_id = node_id

    async def call(
        self, endpoint: RaftEndpoint, request: Entity, *, version: int | None, timeout_s: float
    ) -> Entity:
        await asyncio.sleep(0)
        target = endpoint.port - 9000
        network = self._network
        self._check_link(target)
        highest = network.versions.get(type(request), type(request).VERSIONS[1])
        if version is not None and version > highest:
            raise ChannelError("not spoken there", unsupported=True)
        version = highest if version is None else version
        network.calls.append((self._node_id, target, request))
        arrived = decode(type(request), version, encode(request, version))[0]
        try:
            async with asyncio.timeout(timeout_s):
                response = await network.members[target].answer(arrived)
        except TimeoutError:
            raise ChannelError("no answer in time") from None
        self._check_link(target)
        return decode(type(response), version, encode(response, version))[0]

    def _check_link(self, target: int) -> None:
        network = self._network
        member = network.members.get(target)
        if member is None or not member.is_up or {self._node_id, target} & network.cut:
            raise ChannelError(f"no way from {self._node_id} to {target}")


class Member:
    """One quorum, and the settings that the committed records make."""

    def __init__(
        self,
        network: Network,
        directory: Path,
        node_id: int,
        voters: VoterSet,
        *,
        can_vote: bool = True,
        bootstrap: Sequence[int] = (),
        disk: Disk | None = None,
        **options: Any,
    ) -> None:
        self.network = network
        self.directory = directory / f"node-{node_id}"
        self.node_id = node_id
        self.settings: dict[str, str] = {}
        self.offsets: list[int] = []
        self.snapshots: list[int] = []
        self.led: list[int] = []
        self.followed: list[tuple[int | None, int]] = []
        self.on_record: Callable[[MetadataRecord], None] = lambda _: None
        self.is_up = False
        self._disk = disk
        raft = RaftConfig(
            node_id,
            ReplicaKey(node_id).directory_id if voters.ids else bytes([node_id]) * 16,
            can_vote=can_vote,
            endpoints=(endpoint_of(node_id),) if can_vote else (),
            bootstrap=tuple(
                Node(-2 - place, (endpoint_of(one),)) for place, one in enumerate(bootstrap)
            ),
            election_timeout_ms=150,
            fetch_timeout_ms=300,
            request_timeout_ms=300,
            fetch_max_wait_ms=100,
            election_backoff_max_ms=100,
        )
        self.config = QuorumConfig(CLUSTER, raft, voters, **options)
        network.members[node_id] = self

    def start(self, *, clean: bool = False) -> Member:
        self.settings.clear()
        self.offsets.clear()
        self.log: MetadataLog = open_metadata_log(
            self.directory, self._disk, clean=clean, synced=self.config.raft.can_vote
        )
        self.quorum = Quorum(
            self.config,
            self.log,
            SystemClock(),
            self,
            random.Random(self.node_id).random,
            channel=self.network.channel(self.node_id),
        )
        self.is_up = True
        self.quorum.start()
        return self

    async def stop(self) -> None:
        await self.quorum.close()
        self.is_up = False
        self.log.log.close()

    async def kill(self) -> None:
        """Nobody is told, nothing is flushed."""
        self.is_up = False
        self.quorum._end(ChannelError("killed"))
        await self.quorum.close()
        self.log.log.release_files()

    # --- a listener ---

    def on_committed(self, records: Sequence[tuple[int, MetadataRecord]]) -> None:
        for offset, record in records:
            self.offsets.append(offset)
            self.on_record(record)
            assert isinstance(record, ConfigRecord)
            assert record.value is not None
            self.settings[record.name] = record.value

    def on_snapshot(self, records: Sequence[MetadataRecord], end_offset: int) -> None:
        self.settings.clear()
        self.offsets.clear()
        self.snapshots.append(end_offset)
        for record in records:
            assert isinstance(record, ConfigRecord) and record.value is not None
            self.settings[record.name] = record.value

    def on_leader(self, epoch: int) -> None:
        self.led.append(epoch)

    def on_follower(self, leader_id: int | None, epoch: int) -> None:
        self.followed.append((leader_id, epoch))

    # --- what a test asks of it ---

    async def answer(self, request: Entity) -> Entity:
        if isinstance(request, ApiVersionsRequest):
            feature = SupportedFeatureKey(name="kraft.version", min_version=0, max_version=1)
            return ApiVersionsResponse(supported_features=[feature])
        assert type(request) in RESPONSES
        return await self.quorum.answer(request, LISTENER)

    async def write(self, *names: str) -> None:
        """Answered when committed."""
        journal = self.quorum.journal
        assert journal is not None, "not the leader"
        base = journal.append([setting(name) for name in names])
        await journal.wait_committed(base + len(names))

    def append(self, *names: str) -> None:
        journal = self.quorum.journal
        assert journal is not None
        journal.append([setting(name) for name in names])

    async def take_snapshot(self) -> object:
        records = [setting(name, value) for name, value in self.settings.items()]
        return await self.quorum.write_snapshot(records, self.quorum.committed_offset)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not condition():
            await asyncio.sleep(0.002)


async def leader_of(members: Sequence[Member]) -> Member:
    def leaders() -> list[Member]:
        up = [one for one in members if one.is_up and one.node_id not in one.network.cut]
        return [one for one in up if one.quorum.journal is not None]

    await until(leaders)
    return max(leaders(), key=lambda one: one.led[-1])


def assert_same_logs(members: Sequence[Member]) -> None:
    end = min(one.log.high_watermark for one in members)
    start = max(one.log.start_offset for one in members)

    def held(member: Member) -> bytes:
        return b"".join(bytes(batch) for _, batch in member.log.batches(start, end))

    first, *others = [held(one) for one in members]
    assert first and all(other == first for other in others)
