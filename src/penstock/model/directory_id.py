"""What metadata says of a replica in place of the id of its data directory (KIP-858)."""

from __future__ import annotations

from typing import Final

MIGRATING: Final = bytes(16)
"""Never told, and not new: it counts as there."""
UNASSIGNED: Final = bytes(15) + b"\x01"
"""Not told yet: the broker chooses."""
LOST: Final = bytes(15) + b"\x02"
"""In a directory that is offline; nobody knows in which."""

UNTOLD: Final = (MIGRATING, UNASSIGNED)
RESERVED: Final = (MIGRATING, UNASSIGNED, LOST)
