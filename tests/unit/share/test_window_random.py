"""Members take, acknowledge, release, vanish and come late; writes fail, the leader ends and
another loads what was kept. Nothing acknowledged is handed out again, nothing is lost, and nothing
is handed out more often than is allowed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.model.error import ApiError
from penstock.share import (
    Acknowledgement,
    AcknowledgeType,
    DeliveryThrottle,
    LogBatch,
    StateBatch,
    Window,
)
from penstock.share.kept import KeptState

LIMIT, LOCKS = 4, 12
THROTTLE = DeliveryThrottle(LIMIT)
MEMBERS = ("a", "b", "c")
TYPES = (AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT)


class Leader:
    """One after the other, over one log and one kept state."""

    def __init__(self, log: list[LogBatch]) -> None:
        self.log = log
        self.kept = KeptState(start_offset=0, done_count=0)
        self.window = Window(0)
        self.now = 0
        self.held: dict[str, list[tuple[int, int]]] = {one: [] for one in MEMBERS}
        self.done: set[int] = set()
        """Acknowledged for good: accepted, or rejected."""
        self.deliveries: dict[int, int] = {}
        self.live = {n for one in log if not one.is_dead for n in range(one.first, one.last + 1)}

    def keep(self, batches: list[StateBatch]) -> None:
        self.kept = self.kept.updated(
            0, self.window.next_start, self.window.done_count, sorted(batches)
        )

    def take(self, who: str, most: int, exact: bool) -> None:
        at = self.window.next_offset
        batches = [one for one in self.log if one.last >= at]
        got = self.window.acquire(who, batches, most, LOCKS, self.now + 10, THROTTLE, exact=exact)
        for first, last, deliveries in got:
            self.held[who].append((first, last))
            assert 1 <= deliveries <= LIMIT
            for offset in range(first, last + 1):
                assert offset in self.live, "there is no such record"
                assert offset not in self.done, "it was acknowledged"
                self.deliveries[offset] = self.deliveries.get(offset, 0) + 1

    def tell(self, who: str, kind: AcknowledgeType, is_kept: bool) -> None:
        if not self.held[who]:
            return
        first, last = self.held[who].pop()
        try:
            told = self.window.acknowledge(
                who, [Acknowledgement(first, last, kind)], LIMIT, self.now + 10
            )
        except ApiError:
            return
        if not is_kept:
            self.window.roll_back(told)
            self.held[who].append((first, last))
            return
        self.keep(told)
        self.window.commit(told)
        if kind is not AcknowledgeType.RELEASE:
            self.done.update(range(first, last + 1))

    def vanish(self, who: str) -> None:
        self.held[who].clear()
        self.keep(self.window.release(who))

    def wait(self, ms: int) -> None:
        self.now += ms
        self.keep(self.window.expire(self.now, LIMIT))

    def end(self) -> None:
        for held in self.held.values():
            held.clear()
        self.window = Window(self.kept.start_offset, self.kept.batches)

    def check(self) -> None:
        runs = self.window.states()
        at = self.window.start
        for first, last, _, _ in runs:
            assert first == at <= last
            at = last + 1
        assert at == self.window.end

    def finish(self) -> None:
        """Everybody accepts all there is."""
        for who in MEMBERS:
            self.vanish(who)
        for _ in range(500):
            self.take("a", 100, False)
            if not self.held["a"]:
                break
            while self.held["a"]:
                self.tell("a", AcknowledgeType.ACCEPT, True)


steps = st.lists(
    st.one_of(
        st.tuples(st.just("take"), st.sampled_from(MEMBERS), st.integers(1, 8), st.booleans()),
        st.tuples(st.just("tell"), st.sampled_from(MEMBERS), st.sampled_from(TYPES), st.booleans()),
        st.tuples(st.just("vanish"), st.sampled_from(MEMBERS)),
        st.tuples(st.just("wait"), st.integers(1, 15)),
        st.tuples(st.just("end")),
    ),
    max_size=60,
)
logs = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 2), st.booleans()), min_size=1)


def log_of(sizes: list[tuple[int, int, bool]]) -> list[LogBatch]:
    """Batches with gaps between them; the last one is alive."""
    found: list[LogBatch] = []
    at = 0
    for size, gap, is_dead in sizes:
        found.append(LogBatch(at + gap, at + gap + size - 1, is_dead))
        at += gap + size
    return [*found, LogBatch(at, at)]


@settings(max_examples=300, deadline=None)
@given(logs, steps)
def test_nothing_is_lost_and_nothing_comes_back(
    sizes: list[tuple[int, int, bool]], todo: list[tuple[object, ...]]
) -> None:
    leader = Leader(log_of(sizes))
    for name, *arguments in todo:
        getattr(leader, str(name))(*arguments)
        leader.check()
    leader.finish()
    leader.check()
    tired = {one for one, count in leader.deliveries.items() if count >= LIMIT}
    assert leader.live <= leader.done | tired, "a record was lost"
    assert leader.window.start == leader.window.end == leader.log[-1].last + 1
