"""How many elements a request may have, by its API.

Where a request can be cut into pieces (`pieces`), the setting alone is the limit. Where it is
answered in one go, nobody else is served meanwhile: the limit is then what takes a quarter of a
second, as measured on one core, and at least as much as Apache Kafka's own clients ever send.
"""

from __future__ import annotations

from penstock.handlers.pieces import CUTS

AT_ONCE: dict[int, int] = {
    0: 12_000,  # Produce: an append each
    1: 40_000,  # Fetch
    8: 20_000,  # OffsetCommit: more do not fit in one batch
    11: 50_000,  # JoinGroup
    13: 30_000,  # LeaveGroup
    14: 100_000,  # SyncGroup
    16: 30_000,  # ListGroups
    19: 15_000,  # CreateTopics: 10,000 partitions are the limit of the controller
    20: 15_000,  # DeleteTopics
    24: 20_000,  # AddPartitionsToTxn
    27: 6_000,  # WriteTxnMarkers: an append each
    28: 20_000,  # TxnOffsetCommit
    29: 50_000,  # DescribeAcls and other things that are off
    30: 50_000,
    31: 50_000,
    33: 20_000,  # AlterConfigs
    34: 40_000,  # AlterReplicaLogDirs
    35: 60_000,  # DescribeLogDirs
    37: 30_000,  # CreatePartitions
    43: 60_000,  # ElectLeaders
    44: 20_000,  # IncrementalAlterConfigs
    45: 60_000,  # AlterPartitionReassignments
    46: 60_000,  # ListPartitionReassignments
    47: 60_000,  # OffsetDelete
    48: 50_000,  # DescribeClientQuotas
    50: 40_000,  # DescribeUserScramCredentials
    51: 30_000,  # AlterUserScramCredentials
    66: 30_000,  # ListTransactions
    68: 50_000,  # ConsumerGroupHeartbeat
    75: 40_000,  # DescribeTopicPartitions
    88: 50_000,  # StreamsGroupHeartbeat
}

OTHERS_AT_ONCE = 40_000


def elements_max(api_key: int, setting: int) -> int:
    if api_key in CUTS:
        return setting
    return min(setting, AT_ONCE.get(api_key, OTHERS_AT_ONCE))
