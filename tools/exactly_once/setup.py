"""What all parts of the test agree on: names, settings, and how a record says who copied it."""

from __future__ import annotations

import time
from typing import Any, Final

SOURCE: Final = "source"
COPY: Final = "copy"
GROUP: Final = "copiers"
PARTITIONS: Final = 4
# The header of a copied record that names the transaction which wrote it.
TRANSACTION_HEADER: Final = "transaction"

SESSION_TIMEOUT_MS: Final = 2_000
TRANSACTION_TIMEOUT_MS: Final = 10_000

# Both brokers know these. Dead members and dangling transactions must go within seconds.
BROKER_SETTINGS: Final = {
    "group.min.session.timeout.ms": "500",
    "group.initial.rebalance.delay.ms": "0",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
}


def client_settings(bootstrap: str) -> dict[str, Any]:
    """librdkafka's; it is to come back quickly after each crash, and to keep quiet about it."""
    settings: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "log_level": 0,
        "reconnect.backoff.ms": 20,
        "reconnect.backoff.max.ms": 200,
        "retry.backoff.ms": 20,
        "topic.metadata.refresh.interval.ms": 5_000,
    }
    if "," not in bootstrap:
        # With the only broker down the client would start from scratch and forget it; a request
        # with offsets that waits for its coordinator then waits for ever (librdkafka #5511). With
        # several it has to: it forgets those that are down while others are up.
        settings["metadata.recovery.strategy"] = "none"
    return settings


def now_s() -> float:
    """A clock that all processes of this machine share, and that nobody sets."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)
