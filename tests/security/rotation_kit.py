"""Writers of several clients and a reader, each over its own connections, at work until ended."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from aiokafka import AIOKafkaProducer
from confluent_kafka import Consumer, KafkaError, Message, Producer

from tests.conformance.clients.kafka_python import KafkaProducer
from tests.patience import wait_until
from tests.security.tls_kit import Keys
from tools.apache_kafka import start_program

TOPIC = "t"
MECHANISM = "SCRAM-SHA-256"
PATIENCE_S = 60
PAUSE_S = 0.005


class Login:
    """Of one user over SASL_SSL, in the words of each client."""

    def __init__(self, servers: str, keys: Keys, name: str, password: str) -> None:
        self._servers, self._keys = servers, keys
        self._name, self._password = name, password

    def librdkafka(self) -> dict[str, str]:
        return self._keys.librdkafka() | {
            "bootstrap.servers": self._servers,
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": MECHANISM,
            "sasl.username": self._name,
            "sasl.password": self._password,
            "log_level": "0",
        }

    def python(self) -> dict[str, Any]:
        return {
            "bootstrap_servers": self._servers,
            "security_protocol": "SASL_SSL",
            "ssl_context": self._keys.context(),
            "sasl_mechanism": MECHANISM,
            "sasl_plain_username": self._name,
            "sasl_plain_password": self._password,
        }

    def java(self) -> str:
        login = "org.apache.kafka.common.security.scram.ScramLoginModule required"
        return "\n".join(
            (
                "security.protocol=SASL_SSL",
                "ssl.truststore.type=PEM",
                f"ssl.truststore.location={self._keys.ca}",
                f"sasl.mechanism={MECHANISM}",
                f'sasl.jaas.config={login} username="{self._name}" password="{self._password}";',
            )
        )

    @property
    def servers(self) -> str:
        return self._servers


class Writer(Protocol):
    @property
    def acknowledged(self) -> int: ...

    @property
    def failures(self) -> list[str]: ...

    def end(self) -> int:
        """How many were acknowledged, in all."""

    def stop(self) -> None:
        """Whatever became of it."""


class _Thread:
    """Sends one record after the other in a thread."""

    def __init__(self, login: Login) -> None:
        self.acknowledged = 0
        self.failures: list[str] = []
        self.ending = threading.Event()
        self._login = login
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.work(self._login)
        except Exception as error:
            self.failures.append(repr(error))

    def work(self, login: Login) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        self.ending.set()

    def end(self) -> int:
        self.ending.set()
        self._thread.join(2 * PATIENCE_S)
        assert not self._thread.is_alive() and self.failures == []
        return self.acknowledged


class ByConfluent(_Thread):
    def work(self, login: Login) -> None:
        producer = Producer(login.librdkafka() | {"linger.ms": "0", "acks": "all"})
        while not self.ending.wait(PAUSE_S):
            producer.produce(TOPIC, b"x", partition=0, on_delivery=self._told)
            producer.poll(0)
        producer.flush(PATIENCE_S)

    def _told(self, error: KafkaError | None, _: Message) -> None:
        if error is not None:
            self.failures.append(error.str())
        self.acknowledged += error is None


class ByKafkaPython(_Thread):
    def work(self, login: Login) -> None:
        producer = KafkaProducer(**login.python(), acks="all")
        while not self.ending.wait(PAUSE_S):
            producer.send(TOPIC, b"x", partition=0).get(PATIENCE_S)
            self.acknowledged += 1
        producer.close()


class ByAiokafka(_Thread):
    def work(self, login: Login) -> None:
        asyncio.run(self._write(login))

    async def _write(self, login: Login) -> None:
        async with AIOKafkaProducer(**login.python(), acks="all") as producer:
            while not self.ending.is_set():
                await producer.send_and_wait(TOPIC, b"x", partition=0)
                self.acknowledged += 1
                await asyncio.sleep(PAUSE_S)


class ByJava:
    """Kafka's own verifiable producer: it says what was acknowledged, record by record."""

    _numbers = iter(range(1_000_000))

    def __init__(self, login: Login, folder: Path) -> None:
        name = f"java-{next(self._numbers)}"
        settings, self._said = folder / f"{name}.properties", folder / f"{name}.out"
        settings.write_text(login.java())
        args = ("--bootstrap-server", login.servers, "--topic", TOPIC, "--throughput", "100")
        self._process = start_program(
            "org.apache.kafka.tools.VerifiableProducer",
            [*args, "--command-config", str(settings)],
            self._said,
        )

    @property
    def acknowledged(self) -> int:
        return self._said.read_text().count('"producer_send_success"')

    @property
    def failures(self) -> list[str]:
        found = [each for each in self._said.read_text().splitlines() if "send_error" in each]
        return [*found, "it ended"] if self._process.poll() is not None else found

    def stop(self) -> None:
        self._process.terminate()
        self._process.communicate(timeout=PATIENCE_S)

    def end(self) -> int:
        assert self.failures == []
        self.stop()
        assert "send_error" not in self._said.read_text()
        return self.acknowledged


def kinds(folder: Path) -> Mapping[str, Callable[[Login], Writer]]:
    return {
        "confluent-kafka": ByConfluent,
        "kafka-python": ByKafkaPython,
        "aiokafka": ByAiokafka,
        "Java": lambda login: ByJava(login, folder),
    }


class Reader(_Thread):
    """A group of one that reads along, and commits, until it has seen as much as was written."""

    seen = 0

    def work(self, login: Login) -> None:
        own = {"group.id": "g", "auto.offset.reset": "earliest"}
        consumer = Consumer(login.librdkafka() | own)
        consumer.subscribe([TOPIC])
        while not self.ending.is_set():
            message = consumer.poll(0.1)
            if message is not None and message.error() is not None:
                self.failures.append(message.error().str())
            elif message is not None:
                self.seen += 1
        consumer.close()

    def end_at(self, total: int) -> None:
        wait_until(lambda: self.seen >= total or self.failures, f"{total} records are read")
        self.end()
        assert self.seen == total
