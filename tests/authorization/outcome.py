"""What of an answer is compared: error codes, what it names, and what it says may be done."""

from __future__ import annotations

from typing import Any, Final

from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from tests.authorization.cases import MADE, OWN
from tests.authorization.grants import PREFIX

Outcome = Any
"""Plain JSON."""

CLOSED: Final = "closed"

_NAMES: Final = frozenset(
    {
        *("name", "topic", "topic_name", "group_id", "transactional_id", "resource_name"),
        *(
            "principal_name",
            "resource_type",
            "key",
            "user",
            "partition_index",
            "index",
            "partition",
            "partition_id",
        ),
    }
)
_LEFT_OUT: Final = frozenset(
    {
        *("brokers", "nodes", "node_endpoints", "api_keys", "members"),
        *("finalized_features", "supported_features"),
    }
)
"""What is of the cluster and not of the client."""
_COUNTED: Final = frozenset({"configs", "entries", "resources", "unknown_state_filters"})
"""Of which only matters whether anything is there."""


def outcome_of(response: Entity) -> Outcome:
    found: dict[str, Outcome] = {}
    for field in type(response).__slots__:
        value = getattr(response, field)
        if field.endswith("error_code"):
            if value:
                found[field] = ErrorCode(value).name
        elif field.endswith("authorized_operations") or field in _NAMES:
            found[field] = value
        elif field in _COUNTED:
            found[field] = bool(value)
        elif field not in _LEFT_OUT and isinstance(value, list) and value:
            inner = [outcome_of(one) for one in value if isinstance(one, Entity)]
            if len(inner) > 1:
                inner = [one for one in inner if not _is_others(one)]
            inner = [one for one in inner if one and not _is_foreign(one)]
            if inner:
                found[field] = sorted(inner, key=repr)
    return found


def _is_others(outcome: dict[str, Outcome]) -> bool:
    """In a list of everything: what single requests brought along."""
    name = outcome.get("name")
    return isinstance(name, str) and name.startswith((OWN, MADE))


def _is_foreign(outcome: dict[str, Outcome]) -> bool:
    """Of a topic or group that no request is about."""
    for field in ("name", "topic", "topic_name", "group_id", "transactional_id"):
        name = outcome.get(field)
        if isinstance(name, str) and name.startswith("__"):
            return True
    resource = outcome.get("resource_name")
    return (
        isinstance(resource, str)
        and "error_code" not in outcome
        and not resource.startswith(PREFIX)
        and not resource.isdigit()
    )
