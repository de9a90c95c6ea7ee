"""What a node says of itself to controllers: as a broker that registers, and as one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.metadata.broker import Endpoint
from penstock.node.background import Background
from penstock.node.cordon import Cordon
from penstock.node.identity import Identity
from penstock.node.listeners import Listeners
from penstock.node.metadata_plane import MetadataPlane
from penstock.node.no_links import NoLinks
from penstock.node.node_settings import NodeSettings
from penstock.node.registration import registration_of
from penstock.protocol.messages.broker_registration import BrokerRegistrationRequest
from penstock.storage.log_dirs import LogDirs

if TYPE_CHECKING:
    from penstock.node.links import Links
    from penstock.node.membership import Membership


class Joining:
    """`new_id` names each life of the process."""

    def __init__(
        self,
        identity: Identity,
        listeners: Listeners,
        settings: NodeSettings,
        log_dirs: LogDirs,
        metadata: MetadataPlane,
        links: Links | NoLinks,
        new_id: Callable[[], bytes],
        background: Background,
    ) -> None:
        self._identity = identity
        self._listeners = listeners
        self._settings = settings
        self._log_dirs = log_dirs
        self._metadata = metadata
        self._links = links
        self._new_id = new_id
        self._background = background
        self._membership: Membership | None = None
        self.cordon = Cordon(settings, metadata.image, log_dirs, self._tell_cordoned)

    def registration(self) -> BrokerRegistrationRequest:
        return registration_of(
            self._identity,
            [each.endpoint for each in self._listeners.of_clients],
            self._settings().rack,
            self._new_id(),
            self._log_dirs.ids(self._log_dirs.online),
            self._log_dirs.last_broker_epoch,
        )

    def new_membership(self) -> Membership:
        from penstock.node.membership import Membership

        assert not isinstance(self._links, NoLinks)
        self._membership = Membership(
            self.registration(),
            self._metadata,
            self._links.heartbeats,
            self._settings,
            lambda: self._log_dirs.ids(self._log_dirs.offline),
            self.cordon.ids,
        )
        return self._membership

    async def let_in(self, *, was_clean: bool) -> None:
        """A node that is its own cluster."""
        await self._metadata.let_in(self.registration(), was_clean=was_clean)
        await self._metadata.cordon(self.cordon.ids())

    def _tell_cordoned(self) -> None:
        if self._membership is not None:
            self._membership.tell_directories()
        else:
            self._background.spawn(self._metadata.cordon(self.cordon.ids()))

    async def register_controller(self, endpoints: list[Endpoint]) -> None:
        from penstock.node.membership import ControllerRegistration

        assert not isinstance(self._links, NoLinks)
        await ControllerRegistration(
            self._identity,
            endpoints,
            self._new_id(),
            self._metadata,
            self._links.controller,
        ).run()
