"""ListTransactions (number 66). Written by tools/generate_protocol.py.

ListTransactionsRequest 0-2, ListTransactionsResponse 0-2.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class ListTransactionsRequest(Entity):
    __slots__ = (
        "duration_filter",
        "producer_id_filters",
        "state_filters",
        "transactional_id_pattern",
    )
    NAME = "ListTransactionsRequest"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    API_KEY = 66
    SCHEMA = (
        Field("state_filters", "string", (0, 2), array=True),
        Field("producer_id_filters", "int64", (0, 2), array=True),
        Field("duration_filter", "int64", (1, 2), default=-1),
        Field("transactional_id_pattern", "string", (2, 2), nullable=(2, 2), default=None),
    )

    def __init__(
        self,
        *,
        state_filters: Iterable[str] = (),
        producer_id_filters: Iterable[int] = (),
        duration_filter: int = -1,
        transactional_id_pattern: str | None = None,
    ) -> None:
        self.state_filters: list[str] = (
            state_filters if isinstance(state_filters, list) else list(state_filters)
        )
        self.producer_id_filters: list[int] = (
            producer_id_filters
            if isinstance(producer_id_filters, list)
            else list(producer_id_filters)
        )
        self.duration_filter: int = duration_filter
        self.transactional_id_pattern: str | None = transactional_id_pattern


class TransactionState(Entity):
    __slots__ = (
        "producer_id",
        "transaction_state",
        "transactional_id",
    )
    NAME = "TransactionState"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    SCHEMA = (
        Field("transactional_id", "string", (0, 2)),
        Field("producer_id", "int64", (0, 2)),
        Field("transaction_state", "string", (0, 2)),
    )

    def __init__(
        self,
        *,
        transactional_id: str = "",
        producer_id: int = 0,
        transaction_state: str = "",
    ) -> None:
        self.transactional_id: str = transactional_id
        self.producer_id: int = producer_id
        self.transaction_state: str = transaction_state


class ListTransactionsResponse(Entity):
    __slots__ = (
        "error_code",
        "throttle_time_ms",
        "transaction_states",
        "unknown_state_filters",
    )
    NAME = "ListTransactionsResponse"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    API_KEY = 66
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 2)),
        Field("error_code", "int16", (0, 2)),
        Field("unknown_state_filters", "string", (0, 2), array=True),
        Field("transaction_states", TransactionState, (0, 2), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_state_filters: Iterable[str] = (),
        transaction_states: Iterable[TransactionState] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.unknown_state_filters: list[str] = (
            unknown_state_filters
            if isinstance(unknown_state_filters, list)
            else list(unknown_state_filters)
        )
        self.transaction_states: list[TransactionState] = (
            transaction_states if isinstance(transaction_states, list) else list(transaction_states)
        )
