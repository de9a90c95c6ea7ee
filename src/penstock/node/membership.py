"""How a broker becomes, and stays, a member of its cluster.

Alone it lets itself in: it is its own controller, and nobody waits for its heartbeats. With others
it registers with the active controller, wherever that is, and stays in touch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from penstock.controller.config import SUPPORTED_FEATURES
from penstock.metadata.broker import Endpoint
from penstock.model.error import PenstockError
from penstock.node.broker_lifecycle import BrokerLifecycle
from penstock.node.controller_channel import ControllerChannel
from penstock.node.identity import Identity
from penstock.node.metadata_plane import MetadataPlane
from penstock.protocol.entity import Entity
from penstock.protocol.messages import controller_registration
from penstock.protocol.messages.broker_registration import BrokerRegistrationRequest
from penstock.settings.config import BrokerConfig
from penstock.telemetry.log import get_logger

REGISTRATION_RETRY_S = 1.0
SHUTDOWN_PATIENCE_S = 30.0
HEARTBEAT_TIMEOUT_S = 4.0

log = get_logger("membership")


class Membership:
    """Of a broker with others. The steps of its start are called one after the other."""

    def __init__(
        self,
        registration: BrokerRegistrationRequest,
        metadata: MetadataPlane,
        channel: ControllerChannel,
        config: Callable[[], BrokerConfig],
        offline_dirs: Callable[[], list[bytes]],
        cordoned_dirs: Callable[[], list[bytes] | None],
    ) -> None:
        self._config = config
        self._channel = channel
        self._lifecycle = BrokerLifecycle(
            registration,
            self._ask,
            lambda: metadata.quorum.committed_offset - 1,
            lambda: int(config().get("broker.heartbeat.interval.ms")) / 1000,
            offline_dirs,
            cordoned_dirs,
        )

    @property
    def broker_epoch(self) -> int:
        return self._lifecycle.broker_epoch

    def is_in_touch(self) -> bool:
        """Whether the controller still counts this broker in, for all that can be known here."""
        session_ms = int(self._config().get("broker.session.timeout.ms"))
        return self._lifecycle.is_in_touch(session_ms / 1000)

    async def register(self) -> None:
        """And wait until this node knows of it from the metadata log."""
        patience_ms = int(self._config().get("initial.broker.registration.timeout.ms"))
        await self._lifecycle.register(patience_ms / 1000)
        self._lifecycle.start()
        await self._lifecycle.wait_caught_up()

    async def unfence(self) -> None:
        await self._lifecycle.unfence()

    async def leave(self) -> None:
        """Others lead from now on what was led here."""
        if not self._config().get("controlled.shutdown.enable"):
            return
        if not await self._lifecycle.shut_down(SHUTDOWN_PATIENCE_S):
            log.warning("stopping without the controller's leave", waited_s=SHUTDOWN_PATIENCE_S)

    def tell_directories(self) -> None:
        self._lifecycle.beat_soon()

    @property
    def knows_directories(self) -> bool:
        return self._lifecycle.knows_directories

    def hasten(self) -> None:
        self._lifecycle.hasten()

    async def close(self) -> None:
        await self._lifecycle.close()

    async def _ask(self, request: Entity) -> Any:
        return await self._channel.call(request, HEARTBEAT_TIMEOUT_S)


class ControllerRegistration:
    """Tells the active controller of this one: its listeners and what it understands."""

    def __init__(
        self,
        identity: Identity,
        endpoints: Iterable[Endpoint],
        incarnation_id: bytes,
        metadata: MetadataPlane,
        channel: ControllerChannel,
    ) -> None:
        self._metadata = metadata
        self._channel = channel
        self._request = controller_registration.ControllerRegistrationRequest(
            controller_id=identity.node_id,
            incarnation_id=incarnation_id,
            listeners=[
                controller_registration.Listener(
                    name=each.name,
                    host=each.host,
                    port=each.port,
                    security_protocol=each.security_protocol,
                )
                for each in endpoints
            ],
            features=[
                controller_registration.Feature(
                    name=name, min_supported_version=low, max_supported_version=high
                )
                for name, (low, high) in SUPPORTED_FEATURES.items()
            ],
        )

    async def run(self) -> None:
        """Until the metadata log has it."""
        told: set[str | None] = {None}
        while not self._is_known():
            reason = await self._try_to_register()
            if reason not in told:
                log.warning("controller not registered yet", reason=reason)
            told.add(reason)
            await asyncio.sleep(REGISTRATION_RETRY_S)

    async def _try_to_register(self) -> str | None:
        """Why it was not to be had this time, as far as that is known."""
        if not self._metadata.image.features:
            return self._channel.trouble()
        try:
            await self._channel.call(self._request, HEARTBEAT_TIMEOUT_S)
        except PenstockError as error:
            return str(error)
        return None

    def _is_known(self) -> bool:
        known = self._metadata.image.controllers.get(self._request.controller_id)
        return known is not None and known.incarnation_id == self._request.incarnation_id
