"""The broker that a hostile test has for itself, Penstock or Apache Kafka, and what it may cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from confluent_kafka.admin import AdminClient, NewTopic

from penstock.testing.broker import Broker
from tests.hostile.bystander import TOPIC, Bystander, Waits
from tests.node.wire_kit import Wire
from tools.apache_kafka import ApacheKafka

MB = 1 << 20
WAIT_S_MAX = 0.5
HANGS_S = 20.0
"""However busy the machine is: nobody is kept waiting for that long."""
MEMORY_MB_MAX = 300
NEVER_FLUSHED = {"flush.messages": str(2**63 - 1)}
"""So that the bystander waits for the broker and not for the disk."""


@dataclass(frozen=True)
class Outcome:
    """What one hostile thing did, a row of the table in docs/reliability.md."""

    case: str
    asked: int
    wait_s: float
    broker_s: float
    memory_mb: float
    failure: str | None


class OutOfTime(Exception):
    """A test took longer than its target is given."""


class Target:
    def __init__(
        self, broker: Broker | ApacheKafka, note: Callable[[dict[str, Any]], None]
    ) -> None:
        self.broker = broker
        self.is_penstock = isinstance(broker, Broker)
        self._note = note

    @property
    def address(self) -> str:
        return self.broker.bootstrap_servers

    @property
    def pid(self) -> int:
        return self.broker.pid

    @property
    def data_dir(self) -> Path:
        return self.broker.data_dir

    @property
    def log(self) -> str:
        return self.broker.log_file.read_text(errors="replace")

    def wire(self, timeout_s: float = 30.0) -> Wire:
        return Wire(self.address, timeout_s)

    def create_topic(
        self, name: str, partitions: int = 1, config: Mapping[str, str] | None = None
    ) -> None:
        # Silent: a broker that is killed under it is none of its business.
        admin = AdminClient({"bootstrap.servers": self.address, "log_level": 0})
        new = NewTopic(name, partitions, config=dict(config or {}))
        admin.create_topics([new])[name].result(30)

    @contextmanager
    def watched(
        self,
        case: str,
        *,
        wait_s_max: float = WAIT_S_MAX,
        memory_mb_max: float = MEMORY_MB_MAX,
        connects: bool = True,
    ) -> Iterator[None]:
        """A bystander is served all the while, and the broker's memory stays within its limit.

        Of Apache Kafka it is only noted. Without `connects` the bystander opens no new connection.
        """
        if not self._has_bystander_topic():
            self.create_topic(TOPIC, config=NEVER_FLUSHED)
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")
        before = self._status("VmRSS")
        bystander = Bystander(self.address, self.pid, connects=connects)
        try:
            yield
            waits = bystander.end()
        except BaseException as error:
            bystander.kill()
            if not self.is_penstock and isinstance(error, OutOfTime | OSError | AssertionError):
                self._note(asdict(Outcome(case, 0, 0.0, 0.0, 0.0, _in_short(error))))
            raise
        grown_mb = max(0.0, (self._status("VmHWM") - before) / MB)
        self._judge(case, waits, grown_mb, wait_s_max, memory_mb_max)

    def _judge(
        self, case: str, waits: Waits, grown_mb: float, wait_s_max: float, memory_mb_max: float
    ) -> None:
        blamed_s = waits.worst.blamed_seconds
        outcome = Outcome(case, waits.asked, waits.seconds, blamed_s, grown_mb, waits.failure)
        self._note(asdict(outcome))
        if not self.is_penstock:
            return
        assert waits.failure is None, f"{case}: the bystander was refused: {waits.failure}"
        assert blamed_s <= wait_s_max, f"{case}: the bystander waited {waits.longest}"
        assert waits.seconds <= HANGS_S, f"{case}: the bystander waited {waits.longest}"
        assert grown_mb <= memory_mb_max, f"{case}: the broker grew by {grown_mb:.0f} MB"

    def memory_bytes(self) -> int:
        return self._status("VmRSS")

    def _status(self, name: str) -> int:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(name)).split()[1]) * 1024

    def _has_bystander_topic(self) -> bool:
        admin = AdminClient({"bootstrap.servers": self.address, "log_level": 0})
        return TOPIC in admin.list_topics(timeout=30).topics


def _in_short(error: BaseException) -> str:
    if isinstance(error, OutOfTime):
        return str(error)
    if isinstance(error, AssertionError):
        return "answered otherwise"
    return type(error).__name__
