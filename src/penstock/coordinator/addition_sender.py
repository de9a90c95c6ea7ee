"""Asks the coordinators of transactions on other brokers to add partitions, or whether they are in
(KIP-890).

Every first batch of a transaction in a partition comes by here when its coordinator is elsewhere:
what is asked of one broker at the same time goes in one request.
"""

from __future__ import annotations

import asyncio
from typing import cast

from penstock.coordinator.brokers import Brokers, NoAnswer, NotSpoken
from penstock.coordinator.outbox import Outbox
from penstock.model.error import ErrorCode
from penstock.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnResponse
from penstock.transaction import (
    Addition,
    AdditionResult,
    additions_request,
    additions_results,
)

VERSION_MIN = 4
UNANSWERED = ErrorCode.NETWORK_EXCEPTION


class AdditionSender:
    def __init__(self, brokers: Brokers) -> None:
        self._brokers = brokers
        self._outbox: Outbox[Addition, AdditionResult] = Outbox(
            self._send_to, lambda one: one.transactional_id
        )

    async def send(self, node_id: int, addition: Addition) -> AdditionResult:
        """NETWORK_EXCEPTION where no answer came."""
        try:
            return await self._outbox.put(node_id, addition)
        except NoAnswer:
            return dict.fromkeys(addition.partitions, UNANSWERED)

    async def send_patiently(
        self, node_id: int, addition: Addition, pause_s: float, patience_s: float
    ) -> AdditionResult:
        """Again for as long as the producer's last transaction is completing, which is not long:
        sooner than a client would try again."""
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + patience_s
        while True:
            result = await self.send(node_id, addition)
            if ErrorCode.CONCURRENT_TRANSACTIONS not in result.values():
                return result
            if loop.time() + pause_s > give_up_at:
                return result
            await asyncio.sleep(pause_s)

    async def close(self) -> None:
        await self._outbox.close()

    async def _send_to(self, node_id: int, additions: list[Addition]) -> list[AdditionResult]:
        try:
            response = await self._brokers.call(node_id, additions_request(additions), VERSION_MIN)
        except NoAnswer:
            return [dict.fromkeys(one.partitions, UNANSWERED) for one in additions]
        except NotSpoken:
            # A broker that cannot be asked takes part in no verification, as in Kafka.
            return [dict.fromkeys(one.partitions, ErrorCode.NONE) for one in additions]
        found = additions_results(cast("AddPartitionsToTxnResponse", response))
        return [
            {
                key: found.get(one.transactional_id, {}).get(key, UNANSWERED)
                for key in one.partitions
            }
            for one in additions
        ]
