"""Where the partitions end, asked once a second in one request, for what is left to read."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from penstock.pipelines.kafka import end_offsets
from penstock.pipelines.run_settings import RunSettings
from penstock.pipelines.silent import SILENT

_EVERY_S = 1.0
_TIMEOUT_S = 2.0


class EndWatch:
    def __init__(self, settings: RunSettings) -> None:
        self._settings = settings
        self._admin: Any = None
        self._next = 0.0

    def look(self, places: Collection[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """Nothing where it was asked a moment ago, or the broker does not answer."""
        if not places or time.monotonic() < self._next:
            return {}
        self._next = time.monotonic() + _EVERY_S
        if self._admin is None:
            own = self._settings.client(error_cb=lambda _: None)
            self._admin = AdminClient(own, logger=SILENT)
        try:
            return end_offsets(self._admin, places, _TIMEOUT_S)
        except (KafkaException, TimeoutError):
            return {}
