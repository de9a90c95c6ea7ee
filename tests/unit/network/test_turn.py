"""One at a time, the others in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from penstock.network.turn import Turn


class Soon:
    def __init__(self) -> None:
        self.calls: deque[Callable[[], None]] = deque()

    def __call__(self, call: Callable[[], None]) -> None:
        self.calls.append(call)

    def run(self) -> None:
        while self.calls:
            self.calls.popleft()()


def test_one_after_the_other() -> None:
    soon = Soon()
    turn = Turn(soon)
    turn.take()
    served: list[str] = []

    def ask(name: str) -> None:
        if not turn.is_free:
            turn.wait(name, lambda: ask(name))
            return
        turn.take()
        served.append(name)

    for name in "abc":
        ask(name)
    soon.run()
    assert served == []
    for count in range(1, 4):
        turn.give_back()
        ask("later" + str(count))  # behind those who were there before
        soon.run()
        assert served == list("abc")[:count]


def test_nobody_begins_without_room() -> None:
    soon = Soon()
    room = [False]
    turn = Turn(soon, lambda: room[0])
    called: list[str] = []
    assert not turn.is_free
    turn.wait("a", lambda: called.append("a"))
    soon.run()
    assert called == [] and turn.is_waited_for
    room[0] = True
    turn.look()
    assert called == ["a"] and not turn.is_waited_for


def test_one_that_is_gone_or_needs_none_passes_it_on() -> None:
    soon = Soon()
    turn = Turn(soon)
    turn.take()
    called: list[str] = []

    def take_it() -> None:
        called.append("third")
        turn.take()

    turn.wait("first", lambda: called.append("first"))
    turn.wait("second", lambda: called.append("second"))
    turn.wait("third", take_it)
    turn.wait("fourth", lambda: called.append("fourth"))
    turn.forget("first")
    turn.give_back()
    soon.run()
    assert called == ["second", "third"]
    assert turn.taken
