"""What must hold in a cluster, whatever fails: watched while it runs, and compared at its end.

Looks at nodes and disks from outside. Whatever clients did and saw is judged by the history.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from struct import Struct
from types import ModuleType
from typing import Any

from penstock.metadata.partition import PartitionImage
from penstock.metadata.snapshot import image_records
from penstock.model.id import TopicPartition
from penstock.node.metadata_plane import MetadataPlane
from penstock.protocol.record_frame import encode_metadata_record
from penstock.records.header import LOG_OVERHEAD
from penstock.replication.follower import Action, Truncate
from penstock.replication.partition import Partition
from penstock.testing.simulation.cluster import SimulatedCluster
from penstock.testing.simulation.host import DATA_DIR, SimulatedHost
from tests.simulation.cluster_kit import REPLICAS

SETTLED_S_MAX = 60.0
_PREFIX = Struct(">qi")


class Violation(AssertionError):
    pass


class ClusterChecker:
    def __init__(self, cluster: SimulatedCluster) -> None:
        self._cluster = cluster
        self._controllers: dict[int, int] = {}
        self._leaders: dict[tuple[bytes, int, int], int] = {}
        self._acked: dict[TopicPartition, dict[bytes, None]] = defaultdict(dict)
        """The first batch of each answer, as it stands on disk."""
        self.on_elected: Callable[[int], None] | None = None
        """Told of every broker that begins to lead a partition."""
        self.found: list[str] = []
        """What is wrong so far: said here, since those who are watched would catch an error."""
        cluster.invariants.append(self._raise_found)

    def _raise_found(self) -> None:
        if self.found:
            raise Violation("; ".join(self.found))

    # While it runs

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Whoever becomes a controller or a leader is noted: each epoch has one. So is whoever
        cuts its log: what was acknowledged stays wherever it is."""

        def on_leader(plane: MetadataPlane, epoch: int) -> None:
            self._note(self._controllers, epoch, plane._identity.node_id, "controller")
            become_controller(plane, epoch)

        def lead(partition: Partition, state: PartitionImage, min_isr: int) -> None:
            key = partition.topic_id, partition.index, state.leader_epoch
            self._note(self._leaders, key, partition._context.node_id, "leader")
            is_new = not partition.is_led or partition.leader_epoch != state.leader_epoch
            become_leader(partition, state, min_isr)
            if is_new and self.on_elected is not None:
                self.on_elected(partition._context.node_id)

        def act(partition: Partition, action: Action) -> None:
            where = TopicPartition(partition.topic, partition.index)
            host = list(self._cluster.hosts.values())[partition._context.node_id - 1]
            before = log_bytes(host, where) if isinstance(action, Truncate) else b""
            carry_out(partition, action)
            if before:
                self._check_cut(where, host, before)

        become_controller, become_leader = MetadataPlane.on_leader, Partition.lead
        carry_out = Partition.carry_out
        with (
            replaced(MetadataPlane, "on_leader", on_leader),
            replaced(Partition, "lead", lead),
            replaced(Partition, "carry_out", act),
        ):
            yield

    def _check_cut(self, where: TopicPartition, host: SimulatedHost, before: bytes) -> None:
        after = log_bytes(host, where)
        for batch in self._acked[where]:
            if batch in before and batch not in after:
                offset = int.from_bytes(batch[:8], "big")
                self.found.append(f"{host.name} cuts off what {where} acknowledged at {offset}")
                return

    def _note(self, known: dict[Any, int], epoch: Any, node_id: int, what: str) -> None:
        first = known.setdefault(epoch, node_id)
        if first != node_id:
            self.found.append(f"{first} and {node_id} are both {what} of epoch {epoch}")

    @property
    def elections(self) -> int:
        return len(self._controllers) + len(self._leaders)

    def check_durable(
        self, where: TopicPartition, offset: int, content: bytes, copies: int
    ) -> None:
        """What was just acknowledged would survive the power failure of every machine at once."""
        found = {
            host.name: _batch_at(_durable(host, where), offset, content)
            for host in self._cluster.hosts.values()
        }
        # A leader of the past may have the same at this offset, of an epoch that came to nothing.
        acked = max(found.values(), key=_epoch_of)
        holding = [name for name, batch in found.items() if batch and batch == acked]
        if acked:
            self._acked[where][acked] = None
        if len(holding) < copies:
            self.found.append(
                f"{content[:20]!r} of {where} is acknowledged at {offset}, safe on {holding}"
            )

    # At its end

    def check_settled(self, partitions: Iterable[TopicPartition]) -> None:
        """Everything is up: nodes come to know the same, and logs to be the same."""
        self._until(self._images_differ)
        for where in partitions:
            self._until(lambda where=where: self._logs_differ(where))  # type: ignore[misc]

    def check_topics(self, topics: Iterable[str]) -> None:
        for host in self._cluster.hosts.values():
            known = _node(host)._image.topics
            for topic in topics:
                if topic not in known:
                    raise Violation(f"{host.name} does not know {topic}, whose creation succeeded")

    def _until(self, problem: Callable[[], str]) -> None:
        until_s = self._cluster.now_s + SETTLED_S_MAX
        while found := problem():
            if self._cluster.now_s > until_s:
                raise Violation(found)
            self._cluster.run_for(0.5)

    def _images_differ(self) -> str:
        hosts = list(self._cluster.hosts.values())
        first, *others = (_node(host)._image for host in hosts)
        ends = {one.next_offset for one in (first, *others)}
        if len(ends) > 1:
            return f"images end at {ends}"
        wanted = _comparable(first)
        for host, image in zip(hosts[1:], others, strict=True):
            if _comparable(image) != wanted:
                return f"the images of {hosts[0].name} and {host.name} differ"
        return ""

    def _logs_differ(self, where: TopicPartition) -> str:
        copies: Counter[bytes] = Counter()
        ends = {}
        for host in self._cluster.hosts.values():
            partition = _node(host)._partitions.get(*where)
            if partition is not None:
                ends[host.name] = partition.log.end_offset, partition.high_watermark
                copies[log_bytes(host, where)] += 1
        same = len(copies) == 1 and len({end for pair in ends.values() for end in pair}) == 1
        # More than three, where a move was called off that had taken the place of another.
        known = _node(next(iter(self._cluster.hosts.values())))._image.topics.partition(*where)
        wanted = REPLICAS if known is None else max(len(known.replicas), REPLICAS)
        if same and copies.total() == wanted:
            return ""
        return f"replicas of {where} differ: ends and watermarks are {ends}"


