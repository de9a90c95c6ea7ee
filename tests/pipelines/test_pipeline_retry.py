"""How a transient failure is tried again: growing waits, apart from each other. Without Spark."""

from __future__ import annotations

from penstock.pipelines.error import TransientError
from penstock.pipelines.retry import TRANSIENT, Failure, Retry, try_again


def test_waits_grow_up_to_their_bound_and_are_cut_at_random() -> None:
    retry = Retry(attempts_max=6, backoff_s=0.1, backoff_max_s=0.5)
    assert list(retry.waits(lambda: 0.0)) == [0.1, 0.2, 0.4, 0.5, 0.5]
    least = [round(wait_s, 3) for wait_s in retry.waits(lambda: 1.0)]
    assert least == [0.05, 0.1, 0.2, 0.25, 0.25]


def test_two_that_failed_together_do_not_come_back_together() -> None:
    retry = Retry(attempts_max=20)
    assert list(retry.waits()) != list(retry.waits())
    shortest = [wait_s / 2 for wait_s in retry.waits(lambda: 0.0)]
    assert all(wait_s >= least for wait_s, least in zip(retry.waits(), shortest, strict=True))


def test_it_waits_before_each_try() -> None:
    waited: list[float] = []

    def fail() -> None:
        raise TransientError("not yet")

    answer = try_again(fail, TransientError("no"), Retry(attempts_max=4), waited.append)
    assert isinstance(answer, Failure) and (answer.tries, answer.kind) == (4, TRANSIENT)
    assert len(waited) == 3
