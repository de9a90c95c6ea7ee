"""TLS and logins for our own connections to brokers, by the settings that librdkafka takes."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Callable, Mapping

from penstock.cli.failure import Failure
from penstock.protocol.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from penstock.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from penstock.security.mechanism import PLAIN, SCRAM
from penstock.security.plain import plain_token
from penstock.security.sasl_error import SaslError
from penstock.security.scram_client import ScramClient

HANDSHAKE_VERSION = 1
AUTHENTICATE_VERSION = 1

Settings = Mapping[str, str]
SendToken = Callable[[bytes], bytes]
"""One step of a login; the broker's answer to it."""


def protocol_of(settings: Settings) -> str:
    return settings.get("security.protocol", "plaintext").upper()


def has_login(settings: Settings) -> bool:
    return protocol_of(settings).startswith("SASL_")


def encrypted(connection: socket.socket, host: str, settings: Settings) -> socket.socket:
    """The same connection, where the settings ask for no encryption."""
    if not protocol_of(settings).endswith("SSL"):
        return connection
    return _context(settings).wrap_socket(connection, server_hostname=host)


def _context(settings: Settings) -> ssl.SSLContext:
    context = ssl.create_default_context()
    try:
        if ca := settings.get("ssl.ca.location"):
            context.load_verify_locations(ca)
        if ca_text := settings.get("ssl.ca.pem"):
            context.load_verify_locations(cadata=ca_text)
        if certificate := settings.get("ssl.certificate.location"):
            key = settings.get("ssl.key.location")
            context.load_cert_chain(certificate, key, settings.get("ssl.key.password"))
    except OSError as error:
        raise Failure(f"the certificates cannot be used: {error}") from error
    algorithm = settings.get("ssl.endpoint.identification.algorithm", "https").lower()
    if algorithm in ("", "none"):
        context.check_hostname = False
    if settings.get("enable.ssl.certificate.verification", "true").lower() == "false":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def handshake(settings: Settings) -> SaslHandshakeRequest:
    return SaslHandshakeRequest(mechanism=_mechanism(settings))


def check_handshake(settings: Settings, answer: SaslHandshakeResponse) -> None:
    if answer.error_code:
        known = ", ".join(answer.mechanisms) or "none"
        raise Failure(f"the broker takes no login by {_mechanism(settings)}, but by {known}")


def token_request(token: bytes) -> SaslAuthenticateRequest:
    return SaslAuthenticateRequest(auth_bytes=token)


def answer_of(answer: SaslAuthenticateResponse) -> bytes:
    if answer.error_code:
        raise Failure(f"the broker refused the login: {answer.error_message}")
    return bytes(answer.auth_bytes)


def log_in(settings: Settings, send: SendToken) -> None:
    mechanism = _mechanism(settings)
    name, password = settings.get("sasl.username", ""), settings.get("sasl.password", "")
    if mechanism == PLAIN:
        send(plain_token(name, password))
        return
    client = ScramClient(mechanism, name, password, lambda: os.urandom(16).hex())
    try:
        client.check(send(client.final(send(client.first()))))
    except SaslError as error:
        raise Failure(f"the login failed: {error}") from error


def _mechanism(settings: Settings) -> str:
    mechanism = settings.get("sasl.mechanism") or settings.get("sasl.mechanisms") or "GSSAPI"
    if mechanism not in (PLAIN, *SCRAM):
        known = ", ".join((PLAIN, *SCRAM))
        raise Failure(f"this command logs in by {known}, not by {mechanism} (sasl.mechanism)")
    return mechanism
