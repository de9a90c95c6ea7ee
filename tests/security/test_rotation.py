"""Certificates and passwords change while clients work: nobody is dropped who should not be."""

from __future__ import annotations

import threading
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.testing.broker import Broker
from penstock.testing.port import HOST, free_port
from tests.authorization.login import wait_until
from tests.security.sasl_kit import ALICE, set_password
from tests.security.tls_kit import Keys

PATIENCE_S = 60
ROUNDS = 3
EACH_ROUND = 50


class Writer:
    """Writes one record after the other in a thread, over one connection, until it is ended."""

    def __init__(self, settings: dict[str, str]) -> None:
        self.acknowledged = 0
        self.failures: list[str] = []
        self._producer = Producer(settings | {"linger.ms": "0", "acks": "all"})
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while not self._ending.wait(0.005):
            self._producer.produce("t", b"x", partition=0, on_delivery=self._told)
            self._producer.poll(0)
        self._producer.flush(PATIENCE_S)

    def _told(self, error: KafkaError | None, _: Message) -> None:
        if error is not None:
            self.failures.append(error.str())
        self.acknowledged += error is None

    def end(self) -> int:
        self._ending.set()
        self._thread.join(2 * PATIENCE_S)
        assert not self._thread.is_alive() and self.failures == []
        return self.acknowledged


class Reader:
    """A group of one that reads along, and commits, until it has seen as much as was written."""

    def __init__(self, settings: dict[str, str]) -> None:
        self.seen = 0
        self.failures: list[str] = []
        own = {"group.id": "g", "auto.offset.reset": "earliest"}
        self._consumer = Consumer(settings | own)
        self._consumer.subscribe(["t"])
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while not self._ending.is_set():
            message = self._consumer.poll(0.1)
            if message is not None and message.error() is not None:
                self.failures.append(message.error().str())
            elif message is not None:
                self.seen += 1
        self._consumer.close()

    def end(self, total: int) -> None:
        wait_until(lambda: self.seen >= total or self.failures, f"{total} records are read")
        self._ending.set()
        self._thread.join(2 * PATIENCE_S)
        assert (self.seen, self.failures) == (total, [])


def test_under_load(tmp_path: Path) -> None:
    keys = Keys(tmp_path / "keys")
    opened, secured = f"{HOST}:{free_port()}", f"{HOST}:{free_port()}"
    settings = keys.node_settings | {
        "listeners": f"PLAINTEXT://{opened},SASL_SSL://{secured}",
        "sasl.enabled.mechanisms": "SCRAM-SHA-256",
    }

    def client(password: str) -> dict[str, str]:
        login = {"sasl.mechanism": "SCRAM-SHA-256", "sasl.username": ALICE[0]}
        own = {"security.protocol": "SASL_SSL", "sasl.password": password, "log_level": "0"}
        return keys.librdkafka() | login | own | {"bootstrap.servers": secured}

    with Broker(tmp_path / "data", settings) as broker:
        set_password(opened, *ALICE)
        admin = AdminClient({"bootstrap.servers": opened, "log_level": 0})
        admin.create_topics([NewTopic("t", 1, 1)])["t"].result(PATIENCE_S)
        writers = [Writer(client(ALICE[1]))]
        # A connection that is only made after the change would need the new password.
        wait_until(lambda: writers[0].acknowledged > 0, "the first writer is connected")
        reader = Reader(client(ALICE[1]))
        wait_until(lambda: reader.seen > 0, "the reader is connected")
        for number in range(ROUNDS):
            new = keys.authority.issue("node", hosts=("localhost", HOST))
            keys.write("node.pem", new.keystore)
            taken = number + 1
            wait_until(
                lambda taken=taken: broker.log.count("TLS certificates changed") >= taken,
                "the certificate is taken",
            )
            set_password(opened, ALICE[0], f"password {number}")
            writers.append(Writer(client(f"password {number}")))
            wanted = [each.acknowledged + EACH_ROUND for each in writers]
            for writer, count in zip(writers, wanted, strict=True):
                wait_until(
                    lambda writer=writer, count=count: (
                        writer.acknowledged >= count or writer.failures
                    ),
                    f"of {wanted} acknowledgements, {count} for this one: those from before and "
                    "the new one go on",
                )
        total = sum(writer.end() for writer in writers)
        reader.end(total)
