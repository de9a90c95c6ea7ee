"""What an incremental fetch session remembers of what it told."""

from __future__ import annotations

import pytest

from penstock.handlers.fetch_session import FetchTarget
from penstock.handlers.fetch_sessions import FetchSessions
from penstock.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic

TOPIC_ID = bytes(15) + b"\x07"


def asked(offset: int, leader_epoch: int, last_epoch: int) -> FetchTopic:
    one = FetchPartition(
        partition=0,
        fetch_offset=offset,
        current_leader_epoch=leader_epoch,
        last_fetched_epoch=last_epoch,
    )
    return FetchTopic(topic_id=TOPIC_ID, partitions=[one])


def told_after(second: FetchTopic) -> FetchTarget:
    """Asked at offset 44 in leader epoch 3, told a watermark of 43, and asked again."""
    sessions = FetchSessions(10)
    first = FetchRequest(session_epoch=0, topics=[asked(44, 3, 2)])
    session = sessions.begin(first, 17, 0.0).session
    next(iter(session.stirred)).told_high_watermark = 43
    again = FetchRequest(session_id=session.id, session_epoch=1, topics=[second])
    (target,) = sessions.begin(again, 17, 1.0).session.stirred
    return target


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(asked(43, 3, 2), id="cut its log"),
        pytest.param(asked(44, 3, 0), id="cut an epoch without records"),
        pytest.param(asked(44, 4, 2), id="hears of another epoch"),
    ],
)
def test_a_follower_that_begins_anew_is_told_the_watermark_again(second: FetchTopic) -> None:
    assert told_after(second).told_high_watermark == -1


def test_a_follower_that_goes_on_is_told_only_what_changes() -> None:
    assert told_after(asked(45, 3, 3)).told_high_watermark == 43
