"""What is said of a failure, and whether it is tried again."""

from __future__ import annotations

import pytest

from penstock.pipelines.run.failure import LACKING, backoff_s, is_transient, one_line

FROM_A_WORKER = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "worker.py", line 3, in main
{last}
"""


@pytest.mark.parametrize(
    "last",
    [
        "ModuleNotFoundError: No module named 'penstock'",
        'java.io.IOException: Cannot run program "/opt/nowhere/python": error=2',
    ],
)
def test_a_worker_that_lacks_something_is_told_how_to_get_it(last: str) -> None:
    error = RuntimeError(FROM_A_WORKER.format(last=last))
    told = one_line(error)
    assert last.rpartition(": ")[2] in told
    assert "set PYSPARK_PYTHON to" in told
    assert any(sign in str(error) for sign in LACKING)
    assert not is_transient(error)


def test_other_failures_get_no_advice() -> None:
    error = RuntimeError(FROM_A_WORKER.format(last="ValueError: no amount"))
    assert one_line(error) == "ValueError: no amount"


def test_a_worker_that_died_or_came_too_late_is_tried_again() -> None:
    """The latter on a machine with more to do than it can."""
    for said in ("exited unexpectedly (crashed)", "failed to connect back."):
        assert is_transient(RuntimeError(f"org.apache.spark.SparkException: Python worker {said}"))


def test_a_table_that_another_has_changed_meanwhile_is_tried_again() -> None:
    for said in ("CONCURRENT_APPEND.WITHOUT_HINT", "METADATA_CHANGED", "CONCURRENT_TRANSACTION"):
        assert is_transient(RuntimeError(f"[DELTA_{said}] Transaction conflict detected."))
    assert not is_transient(RuntimeError("[DELTA_FAILED_TO_MERGE_FIELDS] Failed to merge fields"))


def test_the_wait_before_a_restart_grows_and_is_partly_chance() -> None:
    longest = [backoff_s(0.5, failures, lambda: 0.0) for failures in (0, 1, 2, 3, 9)]
    assert longest == [0.5, 0.5, 1.0, 2.0, 15.0]
    assert backoff_s(0.5, 3, lambda: 1.0) == 1.0
    assert len({backoff_s(0.5, 3) for _ in range(20)}) > 1
