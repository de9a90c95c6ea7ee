"""What stands at an address where no broker has answered: for the line that says what to do."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

_WAIT_S: Final = 2.0


class Listening(StrEnum):
    nothing = "nothing"
    encrypted = "encrypted"
    other = "other"
    """Not a broker, one that is too slow, or one that speaks in plain text."""


def what_listens(addresses: Iterable[tuple[str, int]], timeout_s: float) -> Listening:
    """At the first of them where something does."""
    for address in addresses:
        try:
            with socket.create_connection(address, min(timeout_s, _WAIT_S)) as connection:
                return Listening.encrypted if _shakes_hands(connection) else Listening.other
        except (OSError, UnicodeError):
            continue
    return Listening.nothing


def answers(
    addresses: Iterable[tuple[str, int]], settings: Mapping[str, str], timeout_s: float
) -> bool:
    """Whether one of them is a broker that says what it can do: it is up, and lets us in."""
    from penstock.cli.failure import Failure
    from penstock.cli.wire_call import BrokerConnection
    from penstock.cli.wire_security import connector

    for address in addresses:
        try:
            BrokerConnection(connector(settings, min(timeout_s, _WAIT_S)), *address).close()
            return True
        except (Failure, UnicodeError):
            continue
    return False


def _shakes_hands(connection: socket.socket) -> bool:
    """Whoever it is: nothing is sent but the greeting of TLS."""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        context.wrap_socket(connection).close()
        return True
    except ssl.SSLError as error:
        # An alert is an answer in TLS, such as to a client without a certificate.
        return "ALERT" in (error.reason or "")
    except OSError:
        return False


def advice(there: Listening, servers: str, *, is_encrypted: bool) -> str:
    """`is_encrypted`: as the client was told to speak."""
    match there, is_encrypted:
        case Listening.nothing, _:
            return (
                f"no broker answers at {servers}; start one with `penstock start`, or name "
                "another with -b"
            )
        case Listening.encrypted, False:
            return (
                f"{servers} wants TLS; add -X security.protocol=ssl -X ssl.ca.location=FILE, or "
                "use a profile (`penstock profile add`)"
            )
        case Listening.encrypted, True:
            return (
                f"no broker answers at {servers} over TLS; is its certificate signed by "
                "ssl.ca.location, and does it want yours (ssl.certificate.location)?"
            )
        case _, True:
            return (
                f"{servers} does not speak TLS; leave security.protocol=ssl away, or name another "
                "with -b"
            )
    return (
        f"no broker answers at {servers}, though something listens there; is it the right port, "
        "and --timeout long enough?"
    )
