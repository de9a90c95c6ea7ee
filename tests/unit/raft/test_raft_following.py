"""How a follower fetches, turns back, loads a snapshot, and finds its leader."""

from __future__ import annotations

from penstock.model.error import ErrorCode
from penstock.raft import ControlEntry, ElectionState, EpochEnd, Node, SnapshotId
from penstock.raft.message import Fetch, FetchAnswer, FetchSnapshot, FetchSnapshotAnswer, Vote
from tests.simulation.raft_disk import Record, Snapshot
from tests.unit.raft.raft_kit import Bench, endpoints, key, leader, log_of, voter_set


def following(*epochs: int, epoch: int = 4, **options: object) -> Bench:
    bench = Bench(log_of(*epochs), **options)  # type: ignore[arg-type]
    bench.follow(2, epoch)
    return bench


def diverging(epoch: int, end_offset: int, high_watermark: int = -1) -> FetchAnswer:
    end = EpochEnd(epoch, end_offset)
    return FetchAnswer(ErrorCode.NONE, leader(2, 4), high_watermark, diverging=end)


def test_records_are_appended_and_asked_for_again() -> None:
    bench = following(1, 1)
    assert "to 2: fetch 4 at 1/2" in bench.lines
    lines = bench.fetched(-1, Record(4, "a"), Record(4, "b"))
    assert lines == ["append ['a', 'b']", "to 2: fetch 4 at 4/4"]


def test_the_next_fetch_waits_for_the_disk() -> None:
    """Its offset says what this voter holds for good."""
    bench = following(1, 1, syncs=False)
    assert bench.fetched(-1, Record(4, "a")) == ["append ['a']"]
    assert bench.wait(1000) == []
    assert bench.sync() == ["to 2: fetch 4 at 4/3"]


def test_the_high_watermark_is_the_leaders_as_far_as_the_log_goes() -> None:
    bench = following(1, 1)
    bench.fetched(9, Record(4, "a"))
    assert bench.machine.high_watermark == 3
    bench.fetched(2)
    assert bench.machine.high_watermark == 3
    bench.fetched(9, Record(4, "b"))
    assert bench.high_watermarks == [3, 4]


def test_a_restarted_follower_keeps_what_is_above_its_high_watermark() -> None:
    """KIP-101: it may be committed, and only the leader's epochs can tell."""
    bench = following(1, 1, 1)
    assert not [line for line in bench.lines if line.startswith("truncate")]
    assert "to 2: fetch 4 at 1/3" in bench.lines


def test_turning_back_within_an_epoch_both_have() -> None:
    bench = following(1, 1, 2, 2)
    lines = bench.reply(2, Fetch, diverging(2, 3))
    assert lines == ["truncate 3", "to 2: fetch 4 at 2/3"]


def test_turning_back_to_an_epoch_only_the_leader_has() -> None:
    """KIP-279: to the end of the last epoch before it."""
    bench = following(1, 1, 3, 3)
    lines = bench.reply(2, Fetch, diverging(2, 9))
    assert lines == ["truncate 2", "to 2: fetch 4 at 1/2"]


def test_turning_back_to_nothing() -> None:
    bench = following(3, 3)
    assert bench.reply(2, Fetch, diverging(0, 0)) == ["truncate 0", "to 2: fetch 4 at 0/0"]


def test_voters_of_a_truncated_record_do_not_count_any_more() -> None:
    bench = following(1)
    bench.fetched(-1, Record(4, "voters", voter_set(1, 2)))
    assert bench.machine.voters == voter_set(1, 2)
    answer = FetchAnswer(ErrorCode.NONE, leader(2, 4), diverging=EpochEnd(1, 1))
    bench.reply(2, Fetch, answer)
    assert bench.machine.voters == voter_set(1, 2, 3)


