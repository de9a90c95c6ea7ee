"""All transactional ids of a shard: what the log says of them, and what memory adds.

Changed by replay, and by decisions that are adopted once their records are replayed. Decides
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.model.id import TopicPartition
from penstock.transaction.transaction import Transaction


class Register:
    """`_unmarked` holds, of transactions on their way to completion, the partitions that still
    lack their marker, once some have theirs."""

    __slots__ = ("_transactions", "_unmarked")

    def __init__(self) -> None:
        self._transactions: dict[str, Transaction] = {}
        self._unmarked: dict[str, frozenset[TopicPartition]] = {}

    def __len__(self) -> int:
        return len(self._transactions)

    def __iter__(self) -> Iterator[Transaction]:
        return iter(self._transactions.values())

    def ids(self) -> list[str]:
        return list(self._transactions)

    def find(self, transactional_id: str) -> Transaction | None:
        return self._transactions.get(transactional_id)

    def unmarked(self, transaction: Transaction) -> frozenset[TopicPartition]:
        return self._unmarked.get(transaction.transactional_id, transaction.partitions)

    def replay(self, transactional_id: str, transaction: Transaction | None) -> None:
        self._unmarked.pop(transactional_id, None)
        if transaction is None:
            self._transactions.pop(transactional_id, None)
        else:
            self._transactions[transactional_id] = transaction

    def adopt(self, transaction: Transaction) -> None:
        """The same as was replayed, and what the record had no room for."""
        self._transactions[transaction.transactional_id] = transaction

    def keep_unmarked(self, transactional_id: str, partitions: frozenset[TopicPartition]) -> None:
        self._unmarked[transactional_id] = partitions
