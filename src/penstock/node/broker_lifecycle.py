"""A broker's standing with the controller: registered, caught up, unfenced, shutting down.

Sends the registration and the heartbeats, and says what came of them. What it means to be fenced
or unfenced for anybody else is in the metadata log, and nothing is done because of an answer here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from penstock.model.error import ErrorCode, PenstockError
from penstock.protocol.entity import Entity
from penstock.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from penstock.protocol.messages.broker_registration import BrokerRegistrationRequest
from penstock.telemetry.log import get_logger

RETRY_S = 0.1
UNTIL_UNFENCED_S = 0.02
"""Between heartbeats as long as something is waited for: the node serves nobody before."""
SHUTDOWN_S = 0.05
UNANSWERED_S_MAX = 3.0
"""A broker that stops waits no longer for a controller that is not there: the others may have
stopped as well."""

log = get_logger("lifecycle")

Ask = Callable[[Entity], Awaitable[Any]]
"""Of the active controller; PenstockError if there is none just now."""


class LifecycleError(PenstockError):
    """The controller will not have this broker."""


_HOPELESS = {
    ErrorCode.INCONSISTENT_CLUSTER_ID: (
        "the controllers belong to another cluster: see cluster.id in meta.properties"
    ),
    ErrorCode.INVALID_REGISTRATION: "the controller refuses the registration",
    ErrorCode.UNSUPPORTED_VERSION: (
        "the cluster has a feature, or a level of one, that this node does not serve: "
        "`kafka-features.sh describe` shows them, `kafka-features.sh downgrade` lowers one"
    ),
}


class BrokerLifecycle:
    def __init__(
        self,
        registration: BrokerRegistrationRequest,
        ask: Ask,
        metadata_offset: Callable[[], int],
        interval_s: Callable[[], float],
        offline_dirs: Callable[[], list[bytes]] = list,
        cordoned_dirs: Callable[[], list[bytes] | None] = lambda: None,
    ) -> None:
        """`offline_dirs`: the directories that have failed since the start; `cordoned_dirs`: those
        that take no new replicas, None as long as that is not to be said."""
        self._registration = registration
        self._ask = ask
        self._metadata_offset = metadata_offset
        self._interval_s = interval_s
        self._offline_dirs = offline_dirs
        self._cordoned_dirs = cordoned_dirs
        self._told_dirs: list[bytes] = []
        self.broker_epoch = -1
        self.is_fenced = True
        self._wants_fence = True
        self._wants_shutdown = False
        self._changed = asyncio.Event()
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_caught_up = False
        self._may_shut_down = False
        self._is_hasty = False
        self._answered_at = 0.0
        self._heard_at = 0.0

    # --- what a node waits for, in this order ---

    async def register(self, patience_s: float) -> int:
        """The epoch of this life. LifecycleError if it cannot be had."""
        loop = asyncio.get_running_loop()
        until = loop.time() + patience_s
        last = "no controller answers"
        told = {last}
        while loop.time() < until:
            reason = await self._try_to_register()
            if reason is None:
                log.info("registered", epoch=self.broker_epoch)
                return self.broker_epoch
            if reason not in told:
                log.warning("not registered yet", reason=reason)
            last = reason
            told.add(reason)
            await asyncio.sleep(RETRY_S)
        raise LifecycleError(f"not registered within {patience_s:.0f} s: {last}")

    async def _try_to_register(self) -> str | None:
        """Why it was not to be had this time."""
        try:
            response = await self._ask(self._registration)
        except PenstockError as error:
            return str(error)
        if not response.error_code:
            self.broker_epoch = response.broker_epoch
            return None
        code = ErrorCode(response.error_code)
        if code in _HOPELESS:
            raise LifecycleError(f"{_HOPELESS[code]} ({code.name})")
        if code is not ErrorCode.DUPLICATE_BROKER_REGISTRATION:
            return code.name
        return (
            f"node.id {self._registration.broker_id} is taken by another process; "
            "it is free once that has been silent for broker.session.timeout.ms"
        )

    def start(self) -> None:
        self._task = asyncio.create_task(self._beat(), name="heartbeats")

    async def wait_caught_up(self) -> None:
        while not self._is_caught_up:
            await self._wait_change()

    async def unfence(self) -> None:
        """From now on clients may be sent here."""
        self._wants_fence = False
        self._woken.set()
        while self.is_fenced:
            await self._wait_change()

    async def shut_down(self, patience_s: float) -> bool:
        """Whether the controller has moved everything away that this broker led."""
        if self._task is None or self.is_fenced:
            return True
        self._wants_shutdown = True
        self._woken.set()
        loop = asyncio.get_running_loop()
        until = loop.time() + patience_s
        self._answered_at = loop.time()
        while not (self._may_shut_down or self._is_hasty):
            if loop.time() > min(until, self._answered_at + UNANSWERED_S_MAX):
                return False
            await asyncio.sleep(SHUTDOWN_S)
        return True

    def hasten(self) -> None:
        """Shut down without the controller's leave: who stops the cluster waits for nothing."""
        self._is_hasty = True

    def beat_soon(self) -> None:
        """There is something the controller has to know."""
        self._woken.set()

    @property
    def knows_directories(self) -> bool:
        """Whether the controller has heard of every directory that has failed."""
        return self._told_dirs == self._offline_dirs()

    def is_in_touch(self, session_s: float) -> bool:
        """Whether the controller cannot have given this broker up yet: it counts from when it gets
        a heartbeat, which is after that was sent."""
        return asyncio.get_running_loop().time() - self._heard_at < session_s

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    # --- heartbeats ---

    async def _beat(self) -> None:
        while not self._may_shut_down:
            self._woken.clear()
            heartbeat = self._heartbeat()
            sent_at = asyncio.get_running_loop().time()
            try:
                response = await self._ask(heartbeat)
            except PenstockError as error:
                log.info("heartbeat not answered", reason=str(error))
                await self._pause(RETRY_S)
                continue
            if self._take(heartbeat, response):
                self._heard_at = sent_at
            await self._pause(self._pause_s())

    def _heartbeat(self) -> BrokerHeartbeatRequest:
        return BrokerHeartbeatRequest(
            broker_id=self._registration.broker_id,
            broker_epoch=self.broker_epoch,
            current_metadata_offset=self._metadata_offset(),
            want_fence=self._wants_fence,
            want_shut_down=self._wants_shutdown,
            offline_log_dirs=self._offline_dirs(),
            # Before, it may not know its own settings.
            cordoned_log_dirs=self._cordoned_dirs() if self._is_caught_up else None,
        )

    def _take(self, heartbeat: BrokerHeartbeatRequest, response: Any) -> bool:
        """Whether it was taken."""
        if response.error_code:
            log.warning("heartbeat refused", error=ErrorCode(response.error_code).name)
            return False
        self._told_dirs = heartbeat.offline_log_dirs
        was_fenced, self.is_fenced = self.is_fenced, response.is_fenced
        if was_fenced != self.is_fenced:
            log.info("fenced" if self.is_fenced else "unfenced", epoch=self.broker_epoch)
        self._is_caught_up = response.is_caught_up
        self._may_shut_down = response.should_shut_down
        self._answered_at = asyncio.get_running_loop().time()
        self._changed.set()
        return True

    def _pause_s(self) -> float:
        if self._wants_shutdown:
            return SHUTDOWN_S
        if not self._is_caught_up or (self.is_fenced and not self._wants_fence):
            return UNTIL_UNFENCED_S
        return self._interval_s()

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            pass

    async def _wait_change(self) -> None:
        self._changed.clear()
        await self._changed.wait()