def test_nothing_below_the_high_watermark_is_given_up() -> None:
    """KAFKA-12460."""
    bench = following(1, 1)
    bench.fetched(2)
    assert bench.machine.high_watermark == 2
    assert bench.reply(2, Fetch, diverging(1, 1)) == []
    assert bench.log.end_offset == 2
    assert bench.wait(500) == ["to 2: fetch 4 at 1/2"]


def test_no_high_watermark_from_an_answer_that_diverges() -> None:
    """KAFKA-14704: what is below it on the leader is other here."""
    bench = following(1, 1, 3, 3)
    bench.reply(2, Fetch, diverging(2, 9, high_watermark=4))
    assert bench.machine.high_watermark is None


def test_a_late_answer_of_a_deposed_leader() -> None:
    """KAFKA-18723: held over two elections."""
    bench = following(1, 1)
    late = bench.pending(2, Fetch).request_id
    bench.follow(3, 5)
    bench.follow(2, 6)
    answer = FetchAnswer(ErrorCode.NONE, leader(2, 4), 3, offset=2, end_offset=3)
    bench.replies[late] = (Record(4, "late"),)
    bench.step(lambda machine: machine.receive_answer(late, answer, bench.now_ms))
    assert bench.log.end_offset == 2
    assert bench.machine.high_watermark is None


def test_a_fetch_is_sent_once_at_a_time() -> None:
    bench = following(1, 1)
    assert bench.wait(1999) == []
    assert bench.follow(2, 4) == ["answer ask: NONE"]


def test_an_answer_without_leader_or_epoch_is_not_believed() -> None:
    bench = following(1, 1)
    answer = FetchAnswer(ErrorCode.NONE, leader(None, -1), 3, offset=2, end_offset=3)
    bench.reply(2, Fetch, answer, Record(4, "a"))
    assert bench.log.end_offset == 2


# Finding the leader


def test_an_observer_asks_anybody_and_learns_of_the_leader() -> None:
    """The first fetch, in epoch 0, is fenced: that is how the leader is found."""
    bench = Bench(node_id=9, can_vote=False)
    asked = bench.sent[-1]
    assert asked.request == Fetch(0, key(9), 0, 0, -1, 500)
    answer = FetchAnswer(ErrorCode.FENCED_LEADER_EPOCH, leader(3, 7))
    lines = bench.reply(asked.node.id, Fetch, answer)
    assert lines == ["persist 7 leader 3 voted None", "to 3: fetch 7 at 0/0", "follower 7"]


def test_a_leader_without_address_is_not_followed() -> None:
    bench = Bench(node_id=9, can_vote=False)
    unknown = leader(8, 7)._replace(endpoints=())
    bench.reply(bench.sent[-1].node.id, Fetch, FetchAnswer(ErrorCode.FENCED_LEADER_EPOCH, unknown))
    assert bench.role == "unattached 7"


def test_a_leader_that_cannot_be_reached_is_not_named_to_others() -> None:
    """A Kafka node stops over a leader without an address."""
    bench = Bench(log_of(1))
    unknown = leader(8, 7)._replace(endpoints=())
    bench.reply(bench.sent[-1].node.id, Fetch, FetchAnswer(ErrorCode.FENCED_LEADER_EPOCH, unknown))
    assert bench.machine.view.leader_id == 8
    assert bench.fetch(Fetch(7, key(3), 1, 1)).leader == leader(None, 7)
    assert bench.vote(Vote(7, key(3), 1, 1)) == (ErrorCode.NONE, False)


def test_bootstrap_servers_are_asked_where_no_voter_is_known() -> None:
    server = Node(-2, endpoints(5))
    bench = Bench(node_id=9, voters=(), kraft_version=0, can_vote=False, bootstrap=(server,))
    assert bench.sent[-1].node == server
    fenced = FetchAnswer(ErrorCode.FENCED_LEADER_EPOCH, leader(3, 7))
    assert "to 3: fetch 7 at 0/0" in bench.reply(-2, Fetch, fenced)


