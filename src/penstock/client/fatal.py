"""Fatal errors of a producer, in one shape: a KafkaException whose error says `fatal()`.

After one (the transactional id was taken over, the sequence of records is broken) `poll` and
`flush` raise. confluent-kafka sets that exception inside one callback and goes on with the next, a
report or a log line. Python code that runs with an exception pending may lose it: the call then
ends in a SystemError that names no reason. So may a report's own code, after what it called was
carried out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import KafkaError, KafkaException


@contextmanager
def fatal_errors_told() -> Iterator[None]:
    """Around calls that hand out reports: `poll`, `flush`, `close`."""
    try:
        yield
    except SystemError as lost:
        reason = "the producer failed for good, or another has taken its transactional id over"
        raise KafkaException(KafkaError(KafkaError._FATAL, reason, fatal=True)) from lost
