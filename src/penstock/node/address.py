"""`host:port` as people write it, and as Kafka's `listeners` does."""

from __future__ import annotations

from typing import NamedTuple

from penstock.model.error import PenstockError


class AddressError(PenstockError):
    pass


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str, what: str, default_host: str = "127.0.0.1") -> Address:
    """Takes `host:port`, `:port`, `[v6]:port` and `PLAINTEXT://host:port`."""
    bare = text.rpartition("://")[2]
    host, colon, port = bare.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise AddressError(f"{what} {text!r}: expected HOST:PORT")
    return Address(host.strip("[]") or default_host, int(port))