def test_when_the_leader_does_not_answer_others_are_asked() -> None:
    bench = following(1, 1)
    bench.fail(2, Fetch)
    assert bench.wait(20) == ["to 3: fetch 4 at 1/2"]
    not_leader = FetchAnswer(ErrorCode.NOT_LEADER_OR_FOLLOWER, leader(2, 4))
    bench.reply(3, Fetch, not_leader)
    assert bench.wait(20) == ["to 2: fetch 4 at 1/2"]


def test_a_leader_known_from_before_the_start_is_followed_once_its_address_is_told() -> None:
    """Who led was written down, and who votes was not read yet when the node ended."""
    server = Node(-2, endpoints(5))
    bench = Bench(
        election=ElectionState(7, 3),
        node_id=9,
        voters=(),
        kraft_version=0,
        can_vote=False,
        bootstrap=(server,),
    )
    assert bench.role == "unattached 7"
    without_address = leader(3, 7)._replace(endpoints=())
    bench.reply(-2, Fetch, FetchAnswer(ErrorCode.NONE, without_address, 1))
    assert bench.wait(20) == ["to -2: fetch 7 at 0/0"]
    answer = FetchAnswer(ErrorCode.NONE, leader(3, 7), 1, offset=0, end_offset=1)
    lines = bench.reply(-2, Fetch, answer, Record(7, "a"))
    assert lines == [
        "append ['a']",
        "follower 7",
        "to 3: fetch 7 at 7/1",
        "high watermark 1",
    ]


def test_an_observer_never_stands() -> None:
    for options in ({"node_id": 9}, {"node_id": 9, "can_vote": False}):
        bench = Bench(log_of(1), **options)  # type: ignore[arg-type]
        bench.wait(20_000)
        bench.follow(2, 4)
        bench.wait(20_000)
        assert bench.role == "follower 4"


def test_a_node_without_a_leader_does_not_spin() -> None:
    """KAFKA-19605: a pause after each answer that helps nothing."""
    bench = Bench(node_id=9, can_vote=False)
    before = len(bench.sent)
    for _ in range(1000):
        answer = FetchAnswer(ErrorCode.NOT_LEADER_OR_FOLLOWER, leader(None, 0))
        if len(bench.sent) > before:
            before = len(bench.sent)
            bench.reply(bench.sent[-1].node.id, Fetch, answer)
        bench.wait(1)
    assert len(bench.sent) <= 51


def test_new_addresses_of_the_same_leader() -> None:
    bench = following(1, 1)
    moved = endpoints(7)
    fenced = FetchAnswer(ErrorCode.NOT_LEADER_OR_FOLLOWER, leader(2, 4)._replace(endpoints=moved))
    bench.reply(2, Fetch, fenced)
    bench.wait(100)
    bench.fail(3, Fetch)
    bench.wait(100)
    assert bench.pending(2, Fetch).node.endpoints == moved


# Snapshots


def chunk(position: int, length: int, size: int = 100) -> FetchSnapshotAnswer:
    snapshot = SnapshotId(50, 3)
    return FetchSnapshotAnswer(ErrorCode.NONE, leader(2, 4), snapshot, position, size, length)


def test_a_snapshot_is_loaded_piece_by_piece_and_takes_the_place_of_the_log() -> None:
    bench = following(1, 1)
    bench.snapshot = Snapshot(100, (ControlEntry(49, voter_set(1, 2), 1),))
    answer = FetchAnswer(ErrorCode.NONE, leader(2, 4), 60, snapshot=SnapshotId(50, 3))
    assert bench.reply(2, Fetch, answer) == ["to 2: fetch snapshot (50, 3) at 0"]
    lines = bench.reply(2, FetchSnapshot, chunk(0, 60))
    assert lines == ["chunk 0", "to 2: fetch snapshot (50, 3) at 60"]
    lines = bench.reply(2, FetchSnapshot, chunk(60, 40))
    assert lines == ["chunk 60 last", "to 2: fetch 4 at 3/50", "high watermark 50"]
    assert bench.machine.voters.ids == (1, 2)


