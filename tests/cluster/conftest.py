"""Three nodes for these tests, and what the conformance suite's tests take from a cluster."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.conftest import (
    Cluster,
    admin,
    admin_client,
    connection,
    make_topic,
    three_nodes,
    tool,
    topic,
    topic_name,
)

__all__ = ["admin", "admin_client", "connection", "make_topic", "tool", "topic", "topic_name"]


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    yield from three_nodes(tmp_path_factory.mktemp("cluster") / "data")
