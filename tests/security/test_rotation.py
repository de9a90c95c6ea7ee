"""Certificates and passwords change while clients work: nobody is dropped who should not be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.testing.broker import Broker
from penstock.testing.port import HOST, free_port
from tests.patience import wait_until
from tests.security.rotation_kit import MECHANISM, PATIENCE_S, TOPIC, Login, Reader, Writer, kinds
from tests.security.sasl_kit import ALICE, set_password
from tests.security.tls_kit import Keys

ROUNDS = 3
EACH_ROUND = 50
Kind = Callable[[Login], Writer]


@pytest.mark.java
def test_under_load(tmp_path: Path) -> None:
    """With one writer of each client from before, and another with each new password."""
    keys = Keys(tmp_path / "keys")
    opened, secured = f"{HOST}:{free_port()}", f"{HOST}:{free_port()}"
    settings = keys.node_settings | {
        "listeners": f"PLAINTEXT://{opened},SASL_SSL://{secured}",
        "sasl.enabled.mechanisms": MECHANISM,
    }
    new_writer = kinds(tmp_path)
    # Not another of Java: it takes seconds to start.
    later = [new_writer[name] for name in ("confluent-kafka", "kafka-python", "aiokafka")]

    with Broker(tmp_path / "data", settings) as broker, ExitStack() as at_work:

        def begin(kind: Kind, login: Login) -> Writer:
            writer = kind(login)
            at_work.callback(writer.stop)
            return writer

        set_password(opened, *ALICE)
        admin = AdminClient({"bootstrap.servers": opened, "log_level": 0})
        admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(PATIENCE_S)
        first = Login(secured, keys, *ALICE)
        writers = [begin(kind, first) for kind in new_writer.values()]
        # A connection that is only made after the change would need the new password.
        _wait_for_more(writers, 1)
        reader = Reader(first)
        at_work.callback(reader.stop)
        wait_until(lambda: reader.seen > 0 or reader.failures, "the reader is connected")
        for number in range(ROUNDS):
            keys.write("node.pem", keys.authority.issue("node", hosts=("localhost", HOST)).keystore)
            taken = number + 1
            wait_until(
                lambda taken=taken: broker.log.count("TLS certificates changed") >= taken,
                "the certificate is taken",
            )
            set_password(opened, ALICE[0], f"password {number}")
            writers.append(
                begin(later[number], Login(secured, keys, ALICE[0], f"password {number}"))
            )
            _wait_for_more(writers, EACH_ROUND)
        reader.end_at(sum(writer.end() for writer in writers))


def _wait_for_more(writers: Sequence[Writer], count: int) -> None:
    """Those from before and the new one go on."""
    for writer, wanted in [(each, each.acknowledged + count) for each in writers]:
        wait_until(
            lambda writer=writer, wanted=wanted: writer.acknowledged >= wanted or writer.failures,
            f"{type(writer).__name__} has {wanted} acknowledgements",
        )
        assert writer.failures == []
