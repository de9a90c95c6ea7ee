"""The table of states: drawn in the docs, and walked by the transcripts to the last arrow."""

from pathlib import Path

import pytest

import penstock.transaction.transaction as transaction_module
from penstock.model.error import InvariantError
from penstock.transaction.diagram import mermaid
from penstock.transaction.state import (
    TRANSITIONS,
    TransactionEvent,
    TransactionState,
    next_state,
    state_number,
    state_of_number,
)
from tests.transcripts.transaction_script import TransactionScript
from tests.transcripts.transcript import check

ROOT = Path(__file__).parents[3]


def test_the_docs_show_the_table() -> None:
    text = (ROOT / "docs" / "transactions.md").read_text()
    drawn = text.partition("```mermaid\n")[2].partition("\n```")[0]
    assert drawn == mermaid()


def test_the_transcripts_take_every_way(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: set[tuple[TransactionState, TransactionEvent]] = set()

    def spy(state: TransactionState, event: TransactionEvent) -> TransactionState:
        taken.add((state, event))
        return next_state(state, event)

    monkeypatch.setattr(transaction_module, "next_state", spy)
    for path in sorted((ROOT / "tests" / "transcripts" / "transaction").glob("*.txt")):
        check(path, TransactionScript().run)
    every = {(state, event) for state, ways in TRANSITIONS.items() for event in ways}
    assert taken == every


def test_no_other_way_is_open() -> None:
    with pytest.raises(InvariantError, match="PrepareCommit"):
        next_state(TransactionState.PREPARE_COMMIT, TransactionEvent.ABORTED)
    with pytest.raises(InvariantError, match="Dead"):
        next_state(TransactionState.DEAD, TransactionEvent.INITIALIZED)


def test_states_have_kafkas_numbers() -> None:
    names = [state_of_number(number).value for number in range(8)]
    assert names == [
        "Empty",
        "Ongoing",
        "PrepareCommit",
        "PrepareAbort",
        "CompleteCommit",
        "CompleteAbort",
        "Dead",
        "PrepareEpochFence",
    ]
    assert [state_number(state) for state in TransactionState] == list(range(8))
    with pytest.raises(InvariantError):
        state_of_number(8)
