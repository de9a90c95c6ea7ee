"""Whether a node writes down its past, as its settings say, which may change while it runs.

While they say no, nothing is counted, nothing runs, and nothing of it is loaded.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.handlers.broker import Broker
    from penstock.node.history.writer import HistoryWriter
    from penstock.node.lag.look import GroupLook
    from penstock.node.topic_writer import Brokers

ENABLE = "penstock.metrics.topic.enable"


class History:
    def __init__(self, broker: Broker, brokers: Brokers) -> None:
        self._broker = broker
        self._brokers = brokers
        self._writer: HistoryWriter | None = None
        self._may_write = False

    @cached_property
    def groups(self) -> GroupLook:
        """The one of this node: whoever looks at groups continues where the last look ended."""
        from penstock.node.lag.look import GroupLook

        return GroupLook(self._broker, self._brokers)

    def start(self) -> None:
        self._may_write = True
        self.follow_settings()

    def follow_settings(self) -> None:
        is_wanted = self._may_write and bool(self._broker.config.get(ENABLE))
        if is_wanted and self._writer is None:
            from penstock.node.history.writer import HistoryWriter

            self._writer = HistoryWriter(self._broker, self._brokers, self.groups)
            self._writer.start()
        elif not is_wanted and self._writer is not None:
            self._writer.stop()
            self._writer = None

    async def close(self) -> None:
        """Writes what there is, if that does not take long."""
        self._may_write = False
        if self._writer is not None:
            await self._writer.close()
            self._writer = None
