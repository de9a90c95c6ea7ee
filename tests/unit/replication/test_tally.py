"""Shrinks, expands and elections, as they are counted."""

from __future__ import annotations

from penstock.replication.tally import ReplicaTally


def test_in_sync_sets() -> None:
    tally = ReplicaTally()
    tally.note_isr((1, 2, 3), (3, 2, 1))
    assert (tally.isr_shrinks, tally.isr_expands) == (0, 0)
    tally.note_isr((1, 2, 3), (1,))
    assert (tally.isr_shrinks, tally.isr_expands) == (1, 0)
    tally.note_isr((1,), (1, 2))
    assert (tally.isr_shrinks, tally.isr_expands) == (1, 1)
    tally.note_isr((1, 2), (1, 3))
    assert (tally.isr_shrinks, tally.isr_expands) == (2, 2)


def test_unclean_elections_are_elections() -> None:
    tally = ReplicaTally()
    tally.note_election(is_unclean=False)
    tally.note_election(is_unclean=True)
    assert (tally.elections, tally.unclean_elections) == (2, 1)
