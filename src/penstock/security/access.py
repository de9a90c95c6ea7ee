"""What one principal at one address may do: decisions, remembered until an entry changes."""

from __future__ import annotations

from typing import Final

from penstock.model.acl import Operation, ResourceType
from penstock.model.principal import Principal
from penstock.security.authorizer import Authorizer

REMEMBERED_MAX: Final = 10_000
"""Somebody may ask about more names than is worth remembering."""

_ANY_NAME: Final = None


class Access:
    __slots__ = ("_authorizer", "_decided", "_version", "host", "principal")

    def __init__(self, authorizer: Authorizer, principal: Principal, host: str) -> None:
        self._authorizer = authorizer
        self._decided: dict[tuple[Operation, ResourceType, str | None], bool] = {}
        self._version = authorizer.version
        self.principal = principal
        self.host = host

    @property
    def version(self) -> int:
        return self._authorizer.version

    def may(self, operation: Operation, resource_type: ResourceType, name: str) -> bool:
        if self._version != self._authorizer.version:
            self._forget()
        key = (operation, resource_type, name)
        decided = self._decided.get(key)
        if decided is None:
            verdict = self._authorizer.judge(
                self.principal, self.host, operation, resource_type, name
            )
            decided = self._remember(key, verdict.is_allowed)
        return decided

    def may_describe_topic(self, name: str) -> bool:
        return self.may(Operation.DESCRIBE, ResourceType.TOPIC, name)

    def may_any(self, operation: Operation, resource_type: ResourceType) -> bool:
        """With at least one resource of this type, whichever it is."""
        if self._version != self._authorizer.version:
            self._forget()
        key = (operation, resource_type, _ANY_NAME)
        decided = self._decided.get(key)
        if decided is None:
            is_allowed = self._authorizer.may_any(
                self.principal, self.host, operation, resource_type
            )
            decided = self._remember(key, is_allowed)
        return decided

    def _forget(self) -> None:
        self._decided.clear()
        self._version = self._authorizer.version

    def _remember(self, key: tuple[Operation, ResourceType, str | None], is_allowed: bool) -> bool:
        if len(self._decided) >= REMEMBERED_MAX:
            self._decided.clear()
        self._decided[key] = is_allowed
        return is_allowed
