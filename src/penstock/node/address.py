"""`host:port` as people write it, and as Kafka's `listeners` does."""

from __future__ import annotations

from typing import NamedTuple

from penstock.model.error import PenstockError

PORT_MAX = 65535
ANY_HOST = "0.0.0.0"
EVERY_INTERFACE = (ANY_HOST, "::", "")


class AddressError(PenstockError):
    pass


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str, what: str, default_host: str = "127.0.0.1") -> Address:
    """Takes `host:port`, `:port`, `[v6]:port` and `PLAINTEXT://host:port`; no other protocol, which
    somebody would then believe to be spoken."""
    protocol, separator, bare = text.rpartition("://")
    if separator and protocol.upper() != "PLAINTEXT":
        raise AddressError(
            f"{what} {text!r}: expected HOST:PORT, in plain text; name other protocols in the "
            f"settings, as listeners={protocol}://HOST:PORT"
        )
    host, colon, port = bare.rpartition(":")
    if not colon or not (port.isascii() and port.isdecimal()) or int(port) > PORT_MAX:
        raise AddressError(f"{what} {text!r}: expected HOST:PORT")
    return Address(host.strip("[]") or default_host, int(port))
