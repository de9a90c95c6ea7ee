"""A part of the conformance suite on three nodes; `make conformance TARGET=cluster` runs all of it.

What asks every node, or only the right one: topics, elections, reassignment, the quorum, disks.
"""

from __future__ import annotations

from tests.conformance.test_admin_cluster import (
    kafka_python,
    test_describe_cluster,
    test_elect_preferred,
    test_log_dirs,
    test_producers,
)
from tests.conformance.test_admin_topics import (
    test_create,
    test_create_assigned_partitions,
    test_create_with_defaults,
    test_invalid_replication,
)
from tests.conformance.test_java_cluster import (
    test_broker_api_versions,
    test_cluster,
    test_leader_election,
    test_metadata_quorum,
)
from tests.conformance.test_java_topics import test_broker_settings, test_create_and_describe
from tests.conformance.test_reassignment import (
    test_call_off,
    test_list,
    test_log_directory,
    test_reassign,
    test_tool,
)

__all__ = [
    "kafka_python",
    "test_broker_api_versions",
    "test_broker_settings",
    "test_call_off",
    "test_cluster",
    "test_create",
    "test_create_and_describe",
    "test_create_assigned_partitions",
    "test_create_with_defaults",
    "test_describe_cluster",
    "test_elect_preferred",
    "test_invalid_replication",
    "test_leader_election",
    "test_list",
    "test_log_directory",
    "test_log_dirs",
    "test_metadata_quorum",
    "test_producers",
    "test_reassign",
    "test_tool",
]
