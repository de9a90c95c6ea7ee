"""NoOpRecord (number 20). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from penstock.protocol.entity import Entity


class NoOpRecord(Entity):
    __slots__ = ()
    NAME = "NoOpRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 20
    SCHEMA = ()
