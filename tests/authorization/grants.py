"""Who asks in the comparison: nobody in particular, users with one grant each, and one with all."""

from __future__ import annotations

from typing import Final, NamedTuple

from penstock.model.acl import (
    CLUSTER_NAME,
    OPERATIONS,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from penstock.protocol.messages.create_acls import AclCreation, CreateAclsRequest

PREFIX: Final = "authz-"
"""Of everything that the requests are about: one grant is for all of it."""
ADMIN: Final = "admin"
NOBODY: Final = "nobody"


_NAMES: Final = {
    ResourceType.CLUSTER: (CLUSTER_NAME, PatternType.LITERAL),
    ResourceType.USER: (f"User:{PREFIX}", PatternType.PREFIXED),
    ResourceType.DELEGATION_TOKEN: ("*", PatternType.LITERAL),
}
"""Where it is another: tokens have names that nobody chooses."""


class Grant(NamedTuple):
    resource_type: ResourceType
    operation: Operation
    permission: Permission = Permission.ALLOW

    @property
    def user(self) -> str:
        refusal = "no-" if self.permission == Permission.DENY else ""
        return f"{self.resource_type.name}-{refusal}{self.operation.name}".lower()

    def creation(self, user: str) -> AclCreation:
        name, pattern = _NAMES.get(self.resource_type, (PREFIX, PatternType.PREFIXED))
        return AclCreation(
            resource_type=self.resource_type,
            resource_name=name,
            resource_pattern_type=pattern,
            principal=f"User:{user}",
            host="*",
            operation=self.operation,
            permission_type=self.permission,
        )


_TYPES: Final = (
    ResourceType.TOPIC,
    ResourceType.GROUP,
    ResourceType.CLUSTER,
    ResourceType.TRANSACTIONAL_ID,
    ResourceType.DELEGATION_TOKEN,
    ResourceType.USER,
)
GRANTS: Final = tuple(
    Grant(kind, operation) for kind in _TYPES for operation in (*OPERATIONS[kind], Operation.ALL)
)

USERS: Final[dict[str, tuple[Grant, ...]]] = {
    NOBODY: (),
    **{grant.user: (grant,) for grant in GRANTS},
    "everything": tuple(Grant(kind, Operation.ALL) for kind in _TYPES),
    "consumer": (
        Grant(ResourceType.TOPIC, Operation.READ),
        Grant(ResourceType.GROUP, Operation.READ),
    ),
    "producer": (
        Grant(ResourceType.TOPIC, Operation.WRITE),
        Grant(ResourceType.TRANSACTIONAL_ID, Operation.WRITE),
    ),
    "copier": (
        Grant(ResourceType.TOPIC, Operation.READ),
        Grant(ResourceType.TOPIC, Operation.WRITE),
        Grant(ResourceType.GROUP, Operation.READ),
        Grant(ResourceType.TRANSACTIONAL_ID, Operation.WRITE),
    ),
    "refused": (
        Grant(ResourceType.TOPIC, Operation.ALL),
        Grant(ResourceType.TOPIC, Operation.DESCRIBE, Permission.DENY),
    ),
    "maker": (
        Grant(ResourceType.TOPIC, Operation.DESCRIBE),
        Grant(ResourceType.TOPIC, Operation.CREATE),
    ),
}
"""By name. Of some requests more than one grant is asked at a time."""


def creations() -> CreateAclsRequest:
    return CreateAclsRequest(
        creations=[grant.creation(user) for user, grants in USERS.items() for grant in grants]
    )
