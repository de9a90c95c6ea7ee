"""Who sent a request, as far as a group cares."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Caller(NamedTuple):
    api_version: int
    client_id: str = ""
    client_host: str = ""
    """With a leading slash, as Kafka writes it: `/127.0.0.1`."""
    may_describe: Callable[[str], bool] | None = None
    """Whether a topic may be known to them; None where everything may."""
