"""The links of a node that is alone: there is nobody at their other end."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from penstock.coordinator.brokers import NoAnswer
from penstock.model.error import PenstockError
from penstock.protocol.entity import Entity


class NoLinks:
    raft = None

    def __init__(self) -> None:
        self.coordinators = _NoCoordinators()
        self.replicas = _NoReplicas()

    async def ask_controller(self, request: Entity) -> NoReturn:
        raise PenstockError("this node is its own controller, and not ready")

    def close(self) -> None:
        pass


class _NoReplicas:
    def __init__(self) -> None:
        self.on_lost: Callable[[int], None] = lambda node_id: None

    async def call(self, node_id: int, request: Entity) -> NoReturn:
        raise PenstockError(f"node {node_id}: there are no other brokers")

    async def is_gone(self, node_id: int) -> bool:
        return False


class _NoCoordinators:
    async def call(self, node_id: int, request: Entity, min_version: int) -> NoReturn:
        raise NoAnswer(f"node {node_id}: there are no other brokers")
