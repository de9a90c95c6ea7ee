"""Which access control entries a question means, as Kafka's AclBindingFilter has it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from penstock.metadata.acl import Acl
from penstock.model.acl import WILDCARD, Operation, PatternType, Permission, ResourceType


class FilterFields(Protocol):
    """DescribeAcls asks with one of these, DeleteAcls with several."""

    resource_type_filter: int
    resource_name_filter: str | None
    pattern_type_filter: int
    principal_filter: str | None
    host_filter: str | None
    operation: int
    permission_type: int


class AclFilter(NamedTuple):
    """None, or ANY, is everything."""

    resource_type: int
    resource_name: str | None
    pattern_type: int
    principal: str | None
    host: str | None
    operation: int
    permission: int

    def matches(self, acl: Acl) -> bool:
        return (
            self.resource_type in (ResourceType.ANY, acl.resource_type)
            and self._matches_name(acl)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (Operation.ANY, acl.operation)
            and self.permission in (Permission.ANY, acl.permission)
        )

    def _matches_name(self, acl: Acl) -> bool:
        kind, name = self.pattern_type, self.resource_name
        if kind not in (PatternType.ANY, PatternType.MATCH, acl.pattern_type):
            return False
        if name is None or name == acl.resource_name:
            return True
        if kind != PatternType.MATCH:
            return False
        if acl.pattern_type == PatternType.LITERAL:
            return acl.resource_name == WILDCARD
        return acl.pattern_type == PatternType.PREFIXED and name.startswith(acl.resource_name)


def filter_of(fields: FilterFields) -> AclFilter:
    """Numbers that this node does not know are UNKNOWN, as they are to Kafka's."""
    return AclFilter(
        known(ResourceType, fields.resource_type_filter),
        fields.resource_name_filter,
        known(PatternType, fields.pattern_type_filter),
        fields.principal_filter,
        fields.host_filter,
        known(Operation, fields.operation),
        known(Permission, fields.permission_type),
    )


Word = type[ResourceType] | type[PatternType] | type[Operation] | type[Permission]


def known(words: Word, number: int) -> int:
    return number if number in words._value2member_map_ else 0
