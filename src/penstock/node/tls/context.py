"""OpenSSL's contexts from settings, for whoever is called and for whoever calls."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from penstock.node.tls.settings import TlsSettings
from penstock.node.tls.store import KeyPair
from penstock.settings.error import SettingError

_VERSION: Final = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_AUTH: Final = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}
_SUITES_OF_13: Final = frozenset(
    ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256")
)

_NEVER: Final = ("!aNULL", "!eNULL", "!EXPORT", "!LOW", "!RC4", "!MD5", "!3DES", "!PSK")
"""Java has these off as well, whoever asks for them."""


def server_context(settings: TlsSettings, pair: KeyPair, trusted: str | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _restrict(context, settings)
    # Whoever comes back proves again who they are: a certificate may have expired meanwhile.
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_TICKET
    context.num_tickets = 0
    _load_key(context, pair)
    context.verify_mode = _AUTH[settings.client_auth]
    if context.verify_mode != ssl.CERT_NONE:
        _trust(context, trusted, ssl.Purpose.CLIENT_AUTH)
    return context


def client_context(
    settings: TlsSettings, pair: KeyPair | None, trusted: str | None
) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _restrict(context, settings)
    context.check_hostname = bool(settings.identification)
    if pair is not None:
        _load_key(context, pair)
    _trust(context, trusted, ssl.Purpose.SERVER_AUTH)
    return context


def _trust(context: ssl.SSLContext, trusted: str | None, purpose: ssl.Purpose) -> None:
    """What stands in a trust store is trusted, also where it is not its own issuer."""
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if trusted is None:
        context.load_default_certs(purpose)
        return
    try:
        context.load_verify_locations(cadata=trusted)
    except (ssl.SSLError, ValueError) as error:
        raise SettingError(f"the trusted certificates cannot be read: {error}") from None


def _load_key(context: ssl.SSLContext, pair: KeyPair) -> None:
    def password() -> str:
        # Else OpenSSL would ask on the terminal.
        if pair.password is None:
            raise SettingError("the private key is encrypted: set ssl.key.password")
        return pair.password

    with _as_file(pair.key + "\n" + pair.chain) as path:
        try:
            context.load_cert_chain(path, password=password)
        except (ssl.SSLError, ValueError) as error:
            reason = getattr(error, "reason", None) or str(error)
            raise SettingError(
                f"the key and its certificate cannot be used: {reason.lower().replace('_', ' ')}"
            ) from None


@contextmanager
def _as_file(text: str) -> Iterator[str]:
    """Python takes a key from a file only: one in memory, where there is such a thing."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("key")
        try:
            os.write(fd, text.encode())
            yield f"/proc/self/fd/{fd}"
        finally:
            os.close(fd)
        return
    with tempfile.NamedTemporaryFile() as file:
        file.write(text.encode())
        file.flush()
        yield file.name


# Versions and ciphers


def _restrict(context: ssl.SSLContext, settings: TlsSettings) -> None:
    versions = [_VERSION[each] for each in settings.versions]
    suites = frozenset(settings.ciphers)
    if suites and not suites & _SUITES_OF_13:
        versions = [each for each in versions if each != ssl.TLSVersion.TLSv1_3]
    if suites and not suites - _SUITES_OF_13:
        versions = [each for each in versions if each != ssl.TLSVersion.TLSv1_2]
    if not versions:
        raise SettingError(
            f"ssl.cipher.suites={','.join(settings.ciphers)}: none of them is of "
            f"{' or '.join(settings.versions)}"
        )
    context.minimum_version, context.maximum_version = min(versions), max(versions)
    if suites:
        _choose(context, settings.ciphers, suites)


def _choose(context: ssl.SSLContext, ordered: tuple[str, ...], suites: frozenset[str]) -> None:
    of_13 = suites & _SUITES_OF_13
    if of_13 and of_13 != _SUITES_OF_13:
        missing = ", ".join(sorted(_SUITES_OF_13 - of_13))
        raise SettingError(
            "ssl.cipher.suites: those of TLSv1.3 cannot be chosen one by one here; name all three "
            f"or none (missing: {missing})"
        )
    older = [each for each in ordered if each not in _SUITES_OF_13]
    if not older:
        return
    names = [_openssl_name(each) for each in older]
    try:
        context.set_ciphers(":".join((*names, *_NEVER)))
    except ssl.SSLError:
        raise SettingError(
            f"ssl.cipher.suites={','.join(older)}: none is known here and safe"
        ) from None
    known = {each["name"] for each in context.get_ciphers()}
    for name, asked in zip(names, older, strict=True):
        if name not in known:
            raise SettingError(f"ssl.cipher.suites: {asked} is not known here, or not safe")


def _openssl_name(suite: str) -> str:
    """`TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256` is ECDHE-RSA-AES128-GCM-SHA256 to OpenSSL."""
    exchange, _, cipher = suite.removeprefix("TLS_").partition("_WITH_")
    cipher = cipher.replace("AES_128", "AES128").replace("AES_256", "AES256").replace("_CBC", "")
    cipher = cipher.replace("CHACHA20_POLY1305_SHA256", "CHACHA20_POLY1305")
    exchange = "" if exchange == "RSA" else exchange + "_"
    return (exchange + cipher).replace("_", "-")
