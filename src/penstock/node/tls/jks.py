"""Reads Java's old key stores (JKS): keys with their certificates, and trusted certificates.

Java protects a key by a stream of SHA-1 digests; nothing but `hashlib` is needed to read it. New
stores should be PKCS12 or PEM.
"""

from __future__ import annotations

import hmac
from hashlib import sha1
from struct import Struct
from struct import error as StructError
from typing import Final, NamedTuple

from penstock.security.der import DerError, only, values

MAGIC: Final = b"\xfe\xed\xfe\xed"
_VERSIONS: Final = (1, 2)
_KEY, _CERTIFICATE = 1, 2
_SALT: Final = b"Mighty Aphrodite"
_DIGEST_BYTES: Final = 20
_SHORT, _INT, _LONG = Struct(">H"), Struct(">I"), Struct(">Q")


class JksError(ValueError):
    """Says what is wrong with the store."""


class JksKey(NamedTuple):
    protected: bytes
    """An EncryptedPrivateKeyInfo."""
    chain: list[bytes]
    """In DER, its own certificate first."""


class Jks(NamedTuple):
    keys: list[JksKey]
    trusted: list[bytes]
    """Certificates in DER."""


def read_jks(data: bytes, password: str | None) -> Jks:
    """Without a password, nobody knows whether somebody has changed the store, as in Java."""
    content, digest = data[:-_DIGEST_BYTES], data[-_DIGEST_BYTES:]
    if password is not None:
        expected = sha1(_encoded(password) + _SALT + content, usedforsecurity=False).digest()
        if not hmac.compare_digest(expected, digest):
            raise JksError("another password, or damaged")
    try:
        return _Reader(content).store()
    except (StructError, UnicodeDecodeError):
        raise JksError("cut off") from None


def unprotected(key: JksKey, password: str) -> bytes:
    """PKCS8, in DER."""
    secret = _encoded(password)
    try:
        _, sealed = values(only(key.protected).content)
    except (DerError, ValueError):
        raise JksError("its key is not protected as Java does it") from None
    salt, data, check = (
        sealed.content[:_DIGEST_BYTES],
        sealed.content[_DIGEST_BYTES:-_DIGEST_BYTES],
        sealed.content[-_DIGEST_BYTES:],
    )
    stream, block = bytearray(), salt
    while len(stream) < len(data):
        block = sha1(secret + block, usedforsecurity=False).digest()
        stream += block
    plain = bytes(one ^ other for one, other in zip(data, stream, strict=False))
    expected = sha1(secret + plain, usedforsecurity=False).digest()
    if not hmac.compare_digest(expected, check):
        raise JksError("its key has another password")
    return plain


def _encoded(password: str) -> bytes:
    return password.encode("utf-16-be")


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def store(self) -> Jks:
        if self._take(len(MAGIC)) != MAGIC or (version := self._int()) not in _VERSIONS:
            raise JksError("no key store of Java's")
        found = Jks([], [])
        for _ in range(self._int()):
            tag = self._int()
            self._text()  # the alias
            self._number(_LONG)  # when it was made
            if tag == _KEY:
                protected = self._take(self._int())
                chain = [self._certificate(version) for _ in range(self._int())]
                found.keys.append(JksKey(protected, chain))
            elif tag == _CERTIFICATE:
                found.trusted.append(self._certificate(version))
            else:
                raise JksError("an entry that is neither a key nor a certificate")
        return found

    def _certificate(self, version: int) -> bytes:
        if version > 1:
            self._text()  # its type: X.509
        return self._take(self._int())

    def _text(self) -> str:
        return self._take(self._number(_SHORT)).decode()

    def _int(self) -> int:
        return self._number(_INT)

    def _number(self, form: Struct) -> int:
        (number,) = form.unpack(self._take(form.size))
        return int(number)

    def _take(self, size: int) -> bytes:
        taken = self._data[self._at : self._at + size]
        if len(taken) < size:
            raise StructError
        self._at += size
        return taken
