"""How a listener is spoken to: encrypted or not, with a login or without. Names of Kafka."""

from __future__ import annotations

from enum import IntEnum


class SecurityProtocol(IntEnum):
    PLAINTEXT = 0
    SSL = 1
    SASL_PLAINTEXT = 2
    SASL_SSL = 3

    @property
    def is_encrypted(self) -> bool:
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)

    @property
    def has_login(self) -> bool:
        """Whether clients say who they are by SASL, before anything else."""
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)
