"""The thread that reads an instance's own reply topic, from its end on.

No group and no commits: an answer that came while nobody was here has nobody who waits for it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from penstock.client.app.log import LOG
from penstock.client.patience import ends_of
from penstock.client.session import LOG as LIBRDKAFKA_LOG

_POLL_S = 0.1
_TIMEOUT_S = 15.0
_BATCH = 500


class ReplyReader:
    def __init__(
        self,
        settings: dict[str, Any],
        topic: str,
        loop: asyncio.AbstractEventLoop,
        on_replies: Callable[[list[Any]], None],
    ) -> None:
        own = {
            "group.id": topic,
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 50,
        }
        self._consumer = Consumer(settings | own, logger=LIBRDKAFKA_LOG)
        self._topic = topic
        self._loop = loop
        self._on_replies = on_replies
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="penstock-replies", daemon=True)

    def open(self) -> None:
        """Blocks. All that is written after it returns is read."""
        _, end = ends_of(self._consumer, self._topic, 0, _TIMEOUT_S)
        self._consumer.assign([TopicPartition(self._topic, 0, end)])
        self._thread.start()

    def _run(self) -> None:
        while not self._closing:
            batch = self._consumer.consume(_BATCH, 0)
            if not batch:
                first = self._consumer.poll(_POLL_S)
                batch = [] if first is None else [first]
            for each in batch:
                if (error := each.error()) is not None:
                    LOG.warning("%s: %s", self._topic, error.str())
            found = [each for each in batch if each.error() is None]
            if found:
                self._loop.call_soon_threadsafe(self._on_replies, found)

    def close(self) -> None:
        self._closing = True
        if self._thread.is_alive():
            self._thread.join()
        self._consumer.close()
