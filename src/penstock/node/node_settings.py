"""The settings in force on a node: its own, and what the metadata log changes of them."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.metadata.config import ConfigImage
from penstock.network.listener import Limits
from penstock.node.listeners import BoundListener
from penstock.settings.config import BrokerConfig
from penstock.storage.log_dirs import LogDirs
from penstock.telemetry.log import get_logger

log = get_logger("node")


class NodeSettings:
    def __init__(self, config: BrokerConfig) -> None:
        self._config = config
        self._mentioned: set[str] = set()

    def __call__(self) -> BrokerConfig:
        return self._config

    def settle(self, settled: dict[str, str]) -> None:
        """Decided by the command line or the directory, and told to clients like any other."""
        self._config = self._config.with_static(settled)

    def refresh(self, configs: ConfigImage, node_id: int) -> None:
        self._config = self._config.with_dynamic(configs.broker(node_id), configs.broker(None))
        self._mention()

    def _mention(self) -> None:
        """What was set and does nothing is said once, not at every change."""
        for names, event in (
            (self._config.unread, "settings accepted without effect"),
            (sorted(self._config.ignored), "changes of settings that cannot be followed"),
        ):
            new = [name for name in names if name not in self._mentioned]
            if new:
                self._mentioned.update(new)
                log.warning(event, settings=",".join(new))

    def limits(self, connections_below: int) -> Limits:
        config = self._config
        return Limits(
            frame_bytes_max=config.request_bytes_max,
            total_frame_bytes_max=config.request_memory_bytes,
            idle_ms_max=config.idle_ms_max,
            descriptors_max=connections_below,
        )


def settled(node_id: int, log_dirs: LogDirs, alone: Iterable[BoundListener]) -> dict[str, str]:
    """Settings decided by the command line or the directories, told to clients like any other.
    `alone`: the listeners of a node that no setting gives others."""
    own_id = str(node_id)
    data_dirs = ",".join(each.path for each in log_dirs.data)
    found = {"node.id": own_id, "broker.id": own_id, "log.dirs": data_dirs}
    own = list(alone)
    if own:
        found["listeners"] = ",".join(f"{each.name}://{each.address}" for each in own)
        found["advertised.listeners"] = ",".join(f"{each.name}://{each.told}" for each in own)
    return found