def test_a_snapshot_that_went_away_is_begun_anew() -> None:
    bench = following(1, 1)
    answer = FetchAnswer(ErrorCode.NONE, leader(2, 4), snapshot=SnapshotId(50, 3))
    bench.reply(2, Fetch, answer)
    gone = chunk(0, 0)._replace(error=ErrorCode.SNAPSHOT_NOT_FOUND)
    bench.reply(2, FetchSnapshot, gone)
    assert bench.wait(20) == ["to 2: fetch 4 at 1/2"]


def loading() -> Bench:
    """An observer that has a part of a snapshot: it never stands, so that only others can tell it
    of another leader."""
    bench = following(1, 1, node_id=9, can_vote=False)
    answer = FetchAnswer(ErrorCode.NONE, leader(2, 4), 60, snapshot=SnapshotId(50, 3))
    bench.reply(2, Fetch, answer)
    bench.reply(2, FetchSnapshot, chunk(0, 60))
    bench.fail(2, FetchSnapshot)
    assert bench.wait(20) == ["to 3: fetch 4 at 1/2"]
    return bench


def test_when_the_leader_ends_amid_a_snapshot_others_are_asked() -> None:
    bench = loading()
    fenced = FetchAnswer(ErrorCode.FENCED_LEADER_EPOCH, leader(3, 5))
    lines = bench.reply(3, Fetch, fenced)
    assert lines == ["persist 5 leader 3 voted None", "to 3: fetch 5 at 1/2", "follower 5"]


def test_a_snapshot_goes_on_where_its_leader_was_only_silent_for_a_while() -> None:
    bench = loading()
    bench.reply(3, Fetch, FetchAnswer(ErrorCode.NOT_LEADER_OR_FOLLOWER, leader(2, 4)))
    assert bench.wait(20) == ["to 2: fetch snapshot (50, 3) at 60"]


def test_a_piece_that_was_not_asked_for() -> None:
    bench = following(1, 1)
    answer = FetchAnswer(ErrorCode.NONE, leader(2, 4), snapshot=SnapshotId(50, 3))
    for wrong in (chunk(10, 60), chunk(0, 0), chunk(0, 9)._replace(snapshot=SnapshotId(51, 3))):
        bench.reply(2, Fetch, answer)
        assert bench.reply(2, FetchSnapshot, wrong) == []
        assert bench.wait(20) == ["to 2: fetch 4 at 1/2"]


def test_a_snapshot_below_the_high_watermark_is_refused() -> None:
    bench = following(1, 1)
    bench.fetched(2)
    answer = FetchAnswer(ErrorCode.NONE, leader(2, 4), snapshot=SnapshotId(1, 1))
    assert bench.reply(2, Fetch, answer) == []


def test_loading_keeps_the_follower_from_standing() -> None:
    bench = following(1, 1)
    answer = FetchAnswer(ErrorCode.NONE, leader(2, 4), snapshot=SnapshotId(50, 3))
    bench.reply(2, Fetch, answer)
    for position in range(5):
        bench.wait(1500)
        bench.reply(2, FetchSnapshot, chunk(position, 1))
    assert bench.role == "follower 4"


def test_a_bad_snapshot_is_begun_anew_after_a_pause() -> None:
    bench = following(1, 1)
    bench.snapshot = None
    answer = FetchAnswer(ErrorCode.NONE, leader(2, 4), snapshot=SnapshotId(50, 3))
    bench.reply(2, Fetch, answer)
    assert bench.reply(2, FetchSnapshot, chunk(0, 100)) == ["chunk 0 last"]
    assert bench.wait(499) == []
    assert bench.wait(1) == ["to 2: fetch 4 at 1/2"]
    assert bench.machine.high_watermark is None
