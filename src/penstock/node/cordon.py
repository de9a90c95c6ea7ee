"""The directories of this broker that take no new replicas (KIP-1066).

Settings name them, and each directory follows at once; the controller is told, and leaves a broker
out that has no other. A cluster whose metadata level does not know of it has none.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.metadata.image import ClusterImage
from penstock.metadata.version import CORDONED_DIRECTORIES_LEVEL, METADATA_VERSION
from penstock.settings.config import BrokerConfig
from penstock.settings.cordon import cordoned_among
from penstock.storage.log_dirs import LogDirs
from penstock.telemetry.log import get_logger

log = get_logger("directories")


class Cordon:
    """`tell` has the controller told soon."""

    def __init__(
        self,
        settings: Callable[[], BrokerConfig],
        image: ClusterImage,
        log_dirs: LogDirs,
        tell: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._image = image
        self._log_dirs = log_dirs
        self._tell = tell
        self._is_known = False

    def refresh(self) -> None:
        """After a change of the settings or of the cluster's level."""
        level = self._image.features.get(METADATA_VERSION, 0)
        was_known, self._is_known = self._is_known, level >= CORDONED_DIRECTORIES_LEVEL
        before = self._log_dirs.cordoned
        self._log_dirs.cordoned = self._named() if self._is_known else frozenset()
        if self._log_dirs.cordoned != before:
            paths = ",".join(sorted(self._log_dirs.cordoned)) or "none"
            log.info("cordoned directories", paths=paths)
        if (self._is_known, self._log_dirs.cordoned) != (was_known, before):
            self._tell()

    def _named(self) -> frozenset[str]:
        paths = (each.path for each in self._log_dirs.data)
        return cordoned_among(paths, self._settings().cordoned_log_dirs)

    def ids(self) -> list[bytes] | None:
        """As the controller is told them; None while it would not know what to make of it."""
        if not self._is_known:
            return None
        cordoned = self._log_dirs.cordoned
        return self._log_dirs.ids(each for each in self._log_dirs.data if each.path in cordoned)
