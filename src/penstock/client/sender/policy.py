"""What a sender does while writes are refused: `Block`, `Fail`, `Spool`. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from penstock.client.duration import milliseconds


@dataclass(frozen=True, slots=True)
class Block:
    """Try each record for so long. Meanwhile `send` waits when too many are under way."""

    timeout: str = "30s"
    under_way_max: int = 10_000

    @property
    def timeout_ms(self) -> int:
        return milliseconds(self.timeout)


@dataclass(frozen=True, slots=True)
class Fail:
    """Try each record for a moment. After a failure `send` raises at once, but for a record now
    and then, which finds out whether writes are taken again."""

    timeout: str = "1s"
    probe: str = "1s"

    @property
    def timeout_ms(self) -> int:
        return milliseconds(self.timeout)

    @property
    def probe_ms(self) -> int:
        return milliseconds(self.probe)


@dataclass(frozen=True, slots=True)
class Spool:
    """Keep records in files of this folder when none was acknowledged for `patience`, and send
    them later, in order."""

    folder: str | Path
    bytes_max: int = 64_000_000
    patience: str = "2s"
    sync: bool = True
    """Have the disk confirm each write: records survive the machine, not only the process."""

    @property
    def patience_ms(self) -> int:
        return milliseconds(self.patience)


Policy = Block | Fail | Spool
