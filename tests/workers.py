"""Which tests run one after the other when several processes share the work (`pytest -n 3`).

A file's tests stay together, and so do files that need the same expensive start: Spark or
Apache Kafka. The long ones are begun first, so that none is left over at the end.
It says nothing about what a test may use: each process has brokers, ports and folders of its own.
"""

from __future__ import annotations

from fnmatch import fnmatch
from typing import Any

import pytest

# The first pattern that fits a file names its scope; without one a file is its own.
SCOPES = (
    ("tests/pipelines/test_pipeline_dlq_kafka.py", "apache kafka"),
    ("tests/pipelines/test_pipeline_cli*.py", None),
    ("tests/pipelines/test_pipeline_*demo.py", None),
    ("tests/pipelines/test_pipeline_*kill*.py", None),
    ("tests/pipelines/test_pipeline_cluster.py", None),
    ("tests/pipelines/test_pipeline_sink_delta.py", None),
    ("tests/pipelines/*", "spark"),
    ("tests/conformance/test_spark_*.py", "spark"),
    ("tests/saga/test_saga_funnel.py", "spark"),
    ("tests/unit/cli/test_cli_three_nodes.py", None),
    ("tests/unit/cli/test_cli_local.py", None),
    ("tests/cluster/test_any_node.py", "three nodes"),
    ("tests/cluster/test_c*_part.py", "three nodes"),
    ("tests/cluster/test_nodes_die.py", "three nodes"),
    ("tests/unit/cli/*", "apache kafka"),
    ("tests/unit/client/*", "apache kafka"),
)
TURNS = (
    "spark",
    "tests/pipelines/*",
    "tests/eos/*",
    "tests/crash/*",
    "tests/chaos/*",
    "three nodes",
    "tests/mixed/test_both_kinds.py",
    "apache kafka",
    "tests/unit/cli/test_cli_three_nodes.py",
    "tests/unit/cli/test_cli_local.py",
    "tests/conformance/*",
)
"""The scopes to begin with; the others follow as they were collected."""


def scope_of(nodeid: str) -> str:
    file = nodeid.partition("::")[0]
    name = next((name for pattern, name in SCOPES if fnmatch(file, pattern)), None)
    return name or file


def turn_of(nodeid: str) -> int:
    scope = scope_of(nodeid)
    turns = (turn for turn, pattern in enumerate(TURNS) if fnmatch(scope, pattern))
    return next(turns, len(TURNS))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: turn_of(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadScopeScheduling

    class ScopeScheduling(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return scope_of(nodeid)

    # In the order collected, not by how many tests there are.
    config.option.loadscopereorder = False
    return ScopeScheduling(config, log)
