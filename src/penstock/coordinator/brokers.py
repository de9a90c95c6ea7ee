"""The other brokers, as far as coordinators need them."""

from __future__ import annotations

from typing import Protocol

from penstock.model.error import PenstockError
from penstock.protocol.entity import Entity


class NoAnswer(PenstockError):
    """The broker could not be asked, or did not answer: it may have done what it was asked."""


class NotSpoken(PenstockError):
    """The broker does not know the request, or not in the version that it takes."""


class Brokers(Protocol):
    async def call(self, node_id: int, request: Entity, min_version: int) -> Entity:
        """The answer, in the highest version that both speak; NoAnswer, or NotSpoken if that is
        below the least."""
        ...
