"""What every pure machine shares: decisions, timers, the journal it is replayed from.

Owns the vocabulary between a machine and the runtime that drives it. Does no work of its own: no
clock, no disk, no loop.
"""

from penstock.machine.decision import Decision, Parked, TimerCancel, TimerChange, TimerSet
from penstock.machine.journal import Journal
from penstock.machine.state import StateMachine
from penstock.machine.timers import TimerKey, Timers

__all__ = [
    "Decision",
    "Journal",
    "Parked",
    "StateMachine",
    "TimerCancel",
    "TimerChange",
    "TimerKey",
    "TimerSet",
    "Timers",
]
