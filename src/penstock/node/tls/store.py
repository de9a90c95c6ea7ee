"""Keys and certificates as PEM, from wherever the settings have them.

PEM needs nothing more than Python; PKCS12 is read by `cryptography`, of the extra `security`.
Kafka's words say what contradicts what.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from penstock.node.tls.settings import PEM, Store, TlsSettings
from penstock.settings.error import SettingError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12KeyAndCertificates

_BLOCK: Final = re.compile(
    r"-----BEGIN (?P<kind>[A-Z0-9 ]+)-----.+?-----END (?P=kind)-----", re.DOTALL
)
FILE_BYTES_MAX: Final = 4 * 1024 * 1024


class KeyPair(NamedTuple):
    key: str
    chain: str
    """Its own certificate first."""
    password: str | None


def key_pair(settings: TlsSettings) -> KeyPair | None:
    """None where the settings name no key."""
    store = settings.keystore
    if settings.key is not None:
        return _inline(settings)
    if settings.chain is not None:
        raise SettingError("SSL certificate chain is specified, but private key is not specified")
    if store.location is None:
        return None
    if store.kind == PEM:
        if store.password is not None:
            raise SettingError(
                "SSL key store password cannot be specified with PEM format, only key password "
                "may be specified."
            )
        return _from_text(_read_text(store.location), settings.key_password, store.location)
    return _from_pkcs12(store, settings.key_password)


def trusted_certificates(settings: TlsSettings) -> str | None:
    """None where the settings name none: then those count that the system trusts."""
    store = settings.truststore
    if settings.trusted is not None:
        if store.kind != PEM:
            raise SettingError(
                "SSL trust store certs can be specified only for PEM, but trust store type is "
                f"{store.kind}."
            )
        if store.location is not None:
            raise SettingError(
                "Both SSL trust store location and separate trust certificates are specified."
            )
        return _certificates(settings.trusted, "ssl.truststore.certificates")
    if store.location is None:
        return None
    if store.kind == PEM:
        if store.password is not None:
            raise SettingError("SSL trust store password cannot be specified for PEM format.")
        return _certificates(_read_text(store.location), store.location)
    return _trusted_of_pkcs12(store)


def _inline(settings: TlsSettings) -> KeyPair:
    store = settings.keystore
    assert settings.key is not None
    if store.kind != PEM:
        raise SettingError(
            f"SSL private key can be specified only for PEM, but key store type is {store.kind}."
        )
    if settings.chain is None:
        raise SettingError("SSL private key is specified, but certificate chain is not specified.")
    if store.location is not None:
        raise SettingError("Both SSL key store location and separate private key are specified.")
    if store.password is not None:
        raise SettingError(
            "SSL key store password cannot be specified with PEM format, only key password may "
            "be specified."
        )
    chain = _certificates(settings.chain, "ssl.keystore.certificate.chain")
    return KeyPair(_key(settings.key, "ssl.keystore.key"), chain, settings.key_password)


def _from_text(text: str, password: str | None, where: str) -> KeyPair:
    return KeyPair(_key(text, where), _certificates(text, where), password)


def _key(text: str, where: str) -> str:
    found = [block for kind, block in _blocks(text) if kind.endswith("PRIVATE KEY")]
    if len(found) != 1:
        raise SettingError(f"{where}: {len(found) or 'no'} private keys, where one is expected")
    return found[0]


def _certificates(text: str, where: str) -> str:
    found = [block for kind, block in _blocks(text) if kind == "CERTIFICATE"]
    if not found:
        raise SettingError(f"{where}: no certificate in PEM format")
    return "\n".join(found) + "\n"


def _blocks(text: str) -> list[tuple[str, str]]:
    """A value of a properties file may be one line: spaces then stand for the ends of lines."""
    found = []
    for match in _BLOCK.finditer(text):
        kind, block = match["kind"], match.group()
        if "\n" not in block:
            head, tail = f"-----BEGIN {kind}-----", f"-----END {kind}-----"
            body = block[len(head) : -len(tail)].split()
            block = "\n".join((head, *body, tail))
        found.append((kind, block))
    return found


def _read(location: str) -> bytes:
    try:
        with open(location, "rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise SettingError(f"{location}: cannot be read: {error.strerror}") from None
    if len(data) > FILE_BYTES_MAX:
        raise SettingError(f"{location}: larger than any key store")
    return data


def _read_text(location: str) -> str:
    return _read(location).decode("utf-8", "replace")


# PKCS12


def _loaded(store: Store) -> PKCS12KeyAndCertificates:
    assert store.location is not None
    data = _read(store.location)
    try:
        from cryptography.hazmat.primitives.serialization import pkcs12
    except ImportError:
        raise SettingError(
            f"{store.location}: PKCS12 is read by the library cryptography: pip install "
            "'penstock[security]', or use PEM"
        ) from None
    try:
        return pkcs12.load_pkcs12(data, store.password.encode() if store.password else None)
    except ValueError as error:
        raise SettingError(f"{store.location}: no PKCS12, or another password: {error}") from None


def _from_pkcs12(store: Store, key_password: str | None) -> KeyPair:
    from cryptography.hazmat.primitives import serialization as form

    loaded = _loaded(store)
    if loaded.key is None or loaded.cert is None:
        raise SettingError(f"{store.location}: no key with its certificate in it")
    key = loaded.key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    chain = (loaded.cert, *loaded.additional_certs)
    pem = [each.certificate.public_bytes(form.Encoding.PEM) for each in chain]
    return KeyPair(key.decode(), b"".join(pem).decode(), None)


def _trusted_of_pkcs12(store: Store) -> str:
    from cryptography.hazmat.primitives import serialization as form

    found = [
        each.certificate.public_bytes(form.Encoding.PEM) for each in _loaded(store).additional_certs
    ]
    if not found:
        raise SettingError(f"{store.location}: no certificate in it")
    return b"".join(found).decode()
