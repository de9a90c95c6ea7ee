"""What a listener is told of TLS by whoever knows keys and principals."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Any, NamedTuple


class ServerTls(NamedTuple):
    listener: str
    """Its name, for logs and metrics."""
    context: Callable[[], ssl.SSLContext]
    """Of the next connection: certificates change while others stay connected."""
    introduce: Callable[[Any, bytes | None], None]
    """Tells the state of a connection whose certificate it has; `NoPrincipal` for nobody."""
