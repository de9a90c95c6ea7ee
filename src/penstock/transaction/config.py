"""The settings a transaction shard obeys, already parsed and checked."""

from __future__ import annotations

from dataclasses import dataclass

EPOCH_BUMP_SINCE = 2
"""The transaction version from which on every end of a transaction raises the epoch (KIP-890)."""


@dataclass(frozen=True, slots=True)
class TransactionConfig:
    """Defaults are Kafka's; each field bears the name of its setting."""

    transaction_max_timeout_ms: int = 900_000
    transactional_id_expiration_ms: int = 7 * 24 * 3_600 * 1_000
    transaction_remove_expired_transaction_cleanup_interval_ms: int = 3_600_000
    transaction_version: int = 2
    """The cluster's finalized feature level, not a setting."""

    @property
    def log_value_version(self) -> int:
        """Only the newer form of the log has room for more than version 0 needs."""
        return 1 if self.transaction_version >= 1 else 0
