"""An idempotent producer goes on after a restart, whatever of it was written and not answered."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Message, Producer

from penstock.records.header import iter_batches
from penstock.testing.broker import Broker
from tests.patience import wait_until

PATIENCE_S = 60.0
IN_FLIGHT = 5
TOPIC = "orders"


class Proxy:
    """Between clients and a broker. While `is_mute`, what the broker answers is lost."""

    def __init__(self) -> None:
        self.is_mute = False
        self.target = 0
        self._door = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return "{}:{}".format(*self._door.getsockname())

    def drop_all(self) -> None:
        while self._open:
            one = self._open.pop()
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def close(self) -> None:
        self._door.close()
        self.drop_all()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client = self._door.accept()[0]
                try:
                    server = socket.create_connection(("127.0.0.1", self.target))
                except OSError:
                    client.close()
                    continue
                self._open += [client, server]
                for pump in (self._ask, self._answer):
                    threading.Thread(target=pump, args=(client, server), daemon=True).start()

    def _ask(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(1 << 16):
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)

    def _answer(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(1 << 16):
                if not self.is_mute:
                    client.sendall(data)
            client.shutdown(socket.SHUT_WR)


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with closing(Proxy()) as proxy:
        yield proxy


@pytest.fixture
def broker(tmp_path: Path, proxy: Proxy) -> Iterator[Broker]:
    told = {"advertised.listeners": f"PLAINTEXT://{proxy.address}", "num.partitions": "1"}
    with Broker(tmp_path / "data", told) as broker:
        proxy.target = int(broker.bootstrap_servers.rpartition(":")[2])
        yield broker


class Sender:
    """Each value is a batch of its own."""

    def __init__(self, servers: str) -> None:
        self.delivered: dict[str, int | None] = {}
        self.errors: list[str] = []
        self._producer = Producer(
            {
                "bootstrap.servers": servers,
                "enable.idempotence": True,
                "max.in.flight": IN_FLIGHT,
                "linger.ms": 0,
                "batch.num.messages": 1,
                "message.timeout.ms": 0,
                "reconnect.backoff.max.ms": 200,
                "log_level": 0,
                # As long as the broker is down, it is still to be found there.
                "metadata.recovery.strategy": "none",
            }
        )

    def send(self, value: str) -> None:
        self._producer.produce(TOPIC, value, partition=0, on_delivery=self._on_delivery)

    def wait(self) -> None:
        left = self._producer.flush(PATIENCE_S)
        assert not self.errors
        assert left == 0

    def _on_delivery(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.errors.append(str(error))
            return
        self.delivered[(message.value() or b"").decode()] = message.offset()


def written(broker: Broker) -> int:
    """How many batches stand in the log."""
    files = sorted((broker.data_dir / f"{TOPIC}-0").glob("*.log"))
    data = b"".join(file.read_bytes() for file in files)
    return sum(1 for _ in iter_batches(data, 0, len(data)))


@pytest.mark.parametrize("end", [Broker.stop, Broker.kill], ids=["stopped", "killed"])
def test_what_was_unanswered_is_written_once(
    broker: Broker, proxy: Proxy, end: Callable[[Broker], object]
) -> None:
    sender = Sender(proxy.address)
    sender.send("first")
    sender.wait()
    proxy.is_mute = True
    values = [f"unanswered {number}" for number in range(IN_FLIGHT)]
    for value in values:
        sender.send(value)
    wait_until(lambda: written(broker) == 1 + IN_FLIGHT)
    end(broker)
    proxy.drop_all()
    proxy.is_mute = False
    broker.start()
    sender.send("last")
    sender.wait()
    sent = ["first", *values, "last"]
    assert sender.delivered == {value: offset for offset, value in enumerate(sent)}
    read = broker.read(TOPIC, timeout_s=PATIENCE_S)
    assert [(each.value or b"").decode() for each in read] == sent
