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


def test_who_knows_a_value_for_a_failure_gives_it_to_the_changes_that_follow() -> None:
    later: Later[int] = Later()
    later.recover(lambda error: len(str(error)))
    heard: list[str] = []
    errors: list[Exception] = []
    later.map(lambda value: value + 1).map(str).listen(heard.append, errors.append)
    later.fail(ValueError("four"))
    assert (heard, errors) == (["5"], [])


def test_a_failure_nobody_recovers_from_is_told_once() -> None:
    def recover(error: Exception) -> int:
        raise error

    later: Later[int] = Later()
    later.recover(recover)
    errors: list[Exception] = []
    later.listen(lambda _: None, errors.append)
    for _ in range(2):
        later.fail(ValueError("no"))
    assert [str(error) for error in errors] == ["no"]


def test_a_failure_nobody_waits_for_is_no_news() -> None:
    later: Later[int] = Later()
    later.fail(ValueError("no"))
    later.listen(lambda _: None)
    later.cancel()
    later.fail(ValueError("no"))
