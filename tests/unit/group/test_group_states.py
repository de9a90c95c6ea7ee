"""The table of states: drawn in the docs, and walked by the transcripts to the last arrow."""

from pathlib import Path

import pytest

import penstock.group.classic.group as group_module
import penstock.group.consumer.diagram as member_diagram
import penstock.group.consumer.state as member_state
from penstock.group.classic.diagram import mermaid
from penstock.group.classic.state import TRANSITIONS, GroupEvent, GroupState, next_state
from penstock.group.consumer.member import ConsumerMember
from penstock.group.consumer.reconcile import Goal, reconcile
from penstock.group.consumer.state import MemberEvent, MemberState
from penstock.model.error import InvariantError
from tests.transcripts.group_script import GroupScript
from tests.transcripts.transcript import check

ROOT = Path(__file__).parents[3]


def test_the_docs_show_both_tables() -> None:
    text = (ROOT / "docs" / "groups.md").read_text()
    drawn = [block.partition("\n```")[0] for block in text.split("```mermaid\n")[1:]]
    assert drawn == [mermaid(), member_diagram.mermaid()]


def test_the_transcripts_take_every_way(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: set[tuple[GroupState, GroupEvent]] = set()

    def spy(state: GroupState, event: GroupEvent) -> GroupState:
        taken.add((state, event))
        return next_state(state, event)

    monkeypatch.setattr(group_module, "next_state", spy)
    for path in sorted((ROOT / "tests" / "transcripts" / "group").glob("*.txt")):
        check(path, GroupScript().run)
    every = {(state, event) for state, ways in TRANSITIONS.items() for event in ways}
    assert taken == every


TOPIC = b"t" * 16
GOALS = {
    # What the member shall have, what it says it has, what is free for it.
    MemberEvent.MUST_REVOKE: ({0}, {0, 1}, set[int]()),
    MemberEvent.MUST_WAIT: ({0, 2}, {0}, set[int]()),
    MemberEvent.SETTLED: ({0, 2}, {0}, {2}),
}
WAYS = [
    (state, event, to)
    for state, ways in member_state.TRANSITIONS.items()
    for event, to in ways.items()
]


@pytest.mark.parametrize(("state", "event", "to"), WAYS)
def test_a_member_takes_every_way(state: MemberState, event: MemberEvent, to: MemberState) -> None:
    wanted, reported, free = GOALS[event]
    is_lost = state is MemberState.UNKNOWN
    owned = {} if is_lost else {TOPIC: {0: 3, 1: 3}}
    revoking = {TOPIC: {5: 2}} if state is MemberState.UNREVOKED_PARTITIONS else {}
    member = ConsumerMember("m", epoch=3, state=state, owned=owned, revoking=revoking)
    goal = Goal(
        epoch=4,
        target={TOPIC: frozenset(wanted)},
        subscribed={TOPIC},
        subscription_changed=False,
        reported={} if is_lost else {TOPIC: reported},
        is_free=lambda _, partition: partition in free or (is_lost and partition == 0),
    )
    assert reconcile(member, goal).state is to


def test_a_member_nobody_knows_the_state_of_has_nothing_to_give_up() -> None:
    with pytest.raises(InvariantError, match="UNKNOWN"):
        member_state.next_state(MemberState.UNKNOWN, MemberEvent.MUST_REVOKE)


def test_no_other_way_is_open() -> None:
    with pytest.raises(InvariantError, match="Stable"):
        next_state(GroupState.STABLE, GroupEvent.ALL_JOINED)
    with pytest.raises(InvariantError, match="Dead"):
        next_state(GroupState.DEAD, GroupEvent.REBALANCE_NEEDED)
