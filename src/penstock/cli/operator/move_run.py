"""Moves from the plan to their end: shown, begun, watched, and the throttle taken away."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from penstock.cli.failure import Failure
from penstock.cli.operator.estimate import MoveEstimate, Reading, show_duration
from penstock.cli.operator.link import Link
from penstock.cli.operator.plan import Move
from penstock.cli.operator.reader import Disks, read_disks, read_moves, read_state
from penstock.cli.operator.reassignment import moves_under_way
from penstock.cli.operator.state import ClusterState, TopicPartition
from penstock.cli.operator.status_line import StatusLine
from penstock.cli.operator.throttle import remove_throttle, throttled_topics
from penstock.cli.output import human_bytes, note, plural, print_line, print_table

_POLL_S = 1.0
_ROWS_MAX = 40


def show_plan(state: ClusterState, moves: Sequence[Move], rate: int | None) -> None:
    rows = [
        (str(move.place), _ids(move.before), _ids(move.after), _copied(state, move))
        for move in moves[:_ROWS_MAX]
    ]
    print_table(("partition", "from", "to", "bytes to copy"), rows)
    if len(moves) > _ROWS_MAX:
        print_line(f"and {len(moves) - _ROWS_MAX:,} more; --json shows all")
    to_broker: Counter[int] = Counter()
    for move in moves:
        to_broker.update(dict.fromkeys(move.adding, state.sizes.get(move.place, 0)))
    copies = sum(len(move.adding) for move in moves)
    if copies:
        size = human_bytes(to_broker.total())
        print_line(f"{plural(copies, 'replica')} to copy, {size}{_pace(to_broker, rate)}")
    else:
        print_line("no replica to copy")


def _pace(to_broker: Counter[int], rate: int | None) -> str:
    if rate is None:
        return ", not throttled"
    longest = max(to_broker.values(), default=0) / rate
    return f", at {human_bytes(rate)}/s for each broker: at least {show_duration(longest)}"


def _copied(state: ClusterState, move: Move) -> int:
    return state.sizes.get(move.place, 0) * len(move.adding)


def _ids(brokers: Sequence[int]) -> str:
    return ",".join(map(str, brokers))


def move_document(state: ClusterState, move: Move) -> dict[str, Any]:
    return {
        "topic": move.place.topic,
        "partition": move.place.partition,
        "from": list(move.before),
        "to": list(move.after),
        "bytes": _copied(state, move),
    }


def wait_for_moves(link: Link, places: Collection[TopicPartition]) -> None:
    """Until none of them is under way; Ctrl-C leaves them to the cluster, and says so."""
    status = StatusLine()
    estimate = MoveEstimate(len(places), time.monotonic())
    try:
        while True:
            try:
                if _look(link, places, estimate, status):
                    return
            except Failure as failure:
                # Such as a controller that is being elected.
                status.show("failure", f"waiting: {failure}")
            time.sleep(_POLL_S)
    except KeyboardInterrupt:
        status.clear()
        note(
            "the moves go on by themselves: `penstock partitions moves` shows them, "
            "`penstock partitions moves --wait` also takes their throttle away at the end, "
            "`penstock partitions cancel` ends them"
        )
        raise
    finally:
        status.clear()


def _look(
    link: Link, places: Collection[TopicPartition], estimate: MoveEstimate, status: StatusLine
) -> bool:
    if not set(read_moves(link)) & set(places):
        return True
    state = read_state(link)
    running = [each for each in moves_under_way(state) if each.place in places]
    estimate.update(len(places) - len(running), _read(link, state, running), time.monotonic())
    down = sorted({each for move in running for each in move.adding if state.brokers[each].fenced})
    status.show("down" if down else "moving", _progress(estimate, down))
    return not running


def _progress(estimate: MoveEstimate, down: Sequence[int]) -> str:
    if down:
        return f"waiting: broker {down[0]} is down, and a replica is to be made there; start it"
    left = estimate.seconds_left
    said = f"moved {estimate.done} of {plural(estimate.total, 'partition')}"
    said += (
        f", {human_bytes(estimate.bytes_left)} left at {human_bytes(int(estimate.rate_bytes_s))}/s"
    )
    return said + (f", {show_duration(left)}" if left is not None else "")


def _read(link: Link, state: ClusterState, running: Sequence[Move]) -> Reading:
    copies = [(move.place, broker) for move in running for broker in move.adding]
    leaders = {move.place: state.partitions[move.place].leader for move in running}
    asked = {broker for _, broker in copies} | {
        each for each in leaders.values() if each is not None
    }
    disks = read_disks(link, [state.brokers[each] for each in asked if each in state.brokers])
    return Reading(
        copied={copy: _size(disks, copy[0], copy[1]) for copy in copies},
        wanted={copy: _size(disks, copy[0], leaders[copy[0]]) for copy in copies},
    )


def _size(disks: Disks, place: TopicPartition, broker: int | None) -> int:
    disk = disks.get(broker) if broker is not None else None
    return disk.sizes.get(place, 0) if disk is not None else 0


def clean_throttles(link: Link) -> list[str]:
    """Once nothing moves any more; the topics that were throttled until now."""
    state = read_state(link)
    if moves_under_way(state):
        return []
    topics = throttled_topics(link, {each.topic for each in state.partitions})
    if topics:
        remove_throttle(link, topics, state.brokers)
    return topics
