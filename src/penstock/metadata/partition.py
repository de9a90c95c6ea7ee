"""One partition as the metadata log has it: who holds it, who leads it, since when.

Values never change once built; a change record gives a new value. A cluster may hold a hundred
thousand of them, so that equal tuples are kept once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from penstock.model.directory_id import UNASSIGNED, DirectoryId

if TYPE_CHECKING:
    from penstock.protocol.messages.records.partition_change_record import PartitionChangeRecord
    from penstock.protocol.messages.records.partition_record import PartitionRecord

NO_LEADER: Final = -1
_LEADER_UNCHANGED: Final = -2
_RECOVERY_UNCHANGED: Final = -1
_SHARED_MAX: Final = 1 << 16

T = TypeVar("T", int, bytes)
_shared: dict[tuple[object, ...], tuple[object, ...]] = {}
_images: dict[tuple[object, ...], PartitionImage] = {}


def share(values: Sequence[T] | None) -> tuple[T, ...]:
    """The one tuple of these values: most partitions of a cluster have one of few replica lists."""
    key = tuple(values or ())
    if len(_shared) > _SHARED_MAX:
        _shared.clear()
    return _shared.setdefault(key, key)  # type: ignore[return-value]


class PartitionImage:
    __slots__ = (
        "adding_replicas",
        "directories",
        "elr",
        "isr",
        "last_known_elr",
        "leader",
        "leader_epoch",
        "leader_recovery_state",
        "partition_epoch",
        "removing_replicas",
        "replicas",
    )

    def __init__(
        self,
        *,
        leader: int,
        leader_epoch: int,
        partition_epoch: int,
        replicas: Sequence[int],
        isr: Sequence[int],
        directories: Sequence[bytes] | None = None,
        adding_replicas: Sequence[int] = (),
        removing_replicas: Sequence[int] = (),
        elr: Sequence[int] | None = None,
        last_known_elr: Sequence[int] | None = None,
        leader_recovery_state: int = 0,
    ) -> None:
        self.leader = leader
        self.leader_epoch = leader_epoch
        self.partition_epoch = partition_epoch
        self.replicas: tuple[int, ...] = share(replicas)
        self.isr: tuple[int, ...] = share(isr)
        self.directories: tuple[bytes, ...] = share(directories)
        self.adding_replicas: tuple[int, ...] = share(adding_replicas)
        self.removing_replicas: tuple[int, ...] = share(removing_replicas)
        self.elr: tuple[int, ...] = share(elr)
        self.last_known_elr: tuple[int, ...] = share(last_known_elr)
        self.leader_recovery_state = leader_recovery_state

    @classmethod
    def of(cls, record: PartitionRecord) -> PartitionImage:
        """The one value of what the record says: most partitions of a cluster are like others."""
        key = (
            record.leader,
            record.leader_epoch,
            record.partition_epoch,
            record.leader_recovery_state,
            *record.replicas,
            None,
            *record.isr,
            None,
            *(record.directories or ()),
            None,
            *(record.adding_replicas or ()),
            None,
            *(record.removing_replicas or ()),
            None,
            *(record.eligible_leader_replicas or ()),
            None,
            *(record.last_known_elr or ()),
        )
        found = _images.get(key)
        if found is None:
            if len(_images) > _SHARED_MAX:
                _images.clear()
            found = _images[key] = cls._built(record)
        return found

    @classmethod
    def _built(cls, record: PartitionRecord) -> PartitionImage:
        return cls(
            leader=record.leader,
            leader_epoch=record.leader_epoch,
            partition_epoch=record.partition_epoch,
            replicas=record.replicas,
            isr=record.isr,
            directories=record.directories,
            adding_replicas=record.adding_replicas,
            removing_replicas=record.removing_replicas,
            elr=record.eligible_leader_replicas,
            last_known_elr=record.last_known_elr,
            leader_recovery_state=record.leader_recovery_state,
        )

    @property
    def preferred_leader(self) -> int:
        return self.replicas[0] if self.replicas else NO_LEADER

    def directory(self, broker_id: int) -> DirectoryId:
        held = self.directories
        if not held or broker_id not in self.replicas:
            return UNASSIGNED
        return held[self.replicas.index(broker_id)]

    def changed(self, record: PartitionChangeRecord) -> PartitionImage:
        """Naming a leader raises the leader epoch even when it is the same one again."""
        keeps_leader = record.leader == _LEADER_UNCHANGED
        keeps_recovery = record.leader_recovery_state == _RECOVERY_UNCHANGED
        return PartitionImage(
            leader=self.leader if keeps_leader else record.leader,
            leader_epoch=self.leader_epoch + (not keeps_leader),
            partition_epoch=self.partition_epoch + 1,
            replicas=_pick(record.replicas, self.replicas),
            isr=_pick(record.isr, self.isr),
            directories=_pick(record.directories, self.directories),
            adding_replicas=_pick(record.adding_replicas, self.adding_replicas),
            removing_replicas=_pick(record.removing_replicas, self.removing_replicas),
            elr=_pick(record.eligible_leader_replicas, self.elr),
            last_known_elr=_pick(record.last_known_elr, self.last_known_elr),
            leader_recovery_state=(
                self.leader_recovery_state if keeps_recovery else record.leader_recovery_state
            ),
        )

    def without_elr(self) -> PartitionImage:
        """What clearing eligible leaders leaves. As in Kafka the partition's epoch grows by it: one
        that kept the old epoch could never again agree with a controller that did not."""
        values = {name: getattr(self, name) for name in self.__slots__}
        values.update(elr=(), last_known_elr=(), partition_epoch=self.partition_epoch + 1)
        return PartitionImage(**values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionImage):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"PartitionImage({inside})"


def _pick(new: Sequence[T] | None, old: tuple[T, ...]) -> Sequence[T]:
    return old if new is None else new
