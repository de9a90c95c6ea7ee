"""Raw requests as `tests.node.wire_kit` has them, each to the broker that it is for."""

from __future__ import annotations

from typing import Any

from penstock.protocol.entity import Entity
from tests.conformance.clients.record import PATIENCE_SECONDS
from tests.conformance.clients.routing import ask_everywhere, find_address
from tests.node.wire_kit import Wire


class RoutedWire(Wire):
    """`call` finds the broker; everything else is for the first one that is named."""

    def __init__(self, bootstrap_servers: str) -> None:
        first, *others = bootstrap_servers.split(",")
        super().__init__(first, PATIENCE_SECONDS)
        self._is_alone = not others
        self._others: dict[str, Wire] = {}

    def call(self, request: Entity, version: int) -> Any:
        ask = super().call
        if self._is_alone:
            return ask(request, version)
        merged = ask_everywhere(request, ask, lambda where: self._at(where).call, version)
        if merged is not None:
            return merged
        address = find_address(request, ask)
        return (ask if address is None else self._at(address).call)(request, version)

    def _at(self, address: str) -> Wire:
        if address not in self._others:
            self._others[address] = Wire(address, PATIENCE_SECONDS)
        return self._others[address]

    def __exit__(self, *raised: object) -> None:
        for each in self._others.values():
            each.__exit__(*raised)
        super().__exit__(*raised)
