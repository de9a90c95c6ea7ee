"""One node of a cluster under test: a process with three listeners, at ports that stay."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from penstock.testing.broker import Broker
from penstock.testing.nursery import Nursery, Order
from penstock.testing.port import HOST


class Ports(NamedTuple):
    clients: int
    brokers: int
    controllers: int


class ClusterNode(Broker):
    """`told` are the ports that other nodes are told: its own, or those of a proxy before them."""

    ready_s = 60.0
    """A node is ready when the controllers have let it in, and those may be starting too."""
    stop_s = 60.0
    """It waits for half a minute until others lead what it led."""

    def __init__(
        self,
        node_id: int,
        folder: Path,
        own: Ports,
        told: Ports,
        settings: Mapping[str, object],
        *,
        log_level: str = "info",
        serves_metrics: bool = False,
        prepare: str | None = None,
        nursery: Nursery | None = None,
    ) -> None:
        super().__init__(
            folder / f"node-{node_id}",
            _place(node_id, folder, own, told) | dict(settings),
            log_level=log_level,
            nursery=nursery,
        )
        self.id = node_id
        self.ports = own
        self.told = told
        self.serves_metrics = serves_metrics
        self.prepare = prepare
        self.is_paused = False

    @property
    def bootstrap_servers(self) -> str:
        return f"{HOST}:{self.ports.clients}"

    @property
    def address(self) -> tuple[str, int]:
        """Where it serves clients."""
        return HOST, self.ports.clients

    @property
    def config_file(self) -> Path:
        """As for `penstock start --config`."""
        return self.data_dir.with_name(self.data_dir.name + ".properties")

    def write_config(self) -> None:
        lines = (f"{key}={value}\n" for key, value in self.settings.items())
        self.config_file.write_text("".join(lines))

    def launch(self) -> None:
        self.is_paused = False
        super().launch()

    def pause(self) -> None:
        super().pause()
        self.is_paused = True

    def resume(self) -> None:
        super().resume()
        self.is_paused = False

    def _order(self) -> Order:
        return Order(
            log=str(self.log_file),
            settings=self.settings,
            log_level=self._log_level,
            metrics=f"{HOST}:0" if self.serves_metrics else None,
            prepare=self.prepare,
        )


def _place(node_id: int, folder: Path, own: Ports, told: Ports) -> dict[str, object]:
    names = ("PLAINTEXT", "INTERNAL", "CONTROLLER")
    return {
        "process.roles": "broker,controller",
        "node.id": node_id,
        "listeners": _listeners(names, own),
        "advertised.listeners": _listeners(names, told),
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in names),
        "inter.broker.listener.name": "INTERNAL",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": folder / f"node-{node_id}",
    }


def _listeners(names: tuple[str, ...], ports: Ports) -> str:
    return ",".join(f"{name}://{HOST}:{port}" for name, port in zip(names, ports, strict=True))
