"""One partition as one share group reads it, at the partition's leader.

Owns the window, and sees to it that what changes there is kept: one write at a time, with all that
has changed meanwhile in the next. Whoever acknowledges hears when that is so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from penstock.coordinator.share_form import Keep, Read
from penstock.coordinator.share_state import ShareStates
from penstock.handlers.share.setting import ShareSettings
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.replication.partition import Partition
from penstock.share import (
    Acknowledgement,
    AcknowledgeType,
    Acquired,
    DeliveryThrottle,
    LogBatch,
    ShareKey,
    StateBatch,
    Window,
)
from penstock.share.batch import overlaid
from penstock.share.kept import UNKNOWN_OFFSET
from penstock.share.shard import Result, Write
from penstock.telemetry.log import get_logger

log = get_logger("share")

FirstOffset = Callable[[], int]
"""Where a group begins that has never read the partition."""


class Waiter(Protocol):
    def wake(self) -> None:
        """There may be something to be handed out."""
        ...


class _Change(NamedTuple):
    batches: Sequence[StateBatch]
    kept: asyncio.Future[None] | None
    """Of an acknowledgement. Releases are not waited for."""


class SharePartition:
    __slots__ = (
        "_changes",
        "_settings",
        "_state_epoch",
        "_states",
        "_waiters",
        "_writer",
        "failure",
        "key",
        "leader_epoch",
        "on_fenced",
        "on_given_back",
        "partition",
        "window",
    )

    def __init__(
        self,
        key: ShareKey,
        partition: Partition,
        states: ShareStates,
        settings: Callable[[], ShareSettings],
        on_fenced: Callable[[SharePartition], None],
        on_given_back: Callable[[SharePartition], None],
    ) -> None:
        self.key = key
        self.partition = partition
        self.leader_epoch = partition.leader_epoch
        self.window: Window | None = None
        """None until it is loaded."""
        self.failure: ApiError | None = None
        """Why it is of no use any more: it has to be loaded anew."""
        self.on_fenced = on_fenced
        self.on_given_back = on_given_back
        """Told when members have records again, and with them locks that run out, because what they
        said of them could not be kept."""
        self._states = states
        self._settings = settings
        self._state_epoch = 0
        self._waiters: dict[Waiter, None] = {}
        self._changes: list[_Change] = []
        self._writer: asyncio.Task[None] | None = None

    # Coming and going

    async def load(self, first_offset: FirstOffset) -> None:
        """A first offset that is found here is kept at once: a group that begins at the end would
        else lose what comes before its first acknowledgement, should the leader end."""
        result = await self._states.ask(self.key, Read(self.leader_epoch))
        if self.failure is not None:
            return
        if result.error is not ErrorCode.NONE:
            self.fail(_for_client(result))
            return
        state = result.state
        self._state_epoch = state.state_epoch
        try:
            is_new = state.start_offset == UNKNOWN_OFFSET
            start = first_offset() if is_new else state.start_offset
            self.window = Window(start, state.batches)
        except ApiError as error:
            self.fail(error)
            return
        except StorageError as error:
            self.fail(ApiError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)))
            return
        if is_new:
            self._keep([])
        self._wake()

    def keeps_lead(self) -> bool:
        """False where another node may have led meanwhile, of which this one has not heard: to go
        and to come back takes two epochs. What is known here may be outdated then."""
        epoch = self.partition.leader_epoch
        if epoch > self.leader_epoch + 1:
            return False
        self.leader_epoch = epoch
        return True

    def fail(self, error: ApiError) -> None:
        """It is led elsewhere, or somebody else has taken over."""
        if self.failure is None:
            self.failure = error
            self.on_fenced(self)
            self._wake()

    # Waiting

    def watch(self, waiter: Waiter) -> None:
        self._waiters[waiter] = None

    def unwatch(self, waiter: Waiter) -> None:
        self._waiters.pop(waiter, None)

    def _wake(self) -> None:
        for waiter in tuple(self._waiters):
            waiter.wake()

    # Handing out

    @property
    def next_offset(self) -> int:
        """Where to read next, past what the log has no more."""
        window = self._loaded
        window.move_start(self.partition.log.log_start_offset)
        return window.next_offset

    @property
    def has_room(self) -> bool:
        return self._loaded.has_room(self._settings().locks_max)

    def acquire(
        self,
        member_id: str,
        batches: Iterable[LogBatch],
        records_max: int,
        now_ms: int,
        *,
        exact: bool,
        batch_size: int,
    ) -> list[Acquired]:
        settings = self._settings()
        return self._loaded.acquire(
            member_id,
            batches,
            records_max,
            settings.locks_max,
            now_ms + settings.lock_duration_ms,
            DeliveryThrottle(settings.deliveries_max),
            exact=exact,
            batch_size=batch_size,
        )

    @property
    def next_deadline_ms(self) -> int | None:
        return None if self.window is None else self.window.next_deadline_ms

    # What becomes of it

    def acknowledge(
        self, member_id: str, told: Sequence[Acknowledgement], now_ms: int
    ) -> asyncio.Future[None] | None:
        """Done when it is kept; None where there is nothing to be kept."""
        settings = self._settings()
        if not settings.may_renew and any(one.type is AcknowledgeType.RENEW for one in told):
            raise ApiError(ErrorCode.INVALID_RECORD_STATE, "Locks of this group are not renewed.")
        until_ms = now_ms + settings.lock_duration_ms
        changed = self._loaded.acknowledge(member_id, told, settings.deliveries_max, until_ms)
        if not changed:
            return None
        kept: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._keep(changed, kept)
        return kept

    def release(self, member_id: str) -> None:
        if self.window is not None:
            self._released(self.window.release(member_id))

    def expire(self, now_ms: int) -> None:
        if self.window is not None:
            self._released(self.window.expire(now_ms, self._settings().deliveries_max))

    def _released(self, changed: Sequence[StateBatch]) -> None:
        if changed:
            self._keep(changed)
            self._wake()

    @property
    def _loaded(self) -> Window:
        if self.failure is not None:
            raise self.failure
        if self.window is None:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER, "The share partition is being loaded.")
        return self.window

    # Keeping

    async def wait_kept(self) -> None:
        """Until all that has changed is kept, or cannot be."""
        if self._writer is not None:
            await asyncio.wait([self._writer])

    def _keep(
        self, batches: Sequence[StateBatch], kept: asyncio.Future[None] | None = None
    ) -> None:
        self._changes.append(_Change(batches, kept))
        if self._writer is None:
            self._writer = asyncio.create_task(self._write_all(), name="share-state")

    async def _write_all(self) -> None:
        try:
            while self._changes:
                changes, self._changes = self._changes, []
                window = self.window
                assert window is not None
                result = await self._states.ask(self.key, Keep(self._write(window, changes)))
                self._settle(window, changes, result)
        finally:
            self._writer = None

    def _write(self, window: Window, changes: Iterable[_Change]) -> Write:
        start = window.next_start
        batches: tuple[StateBatch, ...] = ()
        for change in changes:
            batches = overlaid(batches, sorted(change.batches), start)
        return Write(self._state_epoch, self.leader_epoch, start, window.done_count, batches)

    def _settle(self, window: Window, changes: Iterable[_Change], result: Result) -> None:
        is_kept = result.error is ErrorCode.NONE
        error = None if is_kept else _for_client(result)
        for batches, kept in changes:
            if kept is None:
                continue
            if error is None:
                window.commit(batches)
            else:
                window.roll_back(batches)
            if not kept.done():
                if error is None:
                    kept.set_result(None)
                else:
                    kept.set_exception(error)
                    kept.exception()  # the member may be gone
        if error is not None:
            log.warning("share state not kept", group=self.key.group_id, reason=str(error))
            if error.code is ErrorCode.NOT_LEADER_OR_FOLLOWER:
                self.fail(error)
            else:
                self.on_given_back(self)
        self._wake()


_FENCED = (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.FENCED_STATE_EPOCH)
_TOLD = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.GROUP_ID_NOT_FOUND,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
)


def _for_client(result: Result) -> ApiError:
    """Where another leader has taken over, or the group begins anew, this one is none."""
    if result.error in _FENCED:
        return ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER, result.message)
    if result.error in _TOLD:
        return ApiError(result.error, result.message)
    if result.error in (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS):
        return ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE, result.message)
    return ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, result.message)
