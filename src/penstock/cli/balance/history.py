"""The moves of the last balances, kept in a compacted topic of the cluster for `balance undo`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from penstock.cli.group.own_topic import OwnTopic
from penstock.cli.operator.link import Link
from penstock.cli.operator.plan import Move
from penstock.cli.operator.state import TopicPartition

HISTORY_TOPIC: Final = "__penstock_balances"
KEPT: Final = 10
_KEY: Final = b"runs"


class Run(NamedTuple):
    began_ms: int
    is_done: bool
    """Whoever began it saw its end."""
    moves: list[Move]


def begun(runs: list[Run], now_ms: int, moves: Iterable[Move]) -> list[Run]:
    """One that goes on with a run that was not seen to its end is the same run: one undo for
    both."""
    if runs and not runs[-1].is_done:
        *earlier, last = runs
        return [*earlier, Run(last.began_ms, False, joined(last.moves, moves))]
    return [*runs, Run(now_ms, False, list(moves))][-KEPT:]


def joined(first: Iterable[Move], then: Iterable[Move]) -> list[Move]:
    """From where each was before the first, to where the last takes it."""
    found = {each.place: each for each in first}
    for each in then:
        before = found[each.place].before if each.place in found else each.before
        found[each.place] = Move(each.place, before, each.after)
    return [each for each in found.values() if each.before != each.after]


class History:
    def __init__(self, link: Link) -> None:
        self._topic = OwnTopic(link, HISTORY_TOPIC)

    def read(self) -> list[Run]:
        value = self._topic.read().get(_KEY)
        return [] if value is None else decode(value)

    def begin(self, now_ms: int, moves: Iterable[Move]) -> None:
        self._write(begun(self.read(), now_ms, moves))

    def end(self) -> None:
        runs = self.read()
        if runs and not runs[-1].is_done:
            self._write([*runs[:-1], runs[-1]._replace(is_done=True)])

    def forget_last(self) -> None:
        self._write(self.read()[:-1])

    def _write(self, runs: list[Run]) -> None:
        self._topic.write({_KEY: encode(runs) if runs else None})


def encode(runs: Iterable[Run]) -> bytes:
    document = [
        {
            "began_ms": each.began_ms,
            "done": each.is_done,
            "moves": [[*move.place, move.before, move.after] for move in each.moves],
        }
        for each in runs
    ]
    return json.dumps(document).encode()


def decode(value: bytes) -> list[Run]:
    return [
        Run(int(each["began_ms"]), bool(each["done"]), [_move(one) for one in each["moves"]])
        for each in json.loads(value)
    ]


def _move(document: list[Any]) -> Move:
    topic, partition, before, after = document
    return Move(TopicPartition(str(topic), int(partition)), tuple(before), tuple(after))
