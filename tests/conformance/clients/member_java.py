"""Kafka's Java consumer as a member of a consumer group, by way of the Java host."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import quote_plus, unquote_plus

from tests.conformance.clients.member import Committed, Joining, Place
from tests.conformance.clients.record import PATIENCE_SECONDS, BrokerError, Record

_ASSIGNORS = {
    "range": "RangeAssignor",
    "roundrobin": "RoundRobinAssignor",
    "sticky": "StickyAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
}


def _word(place: Place) -> str:
    return f"{place[0]}:{place[1]}"


def _place(word: str) -> Place:
    topic, partition = word.rsplit(":", 1)
    return topic, int(partition)


def _places(words: str) -> frozenset[Place]:
    return frozenset(_place(word) for word in words.split(",") if word)


def _settings(bootstrap_servers: str, joining: Joining) -> dict[str, object]:
    settings: dict[str, object] = {
        "bootstrap.servers": bootstrap_servers,
        "group.id": joining.group,
        "group.protocol": joining.protocol,
        "max.poll.interval.ms": joining.poll_interval_ms,
        "auto.offset.reset": joining.reset,
        "enable.auto.commit": str(joining.auto_commit).lower(),
        "auto.commit.interval.ms": 200,
        "metadata.max.age.ms": 500,
        "fetch.max.wait.ms": 100,
    }
    if joining.instance is not None:
        settings["group.instance.id"] = joining.instance
    if joining.protocol == "classic":
        assignors = [
            f"org.apache.kafka.clients.consumer.{_ASSIGNORS[s]}" for s in joining.strategies
        ]
        settings["partition.assignment.strategy"] = ",".join(assignors)
        settings["session.timeout.ms"] = joining.session_ms
        settings["heartbeat.interval.ms"] = 300
    elif joining.assignor is not None:
        settings["group.remote.assignor"] = joining.assignor
    return settings


class JavaMember:
    name = "Java client"
    strategies = tuple(_ASSIGNORS)

    def __init__(self, port: int, bootstrap_servers: str, joining: Joining) -> None:
        self.events: list[tuple[str, frozenset[Place]]] = []
        self._assigned: frozenset[Place] = frozenset()
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
        self._answers = self._socket.makefile("r", encoding="utf-8", newline="\n")
        settings = _settings(bootstrap_servers, joining)
        self._call("open", *(f"{key}={value}" for key, value in settings.items()))
        if joining.pattern is not None:
            # The new protocol has the broker match, the classic one the client.
            kind = "regex" if joining.protocol == "consumer" else "pattern"
            self._call(kind, quote_plus(joining.pattern))
        elif joining.topics:
            self._call("topics", *joining.topics)

    def _call(self, *words: str) -> list[str]:
        self._socket.sendall(("\t".join(words) + "\n").encode())
        outcome, *answer = self._answers.readline().rstrip("\n").split("\t")
        if outcome != "ok":
            raise BrokerError(int(answer[0]), unquote_plus(answer[1]))
        return answer

    def poll(self) -> list[tuple[Place, Record]]:
        assigned, events, records = self._call("poll", "50")
        for event in filter(None, events.split(";")):
            kind, places = event.split("=")
            self.events.append((kind, _places(places)))
        self._assigned = _places(assigned)
        return [_received(word) for word in records.split(",") if word]

    def idle(self) -> None:
        time.sleep(0.05)

    def assignment(self) -> set[Place]:
        return set(self._assigned)

    def subscribe(self, topics: Iterable[str]) -> None:
        self._call("topics", *topics)

    def assign(self, places: Mapping[Place, int | None]) -> None:
        words = (f"{_word(at)}={'' if to is None else to}" for at, to in places.items())
        self._call("assign", *words)

    def commit(self, offsets: Mapping[Place, Committed] | None = None) -> None:
        given = (offsets or {}).items()
        words = (f"{_word(at)}={to.offset}={quote_plus(to.metadata)}" for at, to in given)
        self._call("commit", *words)

    def commit_async(self, offsets: Mapping[Place, Committed]) -> Callable[[], bool]:
        self.commit(offsets)
        return lambda: True

    def committed(self, places: Iterable[Place]) -> dict[Place, Committed | None]:
        wanted = list(places)
        found: dict[Place, Committed | None] = dict.fromkeys(wanted)
        for word in filter(None, self._call("committed", *map(_word, wanted))):
            place, offset, metadata = word.split("=", 2)
            found[_place(place)] = Committed(int(offset), unquote_plus(metadata))
        return found

    def position(self, place: Place) -> int:
        return int(self._call("position", _word(place))[0])

    def close(self) -> None:
        try:
            self._call("close")
        finally:
            self._answers.close()
            self._socket.close()


def _received(word: str) -> tuple[Place, Record]:
    topic, partition, offset, value = word.split(":")
    record = Record(unquote_plus(value).encode(), partition=int(partition), offset=int(offset))
    return (topic, int(partition)), record
