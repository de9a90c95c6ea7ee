"""Three nodes, and disks that decay or fail: replicas are mended from others, and others lead."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from penstock.model.directory_id import LOST
from penstock.model.error import ApiError, ErrorCode
from penstock.model.id import TopicPartition
from penstock.node.directory_assignments import DirectoryAssignments
from penstock.records.record import Record
from penstock.storage.log import Log
from penstock.storage.log_dirs import LogDirs
from penstock.testing.simulation.cluster import SimulatedCluster
from penstock.testing.simulation.host import SimulatedHost
from penstock.testing.simulation.member import add_members, build_member
from tests.simulation.cluster_checker import ClusterChecker, _segments
from tests.simulation.cluster_kit import ClusterClient

NAMES = ("a", "b", "c")
WHERE = TopicPartition("t", 0)
SCRUB = {"penstock.scrub.interval.ms": 2000}
NO_SCRUB = {"penstock.scrub.interval.ms": -1}


def distinct(read: list[Record]) -> list[bytes | None]:
    """A client that hears nothing sends again."""
    return list(dict.fromkeys(one.value for one in read))


class World:
    """Three nodes and a topic of three segments, the last of them active."""

    def __init__(self, cluster: SimulatedCluster, settings: dict[str, object]) -> None:
        self.cluster = cluster
        add_members(cluster, NAMES, settings)
        cluster.start(*NAMES)
        self.client = ClusterClient(cluster, NAMES)
        self.sent: list[bytes] = []
        cluster.run(self.client.create("t", 1, min_insync_replicas="2", segment_ms="2000"))
        cluster.run(self.client.wait_in_sync([WHERE]))
        for _ in range(3):
            self.write(10)
            cluster.run_for(3)
        assert len(_segments(self.host(1), WHERE)) == 3

    def host(self, node_id: int) -> SimulatedHost:
        return self.cluster.hosts[NAMES[node_id - 1]]

    def node(self, node_id: int) -> Any:
        return self.host(node_id).node

    def write(self, count: int) -> None:
        for _ in range(count):
            content = b"record %d" % len(self.sent)
            self.cluster.run(self.client.send_until_taken(WHERE, content))
            self.sent.append(content)

    def leader(self) -> int:
        self.client.forget_leader(WHERE)
        return self.cluster.run(self._leader())

    async def _leader(self) -> int:
        while True:
            found = await self.client.partition(*WHERE)
            if found is not None and found.leader_id > 0:
                return int(found.leader_id)
            await asyncio.sleep(0.1)

    def follower(self) -> int:
        leader = self.leader()
        return next(number for number in (1, 2, 3) if number != leader)

    def damage(self, node_id: int, segment: int) -> None:
        """One byte in the middle of a batch that is on disk for long."""
        path = _segments(self.host(node_id), WHERE)[segment]
        disk = self.host(node_id).faulty_disk
        disk.flip(path, disk.stat(path).st_size // 2)

    def repaired(self, node_id: int) -> int:
        return int(self.node(node_id)._keeper.repairs.repaired)

    def state(self, node_id: int) -> Any:
        """Of the partition, as a node knows it."""
        return self.node(node_id)._image.topics.partition(*WHERE)

    def read(self) -> list[Record]:
        return self.cluster.run(self.client.read_all(WHERE))

    def settle(self) -> None:
        """Everything is in sync, equal on all disks, and all that was sent can be read."""
        self.cluster.run(self.client.wait_in_sync([WHERE]))
        read = self.read()
        assert distinct(read) == self.sent
        assert [one.offset for one in read] == list(range(len(read)))
        ClusterChecker(self.cluster).check_settled([WHERE])
        assert LOST not in self.state(1).directories


@pytest.fixture
def cluster(request: pytest.FixtureRequest) -> Iterator[SimulatedCluster]:
    with SimulatedCluster(7, build=build_member) as made:
        yield made


@pytest.mark.parametrize("segment", [0, -1], ids=["sealed", "active"])
@pytest.mark.parametrize("while_up", [True, False], ids=["running", "stopped"])
@pytest.mark.parametrize("leads", [True, False], ids=["leader", "follower"])
def test_damage_is_found_and_mended(
    cluster: SimulatedCluster, leads: bool, while_up: bool, segment: int
) -> None:
    world = World(cluster, SCRUB)
    sick = world.leader() if leads else world.follower()
    if while_up:
        world.damage(sick, segment)
    else:
        cluster.stop(NAMES[sick - 1])
        world.damage(sick, segment)
        cluster.start(NAMES[sick - 1])
    high_watermarks = [world.state(1).leader_epoch]
    cluster.run_until(lambda: world.repaired(sick) == 1)
    world.write(10)
    world.settle()
    assert world.state(1).leader_epoch >= high_watermarks[0]
    cluster.run_for(6)
    assert [world.repaired(number) for number in (1, 2, 3)].count(0) == 2


def test_a_leader_that_reads_damage_gives_way(cluster: SimulatedCluster) -> None:
    """Without a scrubber: who becomes leader trusts nothing that it has not read again."""
    world = World(cluster, NO_SCRUB)
    old = world.leader()
    sick = world.follower()
    world.damage(sick, 0)
    (third,) = {1, 2, 3} - {old, sick}
    cluster.stop(NAMES[third - 1])
    cluster.run_for(1)
    cluster.start(NAMES[third - 1])
    cluster.run(world.client.wait_in_sync([WHERE]))
    cluster.stop(NAMES[old - 1])
    if world.leader() != sick:
        cluster.start(NAMES[old - 1])
        cluster.run(world.client.wait_in_sync([WHERE]))
        cluster.stop(NAMES[third - 1])
    assert world.leader() == sick
    for name in (NAMES[old - 1], NAMES[third - 1]):
        if not cluster.hosts[name].is_up:
            cluster.start(name)
    cluster.run(world.client.wait_in_sync([WHERE]))
    assert distinct(world.read()) == world.sent
    cluster.run_until(lambda: world.repaired(sick) == 1)
    world.settle()


def test_a_follower_that_cannot_use_what_it_was_sent(cluster: SimulatedCluster) -> None:
    """The leader wrote it itself, and finds out when it is asked for the same once more."""
    world = World(cluster, NO_SCRUB)
    sick = world.leader()
    behind = world.follower()
    cluster.stop(NAMES[behind - 1])
    cluster.run_for(3)
    world.write(10)
    world.damage(sick, -1)
    cluster.start(NAMES[behind - 1])
    cluster.run_until(lambda: world.repaired(sick) == 1)
    world.settle()


def test_one_that_is_needed_is_not_cut(cluster: SimulatedCluster) -> None:
    """It leads no longer, and is in sync: with it there are as many as are needed to write."""
    world = World(cluster, SCRUB)
    sick = world.leader()
    others = [number for number in (1, 2, 3) if number != sick]
    cluster.stop(NAMES[others[0] - 1])
    cluster.run_for(1)
    world.damage(sick, 0)
    cluster.run_for(20)
    assert world.repaired(sick) == 0
    assert world.leader() == others[1]
    assert sick in world.state(sick).isr and LOST not in world.state(sick).directories
    world.write(5)
    cluster.start(NAMES[others[0] - 1])
    cluster.run_until(lambda: world.repaired(sick) == 1)
    world.settle()


def test_the_last_one_stays_as_it_is(cluster: SimulatedCluster) -> None:
    """Reads of the one batch fail, and nothing is given up."""
    world = World(cluster, SCRUB)
    sick = world.leader()
    others = [NAMES[number - 1] for number in (1, 2, 3) if number != sick]
    cluster.stop(others[0])
    cluster.run_until(lambda: len(world.state(sick).isr) == 2)
    cluster.kill(others[1])
    world.damage(sick, 0)
    cluster.run_for(20)
    assert world.repaired(sick) == 0
    end = world.node(sick)._partitions.get(*WHERE).log.end_offset
    cluster.start(*others)
    cluster.run_until(lambda: world.repaired(sick) == 1)
    world.settle()
    assert world.node(sick)._partitions.get(*WHERE).log.end_offset >= end


def test_a_log_that_cannot_be_opened_begins_anew(cluster: SimulatedCluster) -> None:
    world = World(cluster, NO_SCRUB)
    sick = world.follower()
    cluster.stop(NAMES[sick - 1])
    disk = world.host(sick).faulty_disk
    path = _segments(world.host(sick), WHERE)[-1]
    for position in range(disk.stat(path).st_size):
        disk.flip(path, position, 0xFF)
    cluster.start(NAMES[sick - 1])
    cluster.run_until(lambda: world.repaired(sick) == 1)
    world.write(3)
    world.settle()


TWO = {"log.dirs": "/data,/more", "metadata.log.dir": "/data"}


def test_a_disk_fails_and_others_lead(cluster: SimulatedCluster) -> None:
    """One of two: its partitions go offline, those in the other stay."""
    add_members(cluster, NAMES, TWO)
    cluster.start(*NAMES)
    client = ClusterClient(cluster, NAMES)
    parts = [TopicPartition("t", index) for index in range(8)]
    cluster.run(client.create("t", len(parts), min_insync_replicas="2"))
    cluster.run(client.wait_in_sync(parts))
    for where in parts:
        cluster.run(client.send_until_taken(where, b"before"))
    host = cluster.hosts["a"]
    node: Any = host.node

    def homes() -> dict[TopicPartition, str]:
        return {where: node.log_dirs.home(where).path for where in parts}

    def image() -> Any:
        return cluster.hosts["b"].node._image.topics  # type: ignore[union-attr]

    assert set(homes().values()) == {"/data", "/more"}
    lost = [where for where in parts if homes()[where] == "/more"]
    led = [where for where in lost if image().partition(*where).leader == 1]
    assert led
    host.faulty_disk.broken = "/more"
    for where in parts:
        cluster.run(client.send_until_taken(where, b"after"))
    print(
        cluster.now_s,
        [(image().partition(*one).directories, image().partition(*one).isr) for one in lost],
    )
    cluster.run_until(lambda: all(1 not in image().partition(*one).isr for one in lost))
    assert all(image().partition(*one).leader != 1 for one in lost)
    assert all(1 in image().partition(*one).isr for one in parts if one not in lost)
    assert host.is_up and node.ended_by is None
    for where in parts:
        read = cluster.run(client.read_all(where))
        assert distinct(read) == [b"before", b"after"]
    # The disk is mended, and the node started again.
    host.faulty_disk.broken = ""
    cluster.stop("a")
    cluster.start("a")
    cluster.run(client.wait_in_sync(parts))
    for where in parts:
        read = cluster.run(client.read_all(where))
        assert distinct(read) == [b"before", b"after"]


def test_a_disk_fails_before_the_controller_knew_what_is_on_it(
    cluster: SimulatedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_members(cluster, NAMES, TWO)
    cluster.start(*NAMES)
    client = ClusterClient(cluster, NAMES)
    parts = [TopicPartition("t", index) for index in range(4)]

    async def unheard(_: DirectoryAssignments) -> bool:
        return False

    with monkeypatch.context() as patched:
        patched.setattr(DirectoryAssignments, "_send", unheard)
        cluster.run(client.create("t", len(parts), min_insync_replicas="2"))
        cluster.run(client.wait_in_sync(parts))
        host = cluster.hosts["a"]
        node: Any = host.node
        lost = [where for where in parts if node.log_dirs.home(where).path == "/more"]
        host.faulty_disk.broken = "/more"
        cluster.run_for(5)
    for where in parts:
        cluster.run(client.send_until_taken(where, b"after"))

    def is_out(where: TopicPartition) -> bool:
        found = cluster.hosts["b"].node._image.topics.partition(*where)  # type: ignore[union-attr]
        assert found is not None
        return found.leader != 1 and 1 not in found.isr

    cluster.run_until(lambda: all(map(is_out, lost)))
    assert not any(is_out(where) for where in parts if where not in lost)


def test_a_disk_is_replaced_by_an_empty_one(cluster: SimulatedCluster) -> None:
    from penstock.testing.simulation.member import format_member

    add_members(cluster, NAMES, TWO)
    cluster.start(*NAMES)
    client = ClusterClient(cluster, NAMES)
    parts = [TopicPartition("t", index) for index in range(4)]
    cluster.run(client.create("t", len(parts), min_insync_replicas="2"))
    cluster.run(client.wait_in_sync(parts))
    for where in parts:
        cluster.run(client.send_until_taken(where, b"kept"))
    host = cluster.hosts["a"]
    cluster.stop("a")
    host.faulty_disk._root.entries["more"].entries.clear()  # type: ignore[union-attr]
    format_member(host, ignore_formatted=True)
    cluster.start("a")
    cluster.run(client.wait_in_sync(parts))
    node: Any = host.node
    known = {node.log_dirs.id_of(each) for each in node.log_dirs.all}

    def told() -> bool:
        images = [node._image.topics.partition(*where) for where in parts]
        return all(one.directories[one.replicas.index(1)] in known for one in images)

    cluster.run_until(told)
    ClusterChecker(cluster)
    for where in parts:
        read = cluster.run(client.read_all(where))
        assert [one.value for one in read] == [b"kept"]


def test_a_replica_that_cannot_be_opened_for_now_is_tried_again(
    cluster: SimulatedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a broker without a file descriptor left, say."""
    add_members(cluster, NAMES)
    cluster.start(*NAMES)
    client = ClusterClient(cluster, NAMES)
    parts = [TopicPartition("t", index) for index in range(3)]
    create_log = LogDirs.create_log
    sick: Any = cluster.hosts["a"].node

    def refuse(dirs: LogDirs, key: TopicPartition, *args: Any, **more: Any) -> Log:
        if dirs is sick.log_dirs and key in parts:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, "too many open files")
        return create_log(dirs, key, *args, **more)

    with monkeypatch.context() as patched:
        patched.setattr(LogDirs, "create_log", refuse)
        cluster.run(client.create("t", len(parts), min_insync_replicas="1"))
        cluster.run_for(3)
    for where in parts:
        cluster.run(client.send_until_taken(where, b"content"))
    cluster.run(client.wait_in_sync(parts))
    ClusterChecker(cluster).check_settled(parts)
