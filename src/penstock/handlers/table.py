"""Which APIs this node serves on which listener: the one list that routing and ApiVersions read.

A module is imported when its API is first asked for, so that starting costs nothing for what
nobody uses. An API that is not here is not advertised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

Handler = Callable[[Any, Any, Any], Any]
"""(broker, request, call) -> Answer"""

Modules = Mapping[int, str]
"""The module in `handlers/api` by the number of the API."""

BROKER_MODULES: Modules = {
    0: "produce",
    1: "fetch",
    2: "list_offsets",
    3: "metadata",
    8: "offset_commit",
    9: "offset_fetch",
    10: "find_coordinator",
    11: "join_group",
    12: "heartbeat",
    13: "leave_group",
    14: "sync_group",
    15: "describe_groups",
    16: "list_groups",
    17: "sasl",
    18: "api_versions",
    19: "controller_request",
    20: "controller_request",
    21: "delete_records",
    22: "init_producer_id",
    23: "offset_for_leader_epoch",
    24: "add_partitions_to_txn",
    25: "add_offsets_to_txn",
    26: "end_txn",
    27: "write_txn_markers",
    28: "txn_offset_commit",
    29: "describe_acls",
    30: "change_acls",
    31: "change_acls",
    32: "describe_configs",
    33: "alter_configs",
    34: "alter_replica_log_dirs",
    35: "describe_log_dirs",
    36: "sasl",
    37: "controller_request",
    38: "delegation_token",
    39: "delegation_token",
    40: "delegation_token",
    41: "delegation_token",
    42: "delete_groups",
    43: "controller_request",
    44: "alter_configs",
    45: "controller_request",
    46: "controller_request",
    47: "offset_delete",
    48: "describe_client_quotas",
    49: "controller_request",
    50: "describe_user_scram_credentials",
    51: "controller_request",
    55: "describe_quorum",
    57: "update_features",
    60: "describe_cluster",
    61: "describe_producers",
    64: "controller_request",
    65: "describe_transactions",
    66: "list_transactions",
    68: "consumer_group_heartbeat",
    69: "consumer_group_describe",
    74: "list_config_resources",
    75: "describe_topic_partitions",
    76: "share_group_heartbeat",
    77: "share_group_describe",
    78: "share_fetch",
    79: "share_acknowledge",
    80: "raft_voter",
    81: "raft_voter",
    83: "share_state",
    84: "share_state",
    85: "share_state",
    86: "share_state",
    87: "share_state",
    88: "streams_group_heartbeat",
    89: "streams_group_describe",
    90: "share_group_offsets",
    91: "share_group_offsets",
    92: "share_group_offsets",
}

_QUORUM = dict.fromkeys((1, 52, 53, 54, 59, 80, 81, 82), "quorum_request")
_CONTROLLER = dict.fromkeys((56, 62, 63, 67, 70, 73), "controller_request")
_OF_BOTH = (
    *(17, 18, 19, 20, 29, 30, 31, 32, 33, 36, 37, 38, 39, 40, 41, 43, 44, 45, 46, 49, 50, 51, 55),
    *(57, 60, 64),
)

CONTROLLER_MODULES: Modules = {
    **{key: BROKER_MODULES[key] for key in _OF_BOTH},
    **_QUORUM,
    **_CONTROLLER,
    58: "envelope",
}
"""On listeners of controllers: what brokers and other controllers ask, and clients through them."""

CHANGES_METADATA = frozenset((19, 20, 30, 31, 33, 37, 38, 39, 40, 43, 44, 45, 49, 51, 57, 64))
"""Whatever comes behind one of these on its connection shows its effect: it is not begun before."""

CHANGES = CHANGES_METADATA | {8, 13, 21, 22, 24, 25, 26, 27, 28, 34, 42, 46, 47, 79, 91, 92}
"""Done to their end once they are read, also when the client does not wait for the answer."""

HOT = (0, 1, 2, 3, 18, 22)
"""Loaded at start, after the listener is open: what every client asks for first."""


def load(name: str) -> Handler:
    module = import_module(f"penstock.handlers.api.{name}")
    handler: Handler = module.handle
    return handler
