"""The table of states: drawn in the docs, and walked by the transcripts to the last arrow."""

from pathlib import Path

import pytest

import penstock.group.classic.group as group_module
from penstock.group.classic.diagram import mermaid
from penstock.group.classic.state import TRANSITIONS, GroupEvent, GroupState, next_state
from penstock.model.error import InvariantError
from tests.transcripts.group_script import GroupScript
from tests.transcripts.transcript import check

ROOT = Path(__file__).parents[3]


def test_the_docs_show_the_table() -> None:
    text = (ROOT / "docs" / "groups.md").read_text()
    drawn = text.partition("```mermaid\n")[2].partition("\n```")[0]
    assert drawn == mermaid()


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


def test_no_other_way_is_open() -> None:
    with pytest.raises(InvariantError, match="Stable"):
        next_state(GroupState.STABLE, GroupEvent.ALL_JOINED)
    with pytest.raises(InvariantError, match="Dead"):
        next_state(GroupState.DEAD, GroupEvent.UNLOADED)
