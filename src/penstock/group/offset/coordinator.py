"""Requests about offsets, checked against the group they belong to and turned into decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from penstock.group.caller import Caller
from penstock.group.classic.check import commit_error
from penstock.group.classic.group import ClassicGroup
from penstock.group.classic.session import renewed_session
from penstock.group.classic.state import GroupState
from penstock.group.config import GroupConfig
from penstock.group.consumer import classic_member
from penstock.group.consumer import commit as consumer_commit
from penstock.group.consumer.group import ConsumerGroup
from penstock.group.kind import AnyGroup, Groups
from penstock.group.offset.commit import commit, commit_refused, txn_commit, txn_commit_refused
from penstock.group.offset.delete import delete, tombstones_of_topics
from penstock.group.offset.fetch import fetch, fetch_refused
from penstock.group.offset.store import OffsetStore
from penstock.group.record import GroupEntry, TxnMarker
from penstock.group.streams import commit as streams_commit
from penstock.group.streams.group import StreamsGroup
from penstock.machine import Decision, TimerChange
from penstock.model.error import ErrorCode
from penstock.model.id import ZERO_ID, TopicId
from penstock.protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from penstock.protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchResponseGroup,
)
from penstock.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)

CommitDecision = Decision[GroupEntry, OffsetCommitResponse]
TxnCommitDecision = Decision[GroupEntry, TxnOffsetCommitResponse]
FetchDecision = Decision[GroupEntry, OffsetFetchResponseGroup]
DeleteDecision = Decision[GroupEntry, OffsetDeleteResponse]

_NOT_FOUND_SINCE = 9
_SESSION_KEPT_IN = (GroupState.STABLE, GroupState.PREPARING_REBALANCE)
_TOMBSTONES_PER_DECISION = 1_000
_UNKNOWN = (ZERO_ID, -1)
"""TxnOffsetCommit has no topic ids to tell whether an older epoch will do: it will not."""


class OffsetCoordinator:
    __slots__ = ("_config", "_groups", "_store")

    def __init__(self, config: GroupConfig, groups: Groups, store: OffsetStore) -> None:
        self._config = config
        self._groups = groups
        self._store = store

    def decide_commit(
        self, request: OffsetCommitRequest, caller: Caller, now_ms: int
    ) -> CommitDecision:
        """Topics of version 10 must come with the names of their ids filled in."""
        group = self._groups.find(request.group_id)
        error = self._commit_error(group, request, caller.api_version)
        if error is not None:
            return Decision((), commit_refused(request.topics, error))
        records, response = commit(request, self._config, now_ms)
        return Decision(records, response, _kept_session(group, request.member_id, now_ms))

    def decide_txn_commit(self, request: TxnOffsetCommitRequest, now_ms: int) -> TxnCommitDecision:
        """The records carry the producer, and count at its commit marker."""
        error = self._txn_commit_error(request)
        if error is not None:
            return Decision((), txn_commit_refused(request.topics, error))
        records, response = txn_commit(request, self._config, now_ms)
        return Decision(records, response)

    def decide_end_txn(
        self,
        producer_id: int,
        producer_epoch: int,
        committed: bool,
        coordinator_epoch: int = 0,
    ) -> Decision[GroupEntry, None]:
        """What WriteTxnMarkers asks: the transaction's offsets count from here on, or never did."""
        marker = TxnMarker(producer_id, producer_epoch, committed, coordinator_epoch)
        return Decision((marker,), None)

    def decide_fetch(self, request: OffsetFetchRequestGroup, require_stable: bool) -> FetchDecision:
        group = self._groups.find(request.group_id)
        refused = None
        if isinstance(group, ConsumerGroup):
            refused = consumer_commit.fetch_error(group, request.member_id, request.member_epoch)
        elif isinstance(group, StreamsGroup):
            refused = streams_commit.fetch_error(group, request.member_id, request.member_epoch)
        if refused is not None:
            return Decision((), fetch_refused(request.group_id, refused))
        return Decision((), fetch(self._store, request, require_stable))

    def decide_delete(self, request: OffsetDeleteRequest) -> DeleteDecision:
        if not request.group_id:
            return Decision((), OffsetDeleteResponse(error_code=ErrorCode.INVALID_GROUP_ID))
        group = self._groups.find(request.group_id)
        if group is None:
            return Decision((), OffsetDeleteResponse(error_code=ErrorCode.GROUP_ID_NOT_FOUND))
        if not group.is_empty and not group.uses_consumer_protocol:
            return Decision((), OffsetDeleteResponse(error_code=ErrorCode.NON_EMPTY_GROUP))
        records, response = delete(self._store, request, group.is_subscribed)
        return Decision(records, response)

    def decide_topics_deleted(self, topics: Mapping[str, TopicId]) -> Decision[GroupEntry, bool]:
        """Replies whether more is left: ask again until it is not, so that no decision outgrows
        a batch."""
        found = tombstones_of_topics(self._store, topics)
        records = list(islice(found, _TOMBSTONES_PER_DECISION))
        return Decision(records, len(records) == _TOMBSTONES_PER_DECISION)

    def _commit_error(
        self, group: AnyGroup | None, request: OffsetCommitRequest, version: int
    ) -> ErrorCode | None:
        generation = request.generation_id_or_member_epoch
        if isinstance(group, ClassicGroup):
            return commit_error(
                group, request.member_id, request.group_instance_id, generation, False
            )
        if isinstance(group, ConsumerGroup):
            return consumer_commit.commit_error(
                group,
                request.member_id,
                request.group_instance_id,
                generation,
                _partitions(request),
                version,
            )
        if isinstance(group, StreamsGroup):
            return streams_commit.commit_error(
                group,
                request.member_id,
                request.group_instance_id,
                generation,
                _named_partitions(request),
                version,
            )
        if request.group_id in self._groups.share:
            return ErrorCode.GROUP_ID_NOT_FOUND
        if generation < 0:
            return None
        if version >= _NOT_FOUND_SINCE:
            return ErrorCode.GROUP_ID_NOT_FOUND
        return ErrorCode.ILLEGAL_GENERATION

    def _txn_commit_error(self, request: TxnOffsetCommitRequest) -> ErrorCode | None:
        if not request.group_id:
            return ErrorCode.INVALID_GROUP_ID
        group = self._groups.find(request.group_id)
        generation = request.generation_id
        if request.group_id in self._groups.share:
            return ErrorCode.GROUP_ID_NOT_FOUND
        if group is None:
            return ErrorCode.ILLEGAL_GENERATION if generation >= 0 else None
        if isinstance(group, ConsumerGroup):
            error = consumer_commit.commit_error(
                group, request.member_id, request.group_instance_id, generation, (_UNKNOWN,), None
            )
            return _for_producer(error)
        if isinstance(group, StreamsGroup):
            error = streams_commit.commit_error(
                group,
                request.member_id,
                request.group_instance_id,
                generation,
                _named_partitions(request),
                None,
            )
            return _for_producer(error)
        return commit_error(group, request.member_id, request.group_instance_id, generation, True)


def _for_producer(error: ErrorCode | None) -> ErrorCode | None:
    """Producers know generations only."""
    return ErrorCode.ILLEGAL_GENERATION if error is ErrorCode.STALE_MEMBER_EPOCH else error


def _named_partitions(
    request: OffsetCommitRequest | TxnOffsetCommitRequest,
) -> Iterator[tuple[str, int]]:
    for topic in request.topics:
        for one in topic.partitions:
            yield topic.name, one.partition_index


def _partitions(request: OffsetCommitRequest) -> Iterator[tuple[TopicId, int]]:
    for topic in request.topics:
        for one in topic.partitions:
            yield topic.topic_id, one.partition_index


def _kept_session(group: AnyGroup | None, member_id: str, now_ms: int) -> tuple[TimerChange, ...]:
    """A commit is a sign of life."""
    if isinstance(group, ConsumerGroup):
        return classic_member.renewed_session(group, member_id, now_ms)
    if not isinstance(group, ClassicGroup) or group.state not in _SESSION_KEPT_IN:
        return ()
    return (renewed_session(group, member_id, now_ms),)
