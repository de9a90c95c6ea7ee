"""The cluster a command talks to: its address, quiet clients for it, and its errors in one line."""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.profile import Target
from penstock.cli.reference import resolved

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Producer
    from confluent_kafka.admin import AdminClient

    from penstock.cli.wire_security import Connect

DEFAULT_PORT = 9092
TIMEOUT_S_MAX = 3600.0
"""The longest that librdkafka lets a request wait."""
_GRACE_S = 5.0


class Cluster:
    def __init__(
        self,
        target: Target,
        *,
        timeout_s: float = 10.0,
        client_settings: Iterable[str] = (),
    ) -> None:
        if not 0.001 <= timeout_s <= TIMEOUT_S_MAX:
            raise UsageFailure(
                f"--timeout takes seconds, above 0 and up to {TIMEOUT_S_MAX:.0f}, not {timeout_s:g}"
            )
        self.bootstrap_servers = target.bootstrap_servers
        self.timeout_s = timeout_s
        given = dict(target.settings) | key_values(client_settings, "-X")
        self.given_settings = resolved(given, "client settings")
        self._admin: AdminClient | None = None
        self._refused: str | None = None
        self._unanswered: str | None = None
        self._connect: Connect | None = None

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
        own = {"group.id": "penstock-cli", "enable.auto.commit": False}
        # A full queue is otherwise looked at once a second.
        own |= {"fetch.queue.backoff.ms": 20} | settings
        return Consumer(self._client(**own), logger=_silence())

    def client_settings(self) -> dict[str, Any]:
        """For code that makes its own clients: librdkafka's settings, quiet ones."""
        return self._client() | {"logger": _silence()}

    def _client(self, **settings: Any) -> dict[str, Any]:
        self._reach()
        own = {
            "bootstrap.servers": self.bootstrap_servers,
            "client.id": "penstock-cli",
            "error_cb": self._note,
        }
        return own | {key.replace("_", "."): v for key, v in settings.items()} | self.given_settings

    @property
    def connect(self) -> Connect:
        """For requests that the library has no call for."""
        if self._connect is None:
            from penstock.cli.wire_security import connector

            self._connect = connector(self.given_settings, self.timeout_s)
        return self._connect

    def _addresses(self) -> list[tuple[str, int]]:
        return [parse_address(each) for each in self.bootstrap_servers.split(",")]

    def _reach(self) -> None:
        """Fail at once where nothing listens; the library would try until its time-out."""
        for host, port in self._addresses():
            try:
                socket.create_connection((host, port), timeout=self.timeout_s).close()
                return
            except (OSError, UnicodeError):  # The latter for a name that cannot be one.
                continue
        raise self.unreachable()

    def _note(self, error: Any) -> None:
        """A login that fails is told here alone; calls only say that nobody answered."""
        from confluent_kafka import KafkaError

        if error.code() == KafkaError._AUTHENTICATION:
            said = error.str().rpartition("SASL authentication error: ")[2]
            self._refused = re.sub(r" \(after \d+ms in state \w+\)$", "", said)

    def unreachable(self) -> Failure:
        if self._admin is not None:
            self._admin.poll(0)
        if self._refused is not None:
            return Failure(f"{self.bootstrap_servers} refuses the login: {self._refused}")
        if self._unanswered is None:
            self._unanswered = self._why_unanswered()
        return Failure(self._unanswered)

    def _why_unanswered(self) -> str:
        from penstock.cli.listening import Listening, advice, answers, what_listens

        there = what_listens(self._addresses(), self.timeout_s)
        settings = self.given_settings
        if there is not Listening.nothing and answers(self._addresses(), settings, self.timeout_s):
            return (
                f"the brokers at {self.bootstrap_servers} answer, but not to this; is there an "
                "active controller (`penstock doctor` tells), and is --timeout long enough?"
            )
        is_encrypted = "ssl" in settings.get("security.protocol", "").lower()
        return advice(there, self.bootstrap_servers, is_encrypted=is_encrypted)

    def answer_of(self, future: Any) -> Any:
        """Of a call of the library, which waits longer than it was asked to where a broker has
        the request and does not answer."""
        try:
            return future.result(self.timeout_s + _GRACE_S)
        except TimeoutError as error:
            raise self.unreachable() from error

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


def is_internal(topic: str) -> bool:
    """By its name: librdkafka's metadata leaves out what the broker says of it."""
    return topic.startswith("__")


def parse_address(text: str) -> tuple[str, int]:
    address = re.sub(r"^[A-Z_]+://", "", text.strip())
    host, colon, port = address.rpartition(":")
    if not colon:
        host, port = address, str(DEFAULT_PORT)
    if not host or not re.fullmatch(r"[0-9]{1,5}", port) or not 0 < int(port) < 65536:
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


def _silence() -> logging.Logger:
    """librdkafka writes to stderr unless it is given a logger; this one keeps it to itself."""
    logger = logging.getLogger("penstock.cli.librdkafka")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
    return logger
