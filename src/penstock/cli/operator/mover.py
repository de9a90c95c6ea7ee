"""One run of moves for a command: plan, question, begin, wait, and what is printed of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from penstock.cli.cluster import unknown_topic
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.operator.confirm import confirm
from penstock.cli.operator.link import Link
from penstock.cli.operator.move_run import (
    clean_throttles,
    move_document,
    show_plan,
    wait_for_moves,
)
from penstock.cli.operator.place import find_partitions, parse_brokers, parse_place
from penstock.cli.operator.plan import Move, plan_exact, plan_spread
from penstock.cli.operator.reader import read_disks, read_moves, read_state, with_disks
from penstock.cli.operator.reassignment import begin_moves
from penstock.cli.operator.state import TopicPartition, name_some
from penstock.cli.operator.throttle import remove_throttle
from penstock.cli.output import plural, print_json, print_line

_NOTHING = ("nothing to move: every replica is where it should be", "nothing")


class Mover:
    def __init__(self, link: Link, rate: int | None, *, as_json: bool) -> None:
        self.link = link
        self._rate = rate
        self._as_json = as_json
        self.more: dict[str, Any] = {}
        """What the command adds to the JSON."""
        state = read_state(link)
        self.disks = read_disks(link, state.brokers.values())
        self.state = with_disks(state, self.disks)

    def plan(self, place: str, to: str | None, replicas: int | None) -> list[Move]:
        brokers = parse_brokers(to, "--to") if to is not None else self.state.open_brokers
        topic, partition = parse_place(place)
        if partition is None:
            if not self.state.of_topic(topic):
                raise unknown_topic(topic)
            return plan_spread(self.state, topic, brokers, replicas)
        if to is None or replicas not in (None, len(brokers)):
            raise UsageFailure("a single partition gets just the brokers that --to names")
        (found,) = find_partitions(self.state, [place])
        return plan_exact(self.state, found, brokers)

    def run(
        self,
        moves: Sequence[Move],
        under_way: Sequence[Move],
        *,
        yes: bool,
        dry_run: bool,
        wait: bool,
        before: Callable[[], Sequence[Move]] = tuple,
        after: Callable[[], None] = lambda: None,
    ) -> None:
        """`under_way`: moves from an earlier call that belong to this one. `before` is done
        ahead of them, once it is agreed, and may add some; `after` when all of them have ended."""
        if not self._as_json:
            self._show(moves, under_way)
        if dry_run:
            planned = ("nothing was changed", "planned") if moves or under_way else _NOTHING
            self._say(*planned, moves)
            return
        if moves:
            confirm("Move them?", yes=yes)
        added = before()
        if not self._as_json:
            self._show(added, ())
        moves = [*moves, *added]
        if not moves and not under_way:
            after()
            self._say(*_NOTHING, moves)
            return
        if under_way and self._rate is None:
            remove_throttle(self.link, {each.place.topic for each in under_way}, self.state.brokers)
        begin_moves(self.link, self.state, moves, self._rate)
        if not wait:
            self._say(
                "begun; `penstock partitions moves` shows how far it is"
                + (", with --wait until the end" if self._rate else ""),
                "begun",
                moves,
            )
            return
        wait_for_moves(self.link, [each.place for each in (*moves, *under_way)])
        self._check(moves)
        after()
        self._say(f"moved {plural(len(moves) + len(under_way), 'partition')}", "done", moves)
        self._end_throttle()

    def _show(self, moves: Sequence[Move], under_way: Sequence[Move]) -> None:
        if under_way:
            print_line(f"{plural(len(under_way), 'move')} from before under way; they go on")
        if moves:
            show_plan(self.state, moves, self._rate)

    def _check(self, moves: Sequence[Move]) -> None:
        """Somebody may have cancelled it, or moved it elsewhere."""
        # The controller knows before the broker that is asked does.
        deadline_s = time.monotonic() + self.link.timeout_s
        while missed := self._missed(moves):
            if time.monotonic() > deadline_s:
                raise Failure(
                    f"{name_some(missed)} did not get there: the move was cancelled or changed"
                )
            time.sleep(0.2)

    def _missed(self, moves: Sequence[Move]) -> list[TopicPartition]:
        now = read_state(self.link).partitions
        return [
            each.place
            for each in moves
            if each.place in now and set(now[each.place].replicas) != set(each.after)
        ]

    def _end_throttle(self) -> None:
        if read_moves(self.link):
            if self._rate is not None and not self._as_json:
                print_line(
                    "other moves are under way, so the throttle stays; "
                    "`penstock partitions moves --wait` takes it away"
                )
        else:
            clean_throttles(self.link)

    def say_cancelled(self, broker: int, places: Sequence[TopicPartition]) -> None:
        if self._as_json:
            print_json({"cancelled": [str(each) for each in places]})
        else:
            print_line(
                f"cancelled {plural(len(places), 'move')}; broker {broker} takes replicas again"
            )

    def _say(self, line: str, outcome: str, moves: Sequence[Move]) -> None:
        if not self._as_json:
            print_line(line)
            return
        document: dict[str, Any] = {
            "outcome": outcome,
            "throttle_bytes_s": self._rate,
            "moves": [move_document(self.state, each) for each in moves],
        }
        print_json(document | self.more)
