"""One node's part in raft for the metadata partition, as a value machine.

Inputs are what happened, with the time; `take_ready` says what to do about it. The machine owns
roles, elections, votes, replica progress, the high watermark and voter changes. It never touches a
clock, a socket, a disk, or the bytes of a record.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from penstock.model.error import ErrorCode
from penstock.raft.config import RaftConfig
from penstock.raft.election_state import ElectionState
from penstock.raft.log_view import LogView, SnapshotId
from penstock.raft.message import RaftAnswer, RaftRequest
from penstock.raft.ready import Ready, RoleView
from penstock.raft.view import QuorumView
from penstock.raft.voter import VoterSet
from penstock.raft.voter_history import ControlEntry, VoterHistory


class RaftMachine:
    """After every input the host calls `take_ready` until it is empty."""

    def __init__(
        self,
        config: RaftConfig,
        log: LogView,
        state: ElectionState,
        history: VoterHistory,
        random: Callable[[], float],
        now_ms: int,
    ) -> None:
        raise NotImplementedError

    def receive(self, request: RaftRequest, token: Hashable, now_ms: int) -> None:
        """A request came in; its answer goes out, now or later, under `token`."""
        raise NotImplementedError

    def receive_answer(self, request_id: int, answer: RaftAnswer, now_ms: int) -> None:
        raise NotImplementedError

    def request_failed(self, request_id: int, now_ms: int, *, unsupported: bool = False) -> None:
        """No answer will come: connection gone, top-level error. `unsupported`: the other side does
        not know the request, or not in the version that it needs."""
        raise NotImplementedError

    def log_appended(self, now_ms: int, entries: Sequence[ControlEntry] = ()) -> None:
        """The log grew, by own records as leader or by fetched ones, and these control records were
        among them."""
        raise NotImplementedError

    def log_flushed(self, now_ms: int) -> None:
        """`flushed_offset` moved."""
        raise NotImplementedError

    def snapshot_installed(
        self, snapshot: SnapshotId, entries: Sequence[ControlEntry], now_ms: int
    ) -> None:
        """A fetched snapshot took the place of the log."""
        raise NotImplementedError

    def snapshot_refused(self, now_ms: int) -> None:
        """A fetched snapshot was bad: start over."""
        raise NotImplementedError

    def tick(self, now_ms: int) -> None:
        raise NotImplementedError

    def resign(self, epoch: int, now_ms: int) -> None:
        """The node cannot go on leading `epoch`."""
        raise NotImplementedError

    def shut_down(self, now_ms: int) -> None:
        """Take part in nothing new; a leader hands over. Go on with inputs until `is_done`."""
        raise NotImplementedError

    def upgrade_kraft_version(self, version: int, token: Hashable, now_ms: int) -> None:
        """Answered under `token` with a VoterChangeAnswer."""
        raise NotImplementedError

    def take_ready(self) -> Ready:
        raise NotImplementedError

    @property
    def next_deadline_ms(self) -> int | None: ...

    @property
    def view(self) -> RoleView: ...

    @property
    def is_done(self) -> bool: ...

    @property
    def high_watermark(self) -> int | None: ...

    @property
    def voters(self) -> VoterSet: ...

    @property
    def kraft_version(self) -> int: ...

    def describe(self, now_ms: int) -> QuorumView | ErrorCode: ...
