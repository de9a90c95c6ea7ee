"""Which of the eight levels holds, and who shares it: Kafka's table."""

from __future__ import annotations

import pytest

from penstock.security.quota.precedence import Limits
from penstock.security.quota.sensor import UNLIMITED, Tags


def entity(user: object = ..., client_id: object = ...) -> frozenset[tuple[str, str | None]]:
    """`...` where the entity has no such part; None is the default."""
    parts = (("user", user), ("client-id", client_id))
    return frozenset((kind, name) for kind, name in parts if name is not ...)  # type: ignore[misc]


LEVELS = [
    (entity("alice", "app"), Tags("alice", "app")),
    (entity("alice", None), Tags("alice", "app")),
    (entity("alice"), Tags("alice", "")),
    (entity(None, "app"), Tags("alice", "app")),
    (entity(None, None), Tags("alice", "app")),
    (entity(None), Tags("alice", "")),
    (entity(client_id="app"), Tags("", "app")),
    (entity(client_id=None), Tags("", "app")),
]
"""The strongest first."""


@pytest.mark.parametrize("strongest", range(8))
def test_the_most_specific_level_wins(strongest: int) -> None:
    limits = Limits({LEVELS[at][0]: 100.0 + at for at in range(strongest, 8)})
    tags = limits.tags_of("alice", "app")
    assert (tags, limits.limit_of(tags)) == (LEVELS[strongest][1], 100.0 + strongest)


@pytest.mark.parametrize("at", range(8))
def test_one_level_alone_holds_and_leaves_others_alone(at: int) -> None:
    named, tags = LEVELS[at]
    limits = Limits({named: 5.0})
    assert limits.tags_of("alice", "app") == tags
    assert limits.limit_of(tags) == 5.0
    stranger = limits.limit_of(limits.tags_of("bob", "other"))
    has_names = any(name is not None for _, name in named)
    assert stranger == (UNLIMITED if has_names else 5.0)


def test_a_default_is_one_for_each() -> None:
    limits = Limits({entity(None): 5.0})
    assert limits.tags_of("alice", "app") != limits.tags_of("bob", "app")
    assert limits.tags_of("alice", "app") == limits.tags_of("alice", "other")


def test_a_client_that_says_no_name_has_no_quota_of_client_ids() -> None:
    limits = Limits({entity(client_id=None): 5.0})
    assert limits.limit_of(limits.tags_of("alice", "")) == UNLIMITED


def test_a_client_cannot_take_the_name_of_the_default() -> None:
    limits = Limits({entity(client_id=None): 5.0, entity(client_id="app"): 7.0})
    tags = limits.tags_of("alice", "<default>")
    assert (tags, limits.limit_of(tags)) == (Tags("", "<default>"), 5.0)
