"""Timers against a plain dictionary of deadlines."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.machine import TimerCancel, TimerKey, Timers, TimerSet


def pop_due(timers: Timers, now_ms: int) -> list[TimerKey]:
    due: list[TimerKey] = []
    while (key := timers.pop_next(now_ms)) is not None:
        due.append(key)
    return due


def test_due_keys_come_earliest_first_and_once() -> None:
    timers = Timers()
    timers.apply([TimerSet("b", 20), TimerSet("a", 10), TimerSet("c", 30)])
    assert timers.next_deadline_ms() == 10
    assert pop_due(timers, 20) == ["a", "b"]
    assert pop_due(timers, 20) == []
    assert timers.next_deadline_ms() == 30


def test_a_new_deadline_replaces_the_old_one() -> None:
    timers = Timers()
    timers.schedule("session", 10)
    timers.schedule("session", 50)
    assert pop_due(timers, 49) == []
    assert timers.deadline_ms("session") == 50
    assert pop_due(timers, 50) == ["session"]


def test_cancelled_timers_never_fire() -> None:
    timers = Timers()
    timers.apply([TimerSet("a", 10), TimerCancel("a"), TimerCancel("never set")])
    assert len(timers) == 0
    assert timers.next_deadline_ms() is None
    assert pop_due(timers, 1000) == []


def test_keys_of_unlike_types_live_together() -> None:
    timers = Timers()
    timers.apply([TimerSet(("group", 1), 10), TimerSet("x", 10), TimerSet(7, 10)])
    assert pop_due(timers, 10) == [("group", 1), "x", 7]


def test_a_heartbeating_member_does_not_grow_the_heap() -> None:
    timers = Timers()
    for now in range(100_000):
        timers.schedule("member", now + 45_000)
    assert len(timers._heap) < 200


@given(
    st.lists(
        st.tuples(
            st.sampled_from("sscp"), st.integers(0, 5), st.integers(min_value=0, max_value=50)
        ),
        max_size=120,
    )
)
def test_behaves_like_a_dictionary_of_deadlines(steps: list[tuple[str, int, int]]) -> None:
    timers, model = Timers(), {}
    for action, key, moment in steps:
        if action == "s":
            timers.schedule(key, moment)
            model[key] = moment
        elif action == "c":
            timers.cancel(key)
            model.pop(key, None)
        else:
            due = {key for key, deadline in model.items() if deadline <= moment}
            assert set(pop_due(timers, moment)) == due
            model = {key: at for key, at in model.items() if key not in due}
        assert timers.next_deadline_ms() == min(model.values(), default=None)
        assert len(timers) == len(model)
