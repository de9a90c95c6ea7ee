"""Fetch and FetchSnapshot of the metadata partition between Kafka's messages and raft's values.

The bytes of records and snapshots travel beside the values.
"""

from __future__ import annotations

from penstock.model.error import ProtocolError
from penstock.protocol.messages import fetch
from penstock.protocol.messages import fetch_snapshot as snapshot
from penstock.quorum.wire_part import (
    NOBODY,
    TOPIC,
    TOPIC_ID,
    check_partition,
    error_of,
    leader_of,
    node_of,
    number,
    one_of,
    raise_for,
)
from penstock.raft import EpochEnd, ReplicaKey, SnapshotId
from penstock.raft.message import (
    CurrentLeader,
    Fetch,
    FetchAnswer,
    FetchSnapshot,
    FetchSnapshotAnswer,
)
from penstock.records.header import Buffer

# --- Fetch ---


def encode_fetch(value: Fetch, cluster_id: str, bytes_max: int) -> fetch.FetchRequest:
    """MinBytes is 0 as Kafka's is: the leader waits all the same."""
    partition = fetch.FetchPartition(
        current_leader_epoch=value.epoch,
        fetch_offset=value.offset,
        last_fetched_epoch=value.last_epoch,
        replica_directory_id=value.replica.directory_id,
        high_watermark=value.high_watermark,
    )
    return fetch.FetchRequest(
        cluster_id=cluster_id,
        replica_state=fetch.ReplicaState(replica_id=value.replica.id),
        max_wait_ms=value.max_wait_ms,
        max_bytes=bytes_max,
        topics=[fetch.FetchTopic(topic=TOPIC, topic_id=TOPIC_ID, partitions=[partition])],
    )


def decode_fetch(request: fetch.FetchRequest) -> Fetch:
    topic = one_of(request.topics)
    part = one_of(topic.partitions)
    check_partition(topic.topic or topic.topic_id, part.partition)
    state = request.replica_state
    return Fetch(
        part.current_leader_epoch,
        ReplicaKey(
            request.replica_id if state is None else state.replica_id, part.replica_directory_id
        ),
        part.fetch_offset,
        part.last_fetched_epoch,
        part.high_watermark,
        request.max_wait_ms,
    )


def encode_fetch_answer(answer: FetchAnswer, records: Buffer, listener: str) -> fetch.FetchResponse:
    partition = fetch.PartitionData(
        error_code=answer.error,
        high_watermark=answer.high_watermark,
        log_start_offset=answer.log_start_offset,
        current_leader=fetch.LeaderIdAndEpoch(
            leader_id=number(answer.leader.leader_id), leader_epoch=answer.leader.epoch
        ),
        aborted_transactions=None,
        records=records,
    )
    if answer.diverging is not None:
        partition.diverging_epoch = fetch.EpochEndOffset(
            epoch=answer.diverging.epoch, end_offset=answer.diverging.end_offset
        )
    if answer.snapshot is not None:
        partition.snapshot_id = fetch.SnapshotId(
            end_offset=answer.snapshot.end_offset, epoch=answer.snapshot.epoch
        )
    topic = fetch.FetchableTopicResponse(topic=TOPIC, topic_id=TOPIC_ID, partitions=[partition])
    return fetch.FetchResponse(
        responses=[topic], node_endpoints=node_of(fetch.NodeEndpoint, answer.leader, listener)
    )


def decode_fetch_answer(
    response: fetch.FetchResponse, asked: Fetch, listener: str
) -> tuple[FetchAnswer, Buffer]:
    raise_for(response.error_code)
    part = one_of(one_of(response.responses).partitions)
    records = _bytes(part.records)
    leader = CurrentLeader(None, NOBODY)
    if part.current_leader is not None:
        known = part.current_leader
        leader = leader_of(known.leader_id, known.leader_epoch, response.node_endpoints, listener)
    diverging, parted = None, part.diverging_epoch
    if parted is not None and parted.epoch >= 0:
        diverging = EpochEnd(parted.epoch, parted.end_offset)
    answer = FetchAnswer(
        error_of(part.error_code),
        leader,
        part.high_watermark,
        part.log_start_offset,
        diverging,
        _snapshot_id(part.snapshot_id),
        asked.offset,
        asked.offset + bool(records),
    )
    return answer, records


def _snapshot_id(named: fetch.SnapshotId | None) -> SnapshotId | None:
    if named is None or named.end_offset < 0 or named.epoch < 0:
        return None
    return SnapshotId(named.end_offset, named.epoch)


def _bytes(records: object) -> Buffer:
    if records is None:
        return b""
    if not isinstance(records, bytes | bytearray | memoryview):
        raise ProtocolError("records that are no bytes")
    return records


# --- FetchSnapshot ---


def encode_fetch_snapshot(
    value: FetchSnapshot, cluster_id: str, bytes_max: int
) -> snapshot.FetchSnapshotRequest:
    partition = snapshot.RequestPartitionSnapshot(
        current_leader_epoch=value.epoch,
        snapshot_id=snapshot.RequestSnapshotId(
            end_offset=value.snapshot.end_offset, epoch=value.snapshot.epoch
        ),
        position=value.position,
        replica_directory_id=value.replica.directory_id,
    )
    return snapshot.FetchSnapshotRequest(
        cluster_id=cluster_id,
        replica_id=value.replica.id,
        max_bytes=bytes_max,
        topics=[snapshot.RequestTopicSnapshot(name=TOPIC, partitions=[partition])],
    )


def decode_fetch_snapshot(request: snapshot.FetchSnapshotRequest) -> FetchSnapshot:
    topic = one_of(request.topics)
    part = one_of(topic.partitions)
    check_partition(topic.name, part.partition)
    return FetchSnapshot(
        part.current_leader_epoch,
        ReplicaKey(request.replica_id, part.replica_directory_id),
        SnapshotId(part.snapshot_id.end_offset, part.snapshot_id.epoch),
        part.position,
    )


def encode_fetch_snapshot_answer(
    answer: FetchSnapshotAnswer, data: Buffer, listener: str
) -> snapshot.FetchSnapshotResponse:
    partition = snapshot.ResponsePartitionSnapshot(
        error_code=answer.error,
        snapshot_id=snapshot.ResponseSnapshotId(
            end_offset=answer.snapshot.end_offset, epoch=answer.snapshot.epoch
        ),
        current_leader=snapshot.LeaderIdAndEpoch(
            leader_id=number(answer.leader.leader_id), leader_epoch=answer.leader.epoch
        ),
        size=answer.size,
        position=answer.position,
        unaligned_records=data,
    )
    return snapshot.FetchSnapshotResponse(
        topics=[snapshot.ResponseTopicSnapshot(name=TOPIC, partitions=[partition])],
        node_endpoints=node_of(snapshot.NodeEndpoint, answer.leader, listener),
    )


def decode_fetch_snapshot_answer(
    response: snapshot.FetchSnapshotResponse, listener: str
) -> tuple[FetchSnapshotAnswer, Buffer]:
    raise_for(response.error_code)
    part = one_of(one_of(response.topics).partitions)
    data = _bytes(part.unaligned_records)
    leader = CurrentLeader(None, NOBODY)
    if part.current_leader is not None:
        known = part.current_leader
        leader = leader_of(known.leader_id, known.leader_epoch, response.node_endpoints, listener)
    answer = FetchSnapshotAnswer(
        error_of(part.error_code),
        leader,
        SnapshotId(part.snapshot_id.end_offset, part.snapshot_id.epoch),
        part.position,
        part.size,
        len(data),
    )
    return answer, data
