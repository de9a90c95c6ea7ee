"""What a relay waits out, and what it does not."""

from __future__ import annotations

import threading

import pytest
from confluent_kafka import KafkaError, KafkaException

from penstock.client.outbox.patience import Patience


class Call:
    """Fails with each of these, and answers then."""

    def __init__(self, *codes: int) -> None:
        self._codes = list(codes)

    def __call__(self, step_s: float) -> str:
        if self._codes:
            raise KafkaException(KafkaError(self._codes.pop(0)))
        return "answered"


@pytest.mark.parametrize(
    "code",
    [
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_COORDINATOR,
        KafkaError._TIMED_OUT,
    ],
)
def test_a_group_that_moves_is_waited_for(code: int) -> None:
    assert Patience().wait(Call(code, code), finishing=False) == "answered"


def test_a_refusal_is_not_waited_out() -> None:
    with pytest.raises(KafkaException, match="GROUP_AUTHORIZATION_FAILED"):
        Patience().wait(Call(KafkaError.GROUP_AUTHORIZATION_FAILED))


def test_what_need_not_be_finished_ends_with_the_relay() -> None:
    ending = threading.Event()
    ending.set()
    with pytest.raises(KafkaException, match="NOT_COORDINATOR"):
        Patience(ending).wait(Call(KafkaError.NOT_COORDINATOR), finishing=False)
    assert Patience(ending).wait(Call(KafkaError.NOT_COORDINATOR)) == "answered"
