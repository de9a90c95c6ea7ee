"""What is said of a failure, and whether it is tried again."""

from __future__ import annotations

import pytest

from penstock.pipelines.run.failure import LACKING, is_transient, one_line

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
