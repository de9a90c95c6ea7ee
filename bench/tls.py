"""TLS 1.3 beside Apache Kafka and beside plain text: produce, consume, new connections.

python -m bench.tls [--rounds 3] [--records 500000] [--connections 2000]
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from bench.command import CANNOT_RUN, begin
from bench.load.child import Spec, run_load
from bench.peer import FLUSH_OFF, KAFKA, PENSTOCK, Peer
from bench.process import cpu_seconds
from penstock.cli.security.authority import Authority
from penstock.testing.port import free_port
from tools.apache_kafka import ApacheKafka
from tools.penstock_broker import Penstock

HOST = "127.0.0.1"
PARTITIONS = 3
SIZE = 1024

Figures = dict[tuple[str, str], list[tuple[float, float]]]
"""By work and system: how much in a second, and the broker's CPU seconds."""


class Keys:
    def __init__(self, folder: Path) -> None:
        authority = Authority.create()
        self.ca, self.node = folder / "ca.pem", folder / "node.pem"
        self.certificate, self.key = folder / "client.crt", folder / "client.key"
        client = authority.issue("bench")
        self.ca.write_text(authority.certificate)
        self.node.write_text(authority.issue("node", hosts=(HOST, "localhost")).keystore)
        self.certificate.write_text(client.certificate)
        self.key.write_text(client.key)

    def settings(self) -> dict[str, str]:
        return {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.node),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.ca),
            "ssl.client.auth": "required",
        }

    def client(self) -> dict[str, str]:
        return {
            "security.protocol": "ssl",
            "ssl.ca.location": str(self.ca),
            "ssl.certificate.location": str(self.certificate),
            "ssl.key.location": str(self.key),
        }


@contextmanager
def systems(folder: Path, keys: Keys) -> Iterator[list[tuple[Peer, str]]]:
    """Each with the address of its encrypted listener."""
    with ExitStack() as stack:
        kafka, penstock = _kafka(folder, keys), _penstock(folder, keys)
        for broker, _ in (kafka, penstock):
            stack.enter_context(broker)
        yield [
            (Peer(KAFKA, kafka[0]), kafka[1]),
            (Peer(PENSTOCK, penstock[0], FLUSH_OFF), penstock[1]),
        ]


def _kafka(folder: Path, keys: Keys) -> tuple[ApacheKafka, str]:
    secure = f"{HOST}:{free_port()}"
    broker = ApacheKafka(folder / "kafka")
    names = f"PLAINTEXT://{broker.bootstrap_servers},SSL://{secure}"
    broker.settings |= keys.settings() | {
        "listeners": f"{names},CONTROLLER://{HOST}:{broker.controller_port}",
        "advertised.listeners": f"{names},CONTROLLER://{HOST}:{broker.controller_port}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL",
    }
    return broker, secure


def _penstock(folder: Path, keys: Keys) -> tuple[Penstock, str]:
    port, secure = free_port(), f"{HOST}:{free_port()}"
    settings = keys.settings() | {
        "listeners": f"PLAINTEXT://{HOST}:{port},SSL://{secure}",
        "log.dirs": str(folder / "penstock"),
    }
    config = folder / "penstock.properties"
    config.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return Penstock(folder / "penstock", port=port, config=config), secure


def measure(peer: Peer, secure: str, keys: Keys, options: argparse.Namespace) -> Figures:
    found: Figures = defaultdict(list)

    def run(work: str, module: str, spec: Spec, amount: float) -> None:
        before = cpu_seconds(peer.broker.pid)
        seconds = run_load(module, spec, timeout_s=180)["seconds"]
        spent = cpu_seconds(peer.broker.pid) - before
        found[work, peer.name].append((amount / seconds, spent))

    megabytes = options.records * SIZE / 1e6
    for kind, address, client in (
        ("plain", peer.broker.bootstrap_servers, {}),
        ("TLS", secure, keys.client()),
    ):
        with peer.topic(PARTITIONS) as topic:
            spec: Spec = {"bootstrap": address, "topic": topic, "client": client}
            spec |= {"count": options.records, "size": SIZE, "partitions": PARTITIONS}
            run(f"produce, {kind}, MB/s", "produce", spec, megabytes)
            run(f"consume, {kind}, MB/s", "consume", spec, megabytes)
    files = {"ca": str(keys.ca), "certificate": str(keys.certificate), "key": str(keys.key)}
    spec = {"bootstrap": secure, "count": options.connections} | files
    run("new connections with certificates, per second", "connect", spec, options.connections)
    return found


def main() -> int:
    options = _parse()
    say = begin()
    if say is None:
        return CANNOT_RUN
    figures: Figures = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="bench-tls-") as name:
        keys = Keys(Path(name))
        with systems(Path(name), keys) as peers:
            for number in range(options.rounds):
                for peer, secure in peers:
                    say(f"round {number + 1}: {peer.name}")
                    for key, values in measure(peer, secure, keys, options).items():
                        figures[key] += values
    print("\n" + _table(figures))
    return 0


def _table(figures: Figures) -> str:
    lines = [
        "| work | Kafka | Penstock | times | CPU s, Kafka | CPU s, Penstock |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for work in dict.fromkeys(work for work, _ in figures):
        one, other = (figures[work, name] for name in (KAFKA, PENSTOCK))
        rates = [median(rate for rate, _ in each) for each in (one, other)]
        spent = [median(cpu for _, cpu in each) for each in (one, other)]
        lines.append(
            f"| {work} | {rates[0]:,.0f} | {rates[1]:,.0f} | {rates[1] / rates[0]:.2f} "
            f"| {spent[0]:.2f} | {spent[1]:.2f} |"
        )
    return "\n".join(lines)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.tls", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--records", type=int, default=500_000)
    parser.add_argument("--connections", type=int, default=2000)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
