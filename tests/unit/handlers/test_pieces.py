"""Requests over many elements are cut so that their answers are those to the whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.handlers.pieces import CUTS, LONG_ANSWERS, WHOLE_TOPIC_MAX, Cut, cut_of, pieces
from penstock.handlers.table import BROKER_MODULES
from penstock.protocol.frame import API_BY_KEY, PiecesEncoder
from penstock.protocol.messages.delete_groups import DeleteGroupsRequest
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic

SMALL = Cut("topics", "topics", "partitions", size=5)


@pytest.mark.parametrize("api_key", CUTS)
def test_every_cut_names_arrays_that_are_there(api_key: int) -> None:
    assert api_key in BROKER_MODULES
    spec, cut = API_BY_KEY[api_key], CUTS[api_key]
    (array,) = [one for one in spec.request_class().SCHEMA if one.name == cut.request]
    assert array.array
    if cut.inner is not None:
        (inner,) = [one for one in array.type.SCHEMA if one.name == cut.inner]
        assert inner.array
    for version in range(max(cut.since, spec.min_version), spec.max_version + 1):
        assert array.in_version(version) and not array.tagged_in(version)
        PiecesEncoder(spec, version, cut.response)
    assert cut_of(api_key, cut.since - 1) is None


@pytest.mark.parametrize("api_key", LONG_ANSWERS)
def test_every_long_answer_has_its_array(api_key: int) -> None:
    spec = API_BY_KEY[api_key]
    for version in range(spec.min_version, spec.max_version + 1):
        PiecesEncoder(spec, version, LONG_ANSWERS[api_key])


def asked(counts: list[int]) -> ListOffsetsRequest:
    return ListOffsetsRequest(
        isolation_level=1,
        topics=[
            ListOffsetsTopic(
                name=f"t{n}",
                partitions=[ListOffsetsPartition(partition_index=i) for i in range(count)],
            )
            for n, count in enumerate(counts)
        ],
    )


@given(st.lists(st.integers(0, 17), max_size=12))
def test_nothing_is_lost_and_no_topic_is_split(counts: list[int]) -> None:
    cut = list(pieces(asked(counts), SMALL))
    assert cut and all(piece.isolation_level == 1 for piece in cut)
    assert [
        (topic.name, one.partition_index)
        for piece in cut
        for topic in piece.topics
        for one in topic.partitions
    ] == [(f"t{n}", i) for n, count in enumerate(counts) for i in range(count)]
    names = [topic.name for piece in cut for topic in piece.topics]
    assert names == [f"t{n}" for n in range(len(counts))]
    for piece in cut:
        before_last = piece.topics[:-1]
        assert sum(max(1, len(topic.partitions)) for topic in before_last) < SMALL.size


def test_a_topic_beyond_all_measure_is_split() -> None:
    cut = list(pieces(asked([WHOLE_TOPIC_MAX, 2 * WHOLE_TOPIC_MAX + 1]), SMALL))
    shown = [(topic.name, len(topic.partitions)) for piece in cut for topic in piece.topics]
    most = WHOLE_TOPIC_MAX
    assert shown == [("t0", most), ("t1", most), ("t1", most), ("t1", 1)]


def test_the_next_piece_is_as_large_as_is_said_then() -> None:
    sizes = iter([1, 2, 4, 3])
    request = DeleteGroupsRequest(groups_names=[f"n{n}" for n in range(10)])
    cut = pieces(request, CUTS[42], lambda most: next(sizes))
    assert [len(piece.groups_names) for piece in cut] == [1, 2, 4, 3]


def test_what_is_answered_once_is_asked_once() -> None:
    names = [f"n{n % 300}" for n in range(1000)]
    groups = DeleteGroupsRequest(groups_names=names)
    cut = [name for piece in pieces(groups, CUTS[42]) for name in piece.groups_names]
    assert cut == names[:300]
    topics = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names])
    asked = [topic.name for piece in pieces(topics, CUTS[3]) for topic in piece.topics or ()]
    assert asked == names[:300]


def test_all_topics_are_not_cut() -> None:
    request = MetadataRequest(topics=None)
    assert list(pieces(request, CUTS[3])) == [request]
