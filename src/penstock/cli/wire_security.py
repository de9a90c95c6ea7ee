"""How our own calls connect to a broker: encrypted and logged in, by librdkafka's settings.

What librdkafka takes and this does not is refused by name, and never left out.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from penstock.cli.failure import Failure, UsageFailure

if TYPE_CHECKING:
    import ssl

Connect = Callable[[str, int], socket.socket]

_READ: Final = frozenset(
    (
        "ssl.ca.location",
        "ssl.ca.pem",
        "ssl.certificate.location",
        "ssl.key.location",
        "ssl.key.password",
        "ssl.endpoint.identification.algorithm",
        "enable.ssl.certificate.verification",
        "sasl.mechanism",
        "sasl.mechanisms",
        "sasl.username",
        "sasl.password",
    )
)
_PROTOCOLS: Final = ("plaintext", "ssl", "sasl_plaintext", "sasl_ssl")
_MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


def connector(settings: Mapping[str, str], timeout_s: float) -> Connect:
    """OSError where nobody answers, or is not who it should be."""
    protocol = settings.get("security.protocol", "plaintext").lower()
    if protocol not in _PROTOCOLS:
        raise UsageFailure(
            f"security.protocol={protocol} is not known; it is {', '.join(_PROTOCOLS)}"
        )
    _check(settings, protocol)
    context = _context(settings) if protocol.endswith("ssl") else None

    def connect(host: str, port: int) -> socket.socket:
        sock = socket.create_connection((host, port), timeout=timeout_s)
        try:
            if context is not None:
                sock = context.wrap_socket(sock, server_hostname=host)
            if protocol.startswith("sasl"):
                _log_in(sock, settings)
        except BaseException:
            sock.close()
            raise
        return sock

    return connect


def _check(settings: Mapping[str, str], protocol: str) -> None:
    if protocol == "plaintext":
        return
    for key in settings:
        if key.startswith(("ssl.", "sasl.", "enable.ssl")) and key not in _READ:
            raise Failure(f"{key} is not read by this command, which makes its own connections")


def _context(settings: Mapping[str, str]) -> ssl.SSLContext:
    """Made here and now: what cannot be read is no broker that does not answer."""
    import ssl  # only encrypted connections need it

    try:
        context = ssl.create_default_context(
            cafile=settings.get("ssl.ca.location"), cadata=settings.get("ssl.ca.pem")
        )
        if "ssl.certificate.location" in settings:
            context.load_cert_chain(
                settings["ssl.certificate.location"],
                settings.get("ssl.key.location"),
                # Else it would be asked for on the terminal.
                settings.get("ssl.key.password", ""),
            )
    except OSError as error:
        raise Failure(f"the certificates cannot be read: {error}") from error
    if settings.get("ssl.endpoint.identification.algorithm", "https") == "none":
        context.check_hostname = False
    if settings.get("enable.ssl.certificate.verification", "true").lower() == "false":
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _log_in(sock: socket.socket, settings: Mapping[str, str]) -> None:
    from penstock.cli.wire_call import authenticate, choose_mechanism
    from penstock.security.plain import plain_token
    from penstock.security.sasl_error import SaslError
    from penstock.security.scram_client import ScramClient

    mechanism = settings.get("sasl.mechanisms") or settings.get("sasl.mechanism") or ""
    if mechanism not in _MECHANISMS:
        known = ", ".join(_MECHANISMS)
        raise Failure(f"sasl.mechanisms={mechanism}: this command logs in by {known}")
    name, password = settings.get("sasl.username", ""), settings.get("sasl.password", "")
    choose_mechanism(sock, mechanism)
    if mechanism == "PLAIN":
        authenticate(sock, plain_token(name, password))
        return
    client = ScramClient(mechanism, name, password, lambda: os.urandom(16).hex())
    try:
        challenge = authenticate(sock, client.first())
        client.check(authenticate(sock, client.final(challenge)))
    except SaslError as error:
        raise Failure(f"the login failed: {error}") from error
