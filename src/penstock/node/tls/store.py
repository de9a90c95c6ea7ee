"""Keys and certificates as PEM, from wherever the settings have them.

PEM and JKS need nothing more than Python; PKCS12 is read by `cryptography`, of the extra
`security`. Which of the two a store of Java's is, its first bytes say, as they do for Java: tools
write PKCS12 into files that are called JKS. Kafka's words say what contradicts what.
"""

from __future__ import annotations

import re
from base64 import b64encode
from textwrap import wrap
from typing import TYPE_CHECKING, Final, NamedTuple

from penstock.node.tls.jks import MAGIC, Jks, JksError, read_jks, unprotected
from penstock.node.tls.settings import JKS, PEM, Store, TlsSettings
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
    data = _read(store.location)
    if data.startswith(MAGIC):
        return _from_jks(data, store, settings.key_password)
    return _from_pkcs12(data, store)


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
    data = _read(store.location)
    if data.startswith(MAGIC):
        return _trusted_of_jks(data, store)
    return _trusted_of_pkcs12(data, store)


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


def _loaded(data: bytes, store: Store) -> PKCS12KeyAndCertificates:
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


def _from_pkcs12(data: bytes, store: Store) -> KeyPair:
    from cryptography.hazmat.primitives import serialization as form

    loaded = _loaded(data, store)
    if loaded.key is None or loaded.cert is None:
        raise SettingError(f"{store.location}: no key with its certificate in it")
    key = loaded.key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    chain = (loaded.cert, *loaded.additional_certs)
    pem = [each.certificate.public_bytes(form.Encoding.PEM) for each in chain]
    return KeyPair(key.decode(), b"".join(pem).decode(), None)


def _trusted_of_pkcs12(data: bytes, store: Store) -> str:
    from cryptography.hazmat.primitives import serialization as form

    certificates = _loaded(data, store).additional_certs
    found = [each.certificate.public_bytes(form.Encoding.PEM) for each in certificates]
    if not found:
        raise SettingError(f"{store.location}: no certificate in it")
    return b"".join(found).decode()


# JKS


def _from_jks(data: bytes, store: Store, key_password: str | None) -> KeyPair:
    found = _read_jks(data, store)
    if len(found.keys) != 1:
        said = len(found.keys) or "no"
        raise SettingError(f"{store.location}: {said} private keys, where one is expected")
    password = key_password or store.password
    if password is None:
        raise SettingError(f"{store.location}: a key store of type {JKS} needs a password")
    (key,) = found.keys
    try:
        pem = _pem("PRIVATE KEY", unprotected(key, password))
    except JksError as error:
        raise SettingError(f"{store.location}: {error}") from None
    return KeyPair(pem, "".join(_pem("CERTIFICATE", each) for each in key.chain), None)


def _trusted_of_jks(data: bytes, store: Store) -> str:
    found = _read_jks(data, store).trusted
    if not found:
        raise SettingError(f"{store.location}: no certificate in it")
    return "".join(_pem("CERTIFICATE", each) for each in found)


def _read_jks(data: bytes, store: Store) -> Jks:
    try:
        return read_jks(data, store.password)
    except JksError as error:
        raise SettingError(f"{store.location}: {error}") from None


def _pem(kind: str, der: bytes) -> str:
    text = "\n".join(wrap(b64encode(der).decode(), 64))
    return f"-----BEGIN {kind}-----\n{text}\n-----END {kind}-----\n"
