"""One member of a streams group, as an immutable value: a change makes a new one."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.group.consumer.state import MemberState
from penstock.group.streams.task import NO_TASKS, OwnedTasks

JOINING_EPOCH = 0
LEAVING_EPOCH = -1
STATIC_LEAVING_EPOCH = -2


@dataclass(frozen=True, slots=True)
class StreamsMember:
    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topology_epoch: int = -1
    process_id: str = ""
    endpoint: tuple[str, int] | None = None
    """Where others may query this instance."""
    tags: tuple[tuple[str, str], ...] = ()
    epoch: int = 0
    previous_epoch: int = 0
    state: MemberState = MemberState.STABLE
    owned: OwnedTasks = NO_TASKS
    revoking: OwnedTasks = NO_TASKS

    def is_settled(self, epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.epoch == epoch
