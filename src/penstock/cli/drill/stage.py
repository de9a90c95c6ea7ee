"""The small company of a drill: three topics, who writes them, and the groups that read them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.cli.drill.feed import Feed, Manner
from penstock.cli.drill.member import Conduct, Member
from penstock.cli.failure import Failure

PARTITIONS: Final = 2
RATE: Final = 50.0
"""Records a second of each topic."""
WORK_S: Final = 0.004
"""That a record takes: a member can do five times what is written."""
_WAIT_S: Final = 20.0


@dataclass(slots=True)
class Service:
    """A group, and the topic that it reads."""

    name: str
    topic: str
    limit_s: float
    rate: float = RATE
    size: int = 1
    """Members that it begins with."""
    members: list[Member] = field(default_factory=list)
    feeds: dict[str, Feed] = field(default_factory=dict)
    conduct: Conduct = field(default_factory=lambda: Conduct(WORK_S))
    dealt_before: int = 0
    """By members that have ended."""

    @property
    def dealt(self) -> int:
        return self.dealt_before + sum(each.dealt for each in self.members)


class Stage:
    """`prefix` keeps it apart from what else is on the cluster; `hurry` makes limits that much
    stricter."""

    def __init__(self, servers: str, prefix: str, seed: int, hurry: float = 1.0) -> None:
        self.servers = servers
        self.downstream_s = 0.0
        """What every service calls takes so much longer."""
        self._seed = seed
        self._started = 0
        self.services = {
            name: Service(f"{prefix}{name}", f"{prefix}{topic}", limit_s / hurry)
            for name, topic, limit_s in (
                ("billing", "payments", 30.0),
                ("mailer", "mail", 60.0),
                ("analytics", "clicks", 3600.0),
            )
        }

    def start(self, names: Iterable[str] | None = None) -> None:
        """Some of the services, or all."""
        wanted = list(self.services if names is None else names)
        self._make_topics([self.services[each].topic for each in wanted])
        for each in wanted:
            service = self.services[each]
            self.feed(service, f"{service.topic}-site", Manner(service.rate))
            self.add_members(service, service.size)

    def _make_topics(self, topics: list[str]) -> None:
        admin = AdminClient({"bootstrap.servers": self.servers, "log_level": 0})
        made = admin.create_topics([NewTopic(each, PARTITIONS) for each in topics])
        for topic, future in made.items():
            try:
                future.result(_WAIT_S)
            except KafkaException as error:
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise Failure(f"topic {topic} could not be made: {error}") from error

    def feed(self, service: Service, client_id: str, manner: Manner) -> Feed:
        self._started += 1
        seed = self._seed + self._started
        started = Feed(self.servers, service.topic, client_id, PARTITIONS, manner, seed)
        service.feeds[client_id] = started
        started.start()
        return started

    def add_members(self, service: Service, count: int) -> None:
        for _ in range(count):
            self._started += 1
            started = Member(
                self.servers,
                service.name,
                service.topic,
                f"{service.name}-{self._started}",
                lambda: service.conduct.work_s + self.downstream_s,
                service.conduct,
            )
            service.members.append(started)
            started.start()

    def end_members(self, service: Service, keep: int = 0) -> None:
        ended, service.members = service.members[keep:], service.members[:keep]
        for each in ended:
            each.end()
        for each in ended:
            each.join(_WAIT_S)
            service.dealt_before += each.dealt

    def end(self, *, wait: bool = True) -> None:
        everybody: list[Feed | Member] = []
        for each in self.services.values():
            everybody += [*each.feeds.values(), *each.members]
        for one in everybody:
            one.end()
        for one in everybody if wait else ():
            one.join(_WAIT_S)
