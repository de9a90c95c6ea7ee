"""The cluster a command talks to: its address, quiet clients for it, and its errors in one line."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from penstock.cli.failure import Failure, UsageFailure

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Producer
    from confluent_kafka.admin import AdminClient

DEFAULT_BOOTSTRAP_SERVERS = "127.0.0.1:9092"
BOOTSTRAP_VARIABLE = "PENSTOCK_BOOTSTRAP_SERVERS"
DEFAULT_PORT = 9092


class Cluster:
    def __init__(
        self,
        bootstrap_servers: str | None = None,
        *,
        timeout_s: float = 10.0,
        client_settings: Iterable[str] = (),
    ) -> None:
        named = bootstrap_servers or os.environ.get(BOOTSTRAP_VARIABLE)
        self.bootstrap_servers = named or DEFAULT_BOOTSTRAP_SERVERS
        self.timeout_s = timeout_s
        self._settings = dict(_client_setting(each) for each in client_settings)
        self._admin: AdminClient | None = None

    def admin(self) -> AdminClient:
        if self._admin is None:
            from confluent_kafka.admin import AdminClient

            self._admin = AdminClient(self._client(), logger=_silence())
        return self._admin

    def producer(self, **settings: Any) -> Producer:
        from confluent_kafka import Producer

        return Producer(self._client(**settings), logger=_silence())

    def consumer(self, **settings: Any) -> Consumer:
        from confluent_kafka import Consumer

        # The library wants a group's name even where none is joined: partitions are assigned.
        own = {"group.id": "penstock-cli", "enable.auto.commit": False} | settings
        return Consumer(self._client(**own), logger=_silence())

    def client_settings(self) -> dict[str, Any]:
        """For code that makes its own clients: librdkafka's settings, quiet ones."""
        return self._client() | {"logger": _silence()}

    def _client(self, **settings: Any) -> dict[str, Any]:
        self._reach()
        own = {
            "bootstrap.servers": self.bootstrap_servers,
            "client.id": "penstock-cli",
            "error_cb": lambda _: None,
        }
        return own | {key.replace("_", "."): v for key, v in settings.items()} | self._settings

    @property
    def secured(self) -> bool:
        return "security.protocol" in self._settings

    def _reach(self) -> None:
        """Fail at once where nothing listens; the library would try until its time-out."""
        addresses = [parse_address(each) for each in self.bootstrap_servers.split(",")]
        for host, port in addresses:
            try:
                socket.create_connection((host, port), timeout=self.timeout_s).close()
                return
            except OSError:
                continue
        raise self.unreachable()

    def unreachable(self) -> Failure:
        return Failure(
            f"no broker answers at {self.bootstrap_servers}; start one with `penstock start`, "
            "or name another with -b"
        )

    def metadata(self) -> Any:
        with self.explaining():
            return self.admin().list_topics(timeout=self.timeout_s)

    @contextmanager
    def explaining(self) -> Iterator[None]:
        from confluent_kafka import KafkaException

        try:
            yield
        except KafkaException as error:
            raise self.explain(error) from error

    def explain(self, error: Exception) -> Failure:
        """A KafkaException as the one line a person can act on."""
        from confluent_kafka import KafkaError

        cause = error.args[0] if error.args else None
        if not isinstance(cause, KafkaError):
            return Failure(str(error))
        unreachable = (
            KafkaError._TRANSPORT,
            KafkaError._ALL_BROKERS_DOWN,
            KafkaError._TIMED_OUT,
            KafkaError._RESOLVE,
        )
        if cause.code() in unreachable:
            return self.unreachable()
        if cause.code() == KafkaError._INVALID_ARG:
            return UsageFailure(reason(cause))
        return Failure(reason(cause))


def reason(error: Any) -> str:
    """What went wrong, in the broker's words where it sent some, with Kafka's name for it."""
    said = error.str().removeprefix("Broker: ").rstrip(".")
    return f"{said} ({error.name()})" if error.code() > 0 else said


def unknown_topic(topic: str) -> Failure:
    return Failure(f"there is no topic {topic}; `penstock topics list` shows those there are")


def parse_address(text: str) -> tuple[str, int]:
    host, colon, port = text.strip().removeprefix("PLAINTEXT://").rpartition(":")
    if not colon:
        host, port = text.strip(), str(DEFAULT_PORT)
    if not port.isdecimal() or not host:
        raise UsageFailure(f"a broker's address is HOST:PORT, not {text!r}")
    return host.strip("[]"), int(port)


def key_values(pairs: Iterable[str], option: str) -> dict[str, str]:
    settings = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise UsageFailure(f"{option} takes KEY=VALUE, not {pair!r}")
        settings[key.strip()] = value.strip()
    return settings


def _client_setting(pair: str) -> tuple[str, str]:
    (setting,) = key_values([pair], "-X").items()
    return setting


def _silence() -> logging.Logger:
    """librdkafka writes to stderr unless it is given a logger; this one keeps it to itself."""
    logger = logging.getLogger("penstock.cli.librdkafka")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
    return logger
