"""A fetch looks at the partitions that it names or that have news, and at no others.

What rests counts all the same: for the in-sync set, for fences, for what its client has to hear.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.handlers import fetch
from penstock.model.error import ErrorCode
from penstock.protocol.messages.fetch import FetchResponse
from penstock.storage.trim import delete_records_before
from tests.unit.handlers.fetch_kit import EPOCH, Client, Desk
from tests.unit.replication.replica_kit import LAG_MAX_MS, image


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def followers(desk: Desk) -> list[Client]:
    """Both at the end of every log."""
    both = [Client(desk, 2), Client(desk, 3)]
    for _ in range(3):
        for one in both:
            one.fetch()
    return both


@pytest.mark.parametrize("broker_id", [-1, 2])
def test_what_is_idle_rests(desk: Desk, broker_id: int) -> None:
    followers(desk)
    client = Client(desk, broker_id)
    assert set(client.fetch()) == {0, 1, 2}  # the first names all
    assert client.fetch() == {}
    assert client.stirred == []
    assert client.fetch() == {}


def test_an_append_is_given_to_the_follower_that_waits(desk: Desk) -> None:
    one, _ = followers(desk)
    waiting = one.wait()
    desk.append(1)
    assert waiting.response is None  # the producer's answer goes out first
    desk.loop.run()
    assert waiting.response is not None
    assert list(one.take(waiting.response)) == [1]
    assert one.stirred == [1]


def test_an_append_between_two_fetches_is_found_by_the_next(desk: Desk) -> None:
    one, _ = followers(desk)
    desk.append(2)
    assert one.stirred == [2]
    assert list(one.fetch()) == [2]


def test_news_of_another_partition_come_with_the_answer(desk: Desk) -> None:
    one, other = followers(desk)
    desk.append(0)
    one.fetch()
    one.offsets[0] = 1
    waiting = one.wait(0)
    other.fetch()
    other.offsets[0] = 1
    other.fetch(0)  # now all have it
    desk.loop.run()
    assert waiting.response is None  # a watermark alone is not worth an answer
    desk.append(1)
    desk.loop.run()
    assert waiting.response is not None
    told = one.take(waiting.response)
    assert told[0].high_watermark == 1
    assert not told[0].records
    assert told[1].records


def test_a_consumer_waits_for_the_commit(desk: Desk) -> None:
    one, other = followers(desk)
    consumer = Client(desk)
    consumer.settle()
    waiting = consumer.wait()
    desk.append(0)
    for follower in (one, other):
        desk.loop.run()
        assert waiting.response is None
        follower.offsets[0] = 1
        follower.fetch(0)
    desk.loop.run()
    assert waiting.response is not None
    assert consumer.take(waiting.response)[0].high_watermark == 1


def test_a_wait_goes_on_until_there_is_enough(desk: Desk) -> None:
    one, _ = followers(desk)
    one.min_bytes = 100  # more than one batch, and not more than two
    waiting = one.wait()
    for index in (0, 0):
        assert waiting.response is None
        desk.append(index)
        desk.loop.run()
    assert waiting.response is not None
    assert list(one.take(waiting.response)) == [0]


def test_a_wait_that_ends_is_woken_no_more(desk: Desk) -> None:
    one, _ = followers(desk)
    waiting = one.wait()
    desk.loop.time_out()
    assert waiting.response is not None
    assert one.take(waiting.response) == {}
    desk.append(0)
    desk.loop.run()
    assert list(one.fetch()) == [0]


@pytest.mark.parametrize("fetches", [True, False])
def test_a_follower_is_caught_up_where_it_rests_as_long_as_it_fetches(
    desk: Desk, fetches: bool
) -> None:
    one, other = followers(desk)
    for _ in range(10):
        desk.clock.ms += LAG_MAX_MS // 2
        one.fetch()
        if fetches:
            other.fetch()
    desk.append(0)
    desk.partitions[0].shrink_isr()
    left_out = [(index, change.replica_ids) for index, change in desk.asked_isr]
    assert left_out == ([] if fetches else [(0, (1, 2))])
    # Where nothing came, who has everything is in sync, however long ago it said so.
    desk.partitions[1].shrink_isr()
    assert len(desk.asked_isr) == len(left_out)


def test_the_time_of_the_last_idle_fetch_is_what_counts(desk: Desk) -> None:
    """It has what there was at its fetch before, and has been caught up then, not longer."""
    one, other = followers(desk)
    desk.clock.ms += 10 * LAG_MAX_MS
    one.fetch()
    other.fetch()
    desk.append(0)
    desk.clock.ms += 1000
    one.fetch()  # and does not get further
    other.offsets[0] = 1
    other.fetch(0)
    desk.clock.ms += LAG_MAX_MS - 1000
    desk.partitions[0].shrink_isr()
    assert desk.asked_isr == []
    desk.clock.ms += 1
    desk.partitions[0].shrink_isr()
    assert [change.replica_ids for _, change in desk.asked_isr] == [(1, 3)]


def test_a_follower_that_forgets_a_partition_was_caught_up_until_then(desk: Desk) -> None:
    one, other = followers(desk)
    desk.clock.ms += 10 * LAG_MAX_MS
    one.fetch()
    other.fetch()
    one.fetch(forget=(0,))
    desk.append(0)
    assert 0 not in one.fetch()
    desk.partitions[0].shrink_isr()
    assert desk.asked_isr == []
    desk.clock.ms += LAG_MAX_MS + 1
    one.fetch()
    other.offsets[0] = 1
    other.fetch(0)
    desk.partitions[0].shrink_isr()
    assert [(index, change.replica_ids) for index, change in desk.asked_isr] == [(0, (1, 3))]


def test_who_is_out_of_sync_is_looked_at_until_it_is_taken_in(desk: Desk) -> None:
    one, _ = followers(desk)
    desk.world.brokers[2].fenced = True
    without = image(leader=1, epoch=EPOCH, isr=(1, 3))
    without.partition_epoch += 10
    desk.partitions[0].lead(without, min_isr=1)
    assert one.stirred == [0]
    one.fetch()
    assert desk.asked_isr == []
    assert one.stirred == [0]
    desk.world.brokers[2].fenced = False
    one.fetch()
    assert [change.replica_ids for _, change in desk.asked_isr] == [(1, 3, 2)]


def test_a_watermark_that_lags_is_looked_at_by_every_fetch(desk: Desk) -> None:
    one, _ = followers(desk)
    desk.append(0)
    one.offsets[0] = 1
    one.fetch(0)
    assert one.stirred == [0]
    one.fetch()
    assert one.stirred == [0]


def test_another_leader_epoch_is_told_where_the_client_rests(desk: Desk) -> None:
    one, _ = followers(desk)
    waiting = one.wait()
    desk.partitions[2].lead(image(leader=1, epoch=EPOCH + 1), min_isr=1)
    desk.loop.run()
    assert waiting.response is not None
    told = one.take(waiting.response)
    assert {index: data.error_code for index, data in told.items()} == {
        2: ErrorCode.FENCED_LEADER_EPOCH
    }
    # And again, as long as nothing else is asked for.
    assert one.fetch()[2].error_code == ErrorCode.FENCED_LEADER_EPOCH


def test_a_partition_that_is_gone_is_told_where_the_client_rests(desk: Desk) -> None:
    consumer = Client(desk)
    followers(desk)
    consumer.settle()
    desk.partitions[1].end()
    assert consumer.fetch()[1].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_log_that_begins_later_is_told_where_the_client_rests(desk: Desk) -> None:
    one, other = followers(desk)
    desk.append(0, 4)
    for follower in (one, other):
        follower.offsets[0] = 4
        follower.fetch(0)
        follower.settle()
    one.settle()
    assert one.stirred == []
    delete_records_before(desk.partitions[0].log, 3)
    assert one.fetch()[0].log_start_offset == 3


def test_a_broker_of_an_earlier_life_is_refused_where_it_rests(desk: Desk) -> None:
    one, _ = followers(desk)
    desk.world.brokers[2].epoch = 201
    told = one.fetch()
    assert {data.error_code for data in told.values()} == {ErrorCode.NOT_LEADER_OR_FOLLOWER}
    assert set(told) == {0, 1, 2}


def test_a_broker_that_registers_anew_is_known_by_its_new_epoch_everywhere(desk: Desk) -> None:
    one, _ = followers(desk)
    desk.world.brokers[2].epoch = one.broker_epoch = 201
    one.fetch()
    for partition in desk.partitions:
        assert partition.leader is not None
        progress = partition.leader.progress(2)
        assert progress is not None
        assert progress.broker_epoch == 201


def test_partitions_take_turns_where_an_answer_is_full(desk: Desk) -> None:
    one, _ = followers(desk)
    one.max_bytes = 1  # one batch of one partition
    for index in range(3):
        desk.append(index)
        desk.append(index)
    given: list[int] = []
    for _ in range(6):
        ((index, data),) = one.fetch(*given[-1:]).items()
        assert data.records
        given.append(index)
        one.offsets[index] += 1
    assert given == [0, 1, 2, 0, 1, 2]


def test_logs_are_opened_a_few_at_a_time(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "OPENED_MAX", 1)
    one = Client(desk, 2)
    every, one.offsets = one.offsets, {0: 0}
    one.fetch()
    one.offsets = every

    def opened() -> list[bool]:
        return [partition.is_open for partition in desk.partitions]

    assert opened() == [True, False, False]
    one.wait_ms = 500
    assert list(one.fetch(1, 2)) == [1]
    assert opened() == [True, True, False]
    one.wait_ms = 0
    assert list(one.fetch()) == [2]
    assert opened() == [True, True, True]
    one.settle()
    for partition in desk.partitions:
        assert partition.leader is not None
        progress = partition.leader.progress(2)
        assert progress is not None
        assert progress.end_offset == 0


def test_a_session_that_ends_hears_nothing_more(desk: Desk) -> None:
    one, _ = followers(desk)
    session = one.session
    one.epoch = 0
    one.fetch()
    assert one.session is not session
    desk.append(0)
    assert all(target.watched is None for target in session.targets.values())


def test_a_fetch_without_a_session_leaves_nobody_behind(desk: Desk) -> None:
    followers(desk)
    client = Client(desk)
    desk.sessions._slots_max = 0
    waiting = client.wait()
    desk.loop.time_out()
    assert isinstance(waiting.response, FetchResponse)
    assert waiting.response.session_id == 0
    assert not any(partition._watchers for partition in desk.partitions)
