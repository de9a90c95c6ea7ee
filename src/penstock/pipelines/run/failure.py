"""Which failures pass by themselves, and what to say of those that do not."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from penstock.pipelines.retry import growing_wait_s

_TRANSIENT = (
    "penstock.pipelines.error.TransientError",
    "org.apache.kafka.common.errors.TimeoutException",
    "org.apache.kafka.common.errors.DisconnectException",
    "org.apache.kafka.common.errors.NotLeaderOrFollowerException",
    "org.apache.kafka.common.errors.LeaderNotAvailableException",
    "org.apache.kafka.common.errors.CoordinatorNotAvailableException",
    "org.apache.kafka.common.errors.CoordinatorLoadInProgressException",
    "org.apache.kafka.common.errors.NetworkException",
    "org.apache.kafka.common.errors.NotEnoughReplicas",
    "org.apache.kafka.common.errors.UnknownLeaderEpochException",
    "Python worker exited unexpectedly",
    "Python worker failed to connect back",
    "ExecutorLostFailure",
    "No resolvable bootstrap urls given",
    # As Delta says it where another has changed the table meanwhile: nothing was written.
    "[DELTA_CONCURRENT_",
    "[DELTA_METADATA_CHANGED",
    "[DELTA_PROTOCOL_CHANGED",
    "[DELTA_MAX_COMMIT_RETRIES_EXCEEDED",
)
_TRANSIENT_CODES = (
    "_TRANSPORT",
    "_ALL_BROKERS_DOWN",
    "_TIMED_OUT",
    "_MSG_TIMED_OUT",
    "_RETRY",
    "_FENCED",
    "COORDINATOR_NOT_AVAILABLE",
    "COORDINATOR_LOAD_IN_PROGRESS",
    "NOT_COORDINATOR",
    "CONCURRENT_TRANSACTIONS",
    "REQUEST_TIMED_OUT",
    "NOT_LEADER_FOR_PARTITION",
    "NETWORK_EXCEPTION",
)
_ADVICE = {
    "No module named": ": install it on every worker of the cluster, and set PYSPARK_PYTHON to the"
    " Python that has it there",
    "Cannot run program": ": set PYSPARK_PYTHON to a Python that every worker of the cluster has,"
    " with Penstock and its spark extra installed",
}
LACKING = tuple(_ADVICE)
"""Signs of a worker that cannot work, however often it is retried."""
_CODE = re.compile(r"KafkaError\{code=(\w+)")
_NOISE = re.compile(r"^\[?(STREAM_FAILED|FOREACH_BATCH_USER_FUNCTION_ERROR)")
_SAYING = re.compile(r"^\s*(?:Caused by: )?([\w.$]*(?:Error|Exception)): (.+)$")
_CHARACTERS_MAX = 400
_BACKOFF_MAX_S = 15.0


def is_transient(error: BaseException) -> bool:
    text = _whole(error)
    return any(each in text for each in _TRANSIENT) or any(
        code in _TRANSIENT_CODES for code in _CODE.findall(text)
    )


def backoff_s(first_s: float, failures: int, chance: Callable[[], float] = random.random) -> float:
    """The wait before a run starts again after so many failures in a row."""
    return growing_wait_s(first_s, failures, _BACKOFF_MAX_S, chance)


def one_line(error: BaseException) -> str:
    """The innermost cause that has something to say."""
    said = [match for line in _whole(error).splitlines() if (match := _SAYING.match(line))]
    named = [each for each in said if not _NOISE.match(each[2])]
    if not named:
        return _short(str(error).strip().partition("\n")[0] or repr(error))
    # Python workers put the user's own exception last in their traceback, Java the cause.
    last = named[-1]
    return _short(f"{last[1].rpartition('.')[2]}: {last[2]}") + _advice(last[2])


def _advice(said: str) -> str:
    return next((what for sign, what in _ADVICE.items() if sign in said), "")


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _CHARACTERS_MAX else flat[: _CHARACTERS_MAX - 1] + "…"


def _whole(error: BaseException) -> str:
    parts = [f"{type(error).__module__}.{type(error).__qualname__}: {error}"]
    for cause in (error.__cause__, getattr(error, "java_exception", None)):
        if cause is not None:
            parts.append(str(cause))
    stack = getattr(error, "_stackTrace", None) or getattr(error, "stackTrace", None)
    if isinstance(stack, str):
        parts.append(stack)
    return "\n".join(parts)
