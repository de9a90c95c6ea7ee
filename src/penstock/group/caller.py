"""Who sent a request, as far as a group cares."""

from __future__ import annotations

from typing import NamedTuple


class Caller(NamedTuple):
    api_version: int
    client_id: str = ""
    client_host: str = ""
    """With a leading slash, as Kafka writes it: `/127.0.0.1`."""
