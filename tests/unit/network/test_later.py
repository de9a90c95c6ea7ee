"""A value that comes later: settled, cancelled, changed on its way, or never to come."""

from __future__ import annotations

from penstock.network.later import Later


def test_the_listener_hears_the_value_at_once() -> None:
    later: Later[int] = Later()
    heard: list[int] = []
    later.listen(heard.append)
    later.settle(7)
    assert heard == [7]


def test_a_cancelled_one_tells_its_maker_and_nobody_else() -> None:
    told: list[str] = []
    later: Later[int] = Later(lambda: told.append("cancelled"))
    heard: list[str] = []
    mapped = later.map(str)
    mapped.listen(heard.append)
    mapped.cancel()
    later.settle(7)
    assert (told, heard) == (["cancelled"], [])


def test_a_change_that_fails_does_not_reach_the_one_who_settles() -> None:
    later: Later[int] = Later()
    errors: list[Exception] = []
    later.map(lambda value: 1 // value).map(str).listen(lambda _: None, errors.append)
    later.settle(0)
    assert [type(error) for error in errors] == [ZeroDivisionError]
