"""A producer that gives up is a finding of the run, and does not end it."""

from __future__ import annotations

import time

import pytest
from confluent_kafka import KafkaError, KafkaException

from tools.exactly_once.feeder import Feeder
from tools.exactly_once.outcome import Result
from tools.exactly_once.verdict import drain

NOWHERE = "127.0.0.1:9"


class DeadProducer:
    """As librdkafka's after a fatal error."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __len__(self) -> int:
        return 3

    def produce(self, *_: object, **__: object) -> None:
        return

    def poll(self, timeout_s: float) -> int:
        raise self._error


FATAL = KafkaException(KafkaError(KafkaError._FATAL, "sequence desynchronization", fatal=True))


@pytest.mark.parametrize("error", [FATAL, SystemError("returned NULL")])
def test_a_producer_that_gives_up_is_a_violation(error: Exception) -> None:
    feeder = Feeder(NOWHERE, 1000)
    feeder._producer = DeadProducer(error)  # type: ignore[assignment]
    feeder.start()
    feeder.join(60)
    assert not feeder.is_alive()
    result = Result(target="penstock", seed=1, fault=None, copiers=1)
    drain(feeder, result, 60)
    assert result.violations == [f"producer: {error}"]


def test_what_is_not_acknowledged_in_time_is_a_violation() -> None:
    feeder = Feeder(NOWHERE, 1000)
    feeder.start()
    result = Result(target="penstock", seed=1, fault=None, copiers=1)
    while not feeder.events:
        time.sleep(0.01)
    drain(feeder, result, 0.1)
    (found,) = result.violations
    assert found.startswith("stuck: ") and found.endswith("of the source were not acknowledged")
