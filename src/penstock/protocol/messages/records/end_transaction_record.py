"""EndTransactionRecord (number 24). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity


class EndTransactionRecord(Entity):
    __slots__ = ()
    NAME = "EndTransactionRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 24
    SCHEMA = ()
