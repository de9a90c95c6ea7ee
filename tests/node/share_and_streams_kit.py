"""Requests of share groups, streams groups and the quorum, one of each API."""

from __future__ import annotations

from penstock.protocol.entity import Entity
from penstock.protocol.messages import (
    add_raft_voter,
    alter_share_group_offsets,
    delete_share_group_offsets,
    delete_share_group_state,
    describe_share_group_offsets,
    initialize_share_group_state,
    read_share_group_state,
    read_share_group_state_summary,
    remove_raft_voter,
    share_acknowledge,
    share_fetch,
    share_group_describe,
    share_group_heartbeat,
    streams_group_describe,
    streams_group_heartbeat,
    write_share_group_state,
)

TOPIC_ID = bytes(range(16))


def share_requests() -> dict[int, Entity]:
    return {
        76: share_group_heartbeat.ShareGroupHeartbeatRequest(group_id="g", member_id="m"),
        77: share_group_describe.ShareGroupDescribeRequest(group_ids=["g", "h"]),
        78: share_fetch.ShareFetchRequest(group_id="g", member_id="m"),
        79: share_acknowledge.ShareAcknowledgeRequest(group_id="g", member_id="m"),
        90: describe_share_group_offsets.DescribeShareGroupOffsetsRequest(
            groups=[
                describe_share_group_offsets.DescribeShareGroupOffsetsRequestGroup(
                    group_id="g", topics=None
                )
            ]
        ),
        91: alter_share_group_offsets.AlterShareGroupOffsetsRequest(group_id="g"),
        92: delete_share_group_offsets.DeleteShareGroupOffsetsRequest(group_id="g"),
    }


def share_state_requests() -> dict[int, Entity]:
    initialize, read = initialize_share_group_state, read_share_group_state
    write, summary = write_share_group_state, read_share_group_state_summary
    delete = delete_share_group_state
    return {
        83: initialize.InitializeShareGroupStateRequest(
            group_id="g",
            topics=[
                initialize.InitializeStateData(
                    topic_id=TOPIC_ID, partitions=[initialize.PartitionData(partition=3)]
                )
            ],
        ),
        84: read.ReadShareGroupStateRequest(
            group_id="g",
            topics=[
                read.ReadStateData(topic_id=TOPIC_ID, partitions=[read.PartitionData(partition=3)])
            ],
        ),
        85: write.WriteShareGroupStateRequest(
            group_id="g",
            topics=[
                write.WriteStateData(
                    topic_id=TOPIC_ID, partitions=[write.PartitionData(partition=3)]
                )
            ],
        ),
        86: delete.DeleteShareGroupStateRequest(
            group_id="g",
            topics=[
                delete.DeleteStateData(
                    topic_id=TOPIC_ID, partitions=[delete.PartitionData(partition=3)]
                )
            ],
        ),
        87: summary.ReadShareGroupStateSummaryRequest(
            group_id="g",
            topics=[
                summary.ReadStateSummaryData(
                    topic_id=TOPIC_ID, partitions=[summary.PartitionData(partition=3)]
                )
            ],
        ),
    }


def streams_requests() -> dict[int, Entity]:
    return {
        88: streams_group_heartbeat.StreamsGroupHeartbeatRequest(group_id="g", member_id="m"),
        89: streams_group_describe.StreamsGroupDescribeRequest(group_ids=["g", "h"]),
    }


def voter_requests(cluster_id: str | None = None) -> dict[int, Entity]:
    return {
        80: add_raft_voter.AddRaftVoterRequest(cluster_id=cluster_id, voter_id=5),
        81: remove_raft_voter.RemoveRaftVoterRequest(cluster_id=cluster_id, voter_id=5),
    }
