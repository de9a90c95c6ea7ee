"""The fetch of a consumer while quotas are set: what it takes counts, and more has to wait."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Call
from penstock.handlers.fetch import Fetch
from penstock.handlers.fetch_sessions import FetchContext
from penstock.protocol.messages.fetch import FetchRequest, FetchResponse


class MeteredFetch(Fetch):
    __slots__ = ("_client", "_spent_s")

    def __init__(
        self, broker: Broker, request: FetchRequest, call: Call, context: FetchContext
    ) -> None:
        super().__init__(broker, request, call, context)
        self._client = call.client
        self._spent_s = 0.0
        # More at once would be over the quota every time, and the consumer would never go on.
        self._max_bytes = int(min(self._max_bytes, broker.throttle.fetch_bytes_max(call.client)))
        self._min_bytes = min(self._min_bytes, self._max_bytes)

    def read(self) -> None:
        monotonic = self._broker.clock.monotonic
        started = monotonic()
        super().read()
        self._spent_s += monotonic() - started

    def answer(self) -> FetchResponse:
        broker = self._broker
        wait_ms = broker.throttle.charge_fetch(self._client, self._bytes, self._spent_s)
        if not wait_ms:
            return super().answer()
        self._drop()
        if self._is_full:
            # Nothing was told of its partitions, so the client begins anew (KIP-219).
            broker.fetch_sessions.end(self._session)
        return FetchResponse(throttle_time_ms=wait_ms, session_id=self._session.id)
