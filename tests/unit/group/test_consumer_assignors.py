"""What assignors must keep to, whatever the members ask for and had."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.group.consumer.assignor import ASSIGNORS, Subject
from penstock.group.consumer.member import Partitions

TOPICS = [bytes([number]) * 16 for number in range(4)]

counts_strategy = st.fixed_dictionaries({topic: st.integers(1, 7) for topic in TOPICS})
members_strategy = st.dictionaries(
    st.sampled_from("abcdef"),
    st.frozensets(st.sampled_from(TOPICS), max_size=4),
    min_size=1,
    max_size=6,
)


def _subjects(
    members: dict[str, frozenset[bytes]], had: dict[str, Partitions] | None = None
) -> dict[str, Subject]:
    return {one: Subject(topics, (had or {}).get(one, {})) for one, topics in members.items()}


def _shares(targets: dict[str, Partitions]) -> dict[str, set[tuple[bytes, int]]]:
    return {
        member: {(topic, one) for topic, found in target.items() for one in found}
        for member, target in targets.items()
    }


def _check(members: dict[str, frozenset[bytes]], counts: dict[bytes, int], name: str) -> None:
    shares = _shares(ASSIGNORS[name](_subjects(members), counts))
    readers = {topic for topics in members.values() for topic in topics}
    all_of_them = Counter(one for share in shares.values() for one in share)
    assert set(all_of_them) == {(topic, n) for topic in readers for n in range(counts[topic])}
    assert set(all_of_them.values()) <= {1}
    for member, share in shares.items():
        assert {topic for topic, _ in share} <= members[member]


@settings(deadline=None)
@given(members_strategy, counts_strategy, st.sampled_from(sorted(ASSIGNORS)))
def test_every_partition_goes_to_one_of_its_readers(
    members: dict[str, frozenset[bytes]], counts: dict[bytes, int], name: str
) -> None:
    _check(members, counts, name)


@settings(deadline=None)
@given(st.integers(1, 6), counts_strategy, st.sets(st.sampled_from(TOPICS), min_size=1))
def test_uniform_is_even_and_moves_no_more_than_it_must(
    size: int, counts: dict[bytes, int], topics: set[bytes]
) -> None:
    members = dict.fromkeys("abcdef"[:size], frozenset(topics))
    before = ASSIGNORS["uniform"](_subjects(members), counts)
    sizes = [len(share) for share in _shares(before).values()]
    assert max(sizes) - min(sizes) <= 1
    assert ASSIGNORS["uniform"](_subjects(members, before), counts) == before
    # One more member: only what it gets moves.
    grown = {**members, "z": frozenset(topics)}
    after = _shares(ASSIGNORS["uniform"](_subjects(grown, before), counts))
    sizes = [len(share) for share in after.values()]
    assert max(sizes) - min(sizes) <= 1
    for member, share in _shares(before).items():
        assert after[member] <= share
    # It leaves again: everybody keeps what it has.
    targets = ASSIGNORS["uniform"](_subjects(grown, before), counts)
    back = _shares(ASSIGNORS["uniform"](_subjects(members, targets), counts))
    for member in members:
        assert after[member] <= back[member]


@settings(deadline=None)
@given(members_strategy, counts_strategy)
def test_uniform_evens_out_unlike_subscriptions(
    members: dict[str, frozenset[bytes]], counts: dict[bytes, int]
) -> None:
    targets = ASSIGNORS["uniform"](_subjects(members), counts)
    shares = _shares(targets)
    for member, share in shares.items():
        for topic, _ in share:
            others = [one for one, topics in members.items() if topic in topics]
            assert len(share) - min(len(shares[one]) for one in others) <= 1, member
    again = _shares(ASSIGNORS["uniform"](_subjects(members, targets), counts))
    assert again == shares


def test_range_gives_neighbours_and_the_same_places_in_all_topics() -> None:
    topics = frozenset(TOPICS[:2])
    subjects = {
        "b": Subject(topics, {}),
        "a": Subject(topics, {}),
        "z": Subject(topics, {}, instance_id="first"),
    }
    targets = ASSIGNORS["range"](subjects, {TOPICS[0]: 7, TOPICS[1]: 2})
    assert targets["z"] == {TOPICS[0]: frozenset({0, 1, 2}), TOPICS[1]: frozenset({0})}
    assert targets["a"] == {TOPICS[0]: frozenset({3, 4}), TOPICS[1]: frozenset({1})}
    assert targets["b"] == {TOPICS[0]: frozenset({5, 6})}


def test_two_hundred_members_with_unlike_subscriptions_are_assigned_soon() -> None:
    topics = [number.to_bytes(16, "big") for number in range(1, 41)]
    subjects = {
        f"m{number}": Subject(frozenset(topics[number % 7 :: 1 + number % 3]), {})
        for number in range(200)
    }
    shares = _shares(ASSIGNORS["uniform"](subjects, dict.fromkeys(topics, 50)))
    assert sum(len(share) for share in shares.values()) == 2000
