"""Raw requests as `tests.node.wire_kit` has them, each to the broker that it is for."""

from __future__ import annotations

from typing import Any

from penstock.protocol.entity import Entity
from tests.conformance.clients.record import PATIENCE_SECONDS
from tests.conformance.clients.routing import find_address
from tests.node.wire_kit import Wire


class RoutedWire(Wire):
    """`call` finds the broker; everything else is for the first one that is named."""

    def __init__(self, bootstrap_servers: str) -> None:
        first, *others = bootstrap_servers.split(",")
        super().__init__(first, PATIENCE_SECONDS)
        self._is_alone = not others
        self._others: dict[str, Wire] = {}

    def call(self, request: Entity, version: int) -> Any:
        address = None if self._is_alone else find_address(request, super().call)
        if address is None:
            return super().call(request, version)
        if address not in self._others:
            self._others[address] = Wire(address, PATIENCE_SECONDS)
        return self._others[address].call(request, version)

    def __exit__(self, *raised: object) -> None:
        for each in self._others.values():
            each.__exit__(*raised)
        super().__exit__(*raised)