@contextmanager
def replaced(owner: type | ModuleType, name: str, other: object) -> Iterator[None]:
    original = getattr(owner, name)
    setattr(owner, name, other)
    try:
        yield
    finally:
        setattr(owner, name, original)


def log_bytes(host: SimulatedHost, where: TopicPartition) -> bytes:
    disk = host.faulty_disk
    found = b""
    for path in _segments(host, where):
        fd = disk.open(path, 0)
        found += disk.pread(fd, disk.stat(path).st_size, 0)
        disk.close(fd)
    return found


def _durable(host: SimulatedHost, where: TopicPartition) -> bytes:
    disk = host.faulty_disk
    return b"".join(disk.durable(path) or b"" for path in _segments(host, where))


def _batch_at(data: bytes, offset: int, content: bytes) -> bytes:
    """The batch at that offset, if that is where the content is."""
    start = 0
    while start + LOG_OVERHEAD <= len(data):
        base_offset, length = _PREFIX.unpack_from(data, start)
        end = start + LOG_OVERHEAD + length
        if base_offset == offset:
            return data[start:end] if content in data[start:end] else b""
        start = end
    return b""


def _epoch_of(batch: bytes) -> int:
    return int.from_bytes(batch[12:16], "big", signed=True) if batch else -1


def _segments(host: SimulatedHost, where: TopicPartition) -> list[str]:
    directory = f"{DATA_DIR}/{where.topic}-{where.partition}"
    if not host.faulty_disk.exists(directory):
        return []
    names = sorted(host.faulty_disk._directory(directory).entries)
    return [f"{directory}/{name}" for name in names if name.endswith(".log")]


def _node(host: SimulatedHost) -> Any:
    assert host.node is not None, f"{host.name} is not up"
    return host.node


def _comparable(image: Any) -> Counter[bytes]:
    """One that was loaded from a snapshot holds the same in another order."""
    return Counter(encode_metadata_record(record) for record in image_records(image))
