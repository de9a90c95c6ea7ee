"""Draws the table of transitions as a mermaid state diagram for the docs."""

from __future__ import annotations

from penstock.transaction.state import TRANSITIONS, TransactionState


def mermaid() -> str:
    lines = ["stateDiagram-v2", f"    [*] --> {TransactionState.EMPTY.value}"]
    for state, ways in TRANSITIONS.items():
        lines += [f"    {state.value} --> {to.value}: {event.value}" for event, to in ways.items()]
    lines.append(f"    {TransactionState.DEAD.value} --> [*]")
    return "\n".join(lines)
