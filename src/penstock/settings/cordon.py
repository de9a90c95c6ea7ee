"""Which directories of a node take no new replicas, as `cordoned.log.dirs` has it (KIP-1066)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from penstock.settings.error import SettingError

CORDONED: Final = "cordoned.log.dirs"
EVERY: Final = "*"


def cordoned_among(directories: Iterable[str], names: Iterable[str]) -> frozenset[str]:
    """What is named and is not there means nothing: it was accepted elsewhere, or once."""
    there, named = frozenset(directories), {_plain(each) for each in names}
    return there if EVERY in named else there.intersection(named)


def check_cordoned(directories: Iterable[str], names: Iterable[str]) -> None:
    """SettingError where a name means no directory of this node."""
    there, named = set(directories), list(dict.fromkeys(names))
    if EVERY in named and len(named) > 1:
        raise SettingError(
            f"When cordoned.log.dirs is set to {EVERY}, it must not contain other values"
        )
    missing = [each for each in named if each != EVERY and _plain(each) not in there]
    if missing:
        raise SettingError(
            "All entries in cordoned.log.dirs must be present in log.dirs or log.dir. "
            f"Missing entries : {', '.join(missing)}"
        )


def _plain(path: str) -> str:
    return path.rstrip("/") or path
