"""Who gets memory, who waits for it, and who loses it."""

from __future__ import annotations

from penstock.network.budget import FITS_TRIED_MAX, SLOW_BYTES_PER_S, FrameBudget

MB = 1 << 20


class Frame:
    """As a reader would: grows as it arrives, and waits where it has to."""

    def __init__(
        self, budget: FrameBudget, name: str = "", announced_bytes: int | None = None
    ) -> None:
        self.budget = budget
        self.announced_bytes = announced_bytes
        self.frame_bytes = announced_bytes or 0
        self.name = name
        self.starved = False
        self.filled_bytes = 0
        self.buffer: bytearray | None = None
        self.given_up: str | None = None
        self.resumed = 0

    def begin(self, size: int) -> bool:
        self.frame_bytes = self.announced_bytes or size
        self.buffer = self.budget.take(size, self)
        if self.buffer is None:
            self.starved = True
            self.budget.wait(size, 0, self, lambda: self._retry(size))
        return self.buffer is not None

    def grow(self, size: int) -> bool:
        assert self.buffer is not None
        self.frame_bytes = self.announced_bytes or size
        larger = self.budget.grow(self.buffer, size, self)
        if larger is None:
            self.starved = True
            held_bytes = len(self.buffer)
            self.budget.wait(size, held_bytes, self, lambda: self._retry(size))
            return False
        self.buffer = larger
        return True

    def _retry(self, size: int) -> None:
        self.resumed += 1
        self.starved = False
        if self.buffer is None:
            self.begin(size)
        else:
            self.grow(size)

    def end(self) -> None:
        self.budget.leave(self)
        if self.buffer is not None:
            buffer, self.buffer = self.buffer, None
            self.budget.give_back(buffer, self)

    def give_up(self, reason: str) -> None:
        self.given_up = reason
        self.end()


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def ticking(budget: FrameBudget, clock: Clock, seconds: float, *senders: Frame) -> None:
    """Time passes; the senders send ten times as fast as they have to."""
    for _ in range(round(seconds * 10)):
        clock.now_s += 0.1
        for frame in senders:
            if not frame.starved:
                frame.filled_bytes += SLOW_BYTES_PER_S
        budget.tick()


def test_one_huge_frame_is_admitted_when_nothing_else_is_held() -> None:
    budget = FrameBudget(1000, Clock())
    assert Frame(budget).begin(5000)
    assert not Frame(budget).begin(10)


def test_memory_that_comes_back_goes_to_those_who_wait_in_their_order() -> None:
    budget = FrameBudget(4 * MB, Clock())
    holding = [Frame(budget) for _ in range(4)]
    assert all(frame.begin(MB) for frame in holding)
    waiting = [Frame(budget) for _ in range(6)]
    assert not any(frame.begin(MB) for frame in waiting)
    holding[0].end()
    holding[2].end()
    assert [frame.buffer is not None for frame in waiting] == [True, True] + [False] * 4
    assert budget.waiting_count == 4


def test_nobody_is_woken_in_vain() -> None:
    """Waking everybody for every buffer took seconds with a few thousand connections."""
    budget = FrameBudget(4 * MB, Clock())
    holding = [Frame(budget) for _ in range(4)]
    assert all(frame.begin(MB) for frame in holding)
    waiting = [Frame(budget) for _ in range(1000)]
    for frame in waiting:
        frame.begin(MB)
    for frame in [*holding, *waiting]:
        frame.end()
    assert sum(frame.resumed for frame in waiting) <= len(waiting)
    assert budget.used_bytes == 0
    assert budget.waiting_count == 0


def test_small_ones_pass_large_ones_that_do_not_fit() -> None:
    budget = FrameBudget(8 * MB, Clock())
    holding = Frame(budget)
    assert holding.begin(6 * MB)
    assert Frame(budget).begin(MB) and Frame(budget).begin(MB - 65536)
    assert not Frame(budget).begin(5 * MB)
    small = Frame(budget)
    assert small.begin(4096)


def test_beginnings_of_large_frames_leave_something_to_small_ones() -> None:
    budget = FrameBudget(16 * MB, Clock())
    crowd = [Frame(budget, announced_bytes=100 * MB) for _ in range(300)]
    assert sum(frame.begin(65_536) for frame in crowd) == 12 * 16
    assert Frame(budget).begin(MB)


def test_large_buffers_leave_something_to_small_ones() -> None:
    budget = FrameBudget(8 * MB, Clock())
    large = [Frame(budget) for _ in range(4)]
    assert [frame.begin(2 * MB) for frame in large] == [True, True, True, False]
    assert Frame(budget).begin(MB) and Frame(budget).begin(MB)


