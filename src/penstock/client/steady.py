"""Settings with which a client of librdkafka outlives its brokers.

A client that finds no broker forgets all it knows and begins with its first addresses; what it had
under way then may wait for ever, so it is told not to.

A broker that metadata does not list any more is given up by librdkafka, but stays in its memory as
the coordinator of a group. `send_offsets_to_transaction` waits for that one, past its timeout,
until the state of some connection changes (librdkafka 5511 and 5456). A connection that is closed
when it has been idle is such a change, and a wait of this kind is idle.
"""

from __future__ import annotations

from typing import Any, Final

STEADY: Final[dict[str, Any]] = {"metadata.recovery.strategy": "none"}
STEADY_TRANSACTIONS: Final[dict[str, Any]] = {**STEADY, "connections.max.idle.ms": 5_000}
