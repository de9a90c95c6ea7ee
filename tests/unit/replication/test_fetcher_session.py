"""What a fetch names of what is wanted: changes alone, and no more than fit."""

from __future__ import annotations

import pytest

from penstock.replication import fetcher_session
from penstock.replication.fetcher_session import FetcherSession, Key
from penstock.replication.follower import FetchFrom

TOPIC_ID = bytes(15) + b"\x07"
SESSION_ID = 9


def key(index: int) -> Key:
    return TOPIC_ID, index


def at(offset: int) -> FetchFrom:
    return FetchFrom(offset, 1, 1, 0)


def wanting(*indexes: int) -> FetcherSession:
    session = FetcherSession(1 << 20)
    for index in indexes:
        session.want(key(index), at(0))
    return session


def tell(session: FetcherSession) -> tuple[list[int], list[int]]:
    """Partitions named, and partitions forgotten."""
    topics, forgotten = session.tell()
    return (
        [one.partition for topic in topics for one in topic.partitions],
        [index for topic in forgotten for index in topic.partitions],
    )


def test_what_the_leader_knows_is_not_named_again() -> None:
    session = wanting(0, 1, 2)
    assert tell(session) == ([0, 1, 2], [])
    session.on_answer(SESSION_ID)
    assert tell(session) == ([], [])
    session.want(key(1), at(5))
    session.want(key(2), at(0))  # as before
    assert tell(session) == ([1], [])


def test_what_is_not_wanted_any_more_is_forgotten_once() -> None:
    session = wanting(0, 1)
    tell(session)
    session.on_answer(SESSION_ID)
    session.want(key(0), None)
    session.want(key(7), None)  # which it has never heard of
    assert tell(session) == ([], [0])
    assert tell(session) == ([], [])
    session.want(key(0), at(0))
    assert tell(session) == ([0], [])


def test_after_an_error_everything_wanted_is_told_again() -> None:
    session = wanting(0, 1)
    tell(session)
    session.on_answer(SESSION_ID)
    session.want(key(0), None)
    session.reset()
    assert (session.id, session.epoch) == (0, 0)
    assert tell(session) == ([1], [])


def test_many_partitions_are_named_over_several_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetcher_session, "NAMED_FIRST_MAX", 1)
    monkeypatch.setattr(fetcher_session, "NAMED_MAX", 2)
    session = wanting(0, 1, 2, 3, 4)
    for named in ([0], [1, 2], [3, 4]):
        assert tell(session) == (named, [])
        assert session.has_more == (named != [3, 4])
        session.on_answer(SESSION_ID)
    assert tell(session) == ([], [])


def test_a_leader_without_sessions_is_told_of_all_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetcher_session, "NAMED_FIRST_MAX", 2)
    session = wanting(0, 1, 2)
    named: list[int] = []
    for _ in range(3):
        named += tell(session)[0]
        session.on_answer(0)
    assert set(named) == {0, 1, 2}