def test_one_may_finish_beside_the_budget() -> None:
    budget = FrameBudget(8 * MB, Clock())
    frames = [Frame(budget) for _ in range(3)]
    assert all(frame.begin(2 * MB) for frame in frames)
    assert [frame.grow(100 * MB) for frame in frames] == [True, False, False]
    assert Frame(budget).begin(MB), "others have as much as before"
    frames[0].end()
    assert not frames[1].starved
    assert frames[2].starved
    frames[1].end()
    frames[2].end()


def test_one_that_is_alone_and_huge_leaves_the_budget_to_others() -> None:
    budget = FrameBudget(8 * MB, Clock())
    huge = Frame(budget)
    assert huge.begin(2 * MB) and huge.grow(8 * MB) and huge.grow(90 * MB)
    assert all(Frame(budget).begin(MB) for _ in range(6))


def test_a_quiet_frame_is_given_up_when_others_need_its_memory() -> None:
    clock = Clock()
    budget = FrameBudget(8 * MB, clock)
    quiet, busy = Frame(budget, "quiet"), Frame(budget, "busy")
    assert quiet.begin(4 * MB) and busy.begin(2 * MB)
    ticking(budget, clock, 60, busy)
    assert quiet.given_up is None, "nobody waits"
    other = Frame(budget)
    assert other.begin(4 * MB), "at once: it has been known as quiet for long"
    assert quiet.given_up is not None and "while others wait" in quiet.given_up
    assert busy.given_up is None


def test_a_frame_by_the_byte_is_as_good_as_quiet() -> None:
    clock = Clock()
    budget = FrameBudget(8 * MB, clock)
    slow = Frame(budget)
    assert slow.begin(6 * MB)
    slow.filled_bytes = 5 * MB
    other = Frame(budget)
    assert not other.begin(6 * MB)
    for _ in range(20):
        slow.filled_bytes += 1
        ticking(budget, clock, 0.1)
    assert slow.given_up is not None
    assert other.buffer is not None


def test_one_that_arrives_at_a_fair_speed_is_waited_for() -> None:
    clock = Clock()
    budget = FrameBudget(8 * MB, clock)
    fair, other = Frame(budget), Frame(budget)
    assert fair.begin(6 * MB)
    assert not other.begin(6 * MB)
    ticking(budget, clock, 60, fair)
    assert fair.given_up is None
    fair.end()
    assert other.buffer is not None


def test_one_that_was_let_wait_has_its_time_before_it_counts_as_slow() -> None:
    clock = Clock()
    budget = FrameBudget(8 * MB, clock)
    first, second = Frame(budget), Frame(budget)
    assert first.begin(2 * MB) and second.begin(2 * MB)
    assert first.grow(50 * MB)
    assert not second.grow(50 * MB)
    ticking(budget, clock, 5, first)
    assert second.given_up is None
    first.end()
    assert not second.starved
    assert not Frame(budget).begin(9 * MB)
    ticking(budget, clock, 0.2)
    assert second.given_up is None
    ticking(budget, clock, 1)
    assert second.given_up is not None


def test_those_who_wait_for_more_do_not_keep_small_ones_waiting() -> None:
    clock = Clock()
    budget = FrameBudget(8 * MB, clock)
    hoard = [Frame(budget) for _ in range(8)]
    assert all(frame.begin(MB) for frame in hoard)
    sender = hoard[0]
    for frame in hoard:
        frame.grow(50 * MB)
    in_place_of_sender, small = Frame(budget), Frame(budget)
    assert in_place_of_sender.begin(MB)
    assert not small.begin(MB)
    ticking(budget, clock, 2, sender, in_place_of_sender, small)
    assert small.buffer is not None
    assert sum(frame.given_up is not None for frame in hoard) == 1


def test_a_frame_that_ends_while_it_waits_is_not_woken() -> None:
    budget = FrameBudget(MB, Clock())
    holding = Frame(budget)
    assert holding.begin(MB)
    gone = [Frame(budget) for _ in range(2 * FITS_TRIED_MAX)]
    for frame in gone:
        frame.begin(MB)
    last = Frame(budget)
    assert not last.begin(MB)
    for frame in gone:
        frame.end()
    holding.end()
    assert last.buffer is not None
    assert [frame.resumed for frame in gone] == [0] * len(gone)


def test_somebody_is_told_when_memory_gets_short() -> None:
    told = []
    budget = FrameBudget(8 * MB, Clock())
    budget.on_tight = lambda: told.append(True)
    first = Frame(budget)
    assert first.begin(3 * MB)
    assert not told and not budget.tick()
    second = Frame(budget)
    assert second.begin(2 * MB)
    assert told and budget.tick()
    second.end()
    assert not budget.tick()
