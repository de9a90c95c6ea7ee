"""What raft knows of times, on the wall clock that others read."""

from __future__ import annotations

from penstock.raft import QuorumView, ReplicaView


def on_wall_clock(view: QuorumView, ahead_ms: int) -> QuorumView:
    """`ahead_ms`: how far the wall clock is ahead of raft's."""
    return view._replace(
        voters=tuple(_moved(one, ahead_ms) for one in view.voters),
        observers=tuple(_moved(one, ahead_ms) for one in view.observers),
    )


def _moved(replica: ReplicaView, ahead_ms: int) -> ReplicaView:
    """Negative: not known."""
    fetch_ms, caught_up_ms = replica.last_fetch_ms, replica.last_caught_up_ms
    return replica._replace(
        last_fetch_ms=fetch_ms if fetch_ms < 0 else fetch_ms + ahead_ms,
        last_caught_up_ms=caught_up_ms if caught_up_ms < 0 else caught_up_ms + ahead_ms,
    )
