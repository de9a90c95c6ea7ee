"""What a record holds in place of a large value: where the value is, and its checksum. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, NamedTuple

CLAIM_HEADER = "penstock.claim"
"""Tells a reference from a value that looks like one."""

_NAME = re.compile(r"(?P<day>\d{4}-\d\d-\d\d)/[A-Za-z0-9._-]{1,249}/(?P<sha256>[0-9a-f]{64})")


class Reference(NamedTuple):
    store: str
    name: str
    size: int

    def encode(self) -> bytes:
        said = {"claim": f"{self.store}/{self.name}", "bytes": self.size, "sha256": self.sha256}
        return json.dumps(said).encode()

    @property
    def sha256(self) -> str:
        return self.name.rpartition("/")[2]

    def fits(self, content: bytes) -> bool:
        return len(content) == self.size and hashlib.sha256(content).hexdigest() == self.sha256


def reference_to(content: bytes, store: str, topic: str, day: str) -> Reference:
    """The same content of a day has one name: what is sent again is stored once."""
    return Reference(store, f"{day}/{topic}/{hashlib.sha256(content).hexdigest()}", len(content))


def decode_reference(value: bytes | None, store: str) -> Reference:
    """Refuses what is not in this store: a record must not name files of its reader's choice."""
    try:
        said: Any = json.loads(value or b"")
        url, size, sha256 = str(said["claim"]), int(said["bytes"]), said["sha256"]
    except (ValueError, KeyError, TypeError):
        raise ValueError("is marked as a claim, and holds no reference") from None
    name = url.removeprefix(f"{store}/")
    found = _NAME.fullmatch(name)
    if name == url or found is None or found["sha256"] != sha256:
        raise ValueError(f"refers to {url}, which is not in {store}")
    return Reference(store, name, size)


def day_of(name: str) -> str | None:
    """When it was stored; None: it is not ours."""
    found = _NAME.fullmatch(name)
    return None if found is None else found["day"]
