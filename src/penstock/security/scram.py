"""SCRAM (RFC 5802): the keys that are made of a password, and the messages of both sides.

As Kafka has it: names and passwords are taken as they are, in UTF-8, without SASLprep; names in
messages are ASCII, with `=2C` for a comma and `=3D` for an equals sign; there is no channel
binding.
"""

from __future__ import annotations

import hmac
import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from hashlib import new as new_hash
from hashlib import pbkdf2_hmac
from typing import Final, NamedTuple

from penstock.security.mechanism import SCRAM_SHA_256, SCRAM_SHA_512
from penstock.security.sasl_error import InvalidCredentials

HASHES: Final = {SCRAM_SHA_256: "sha256", SCRAM_SHA_512: "sha512"}
TYPES: Final = {SCRAM_SHA_256: 1, SCRAM_SHA_512: 2}
"""By which a mechanism goes in records and requests."""
ITERATIONS_MIN: Final = 4096
ITERATIONS_MAX: Final = 16384
TOKEN_AUTH: Final = "tokenauth"

_NAME: Final = r"(?:[\x01-\x7f](?<![=,])|=2C|=3D)+"
_NONCE: Final = r"[\x21-\x7e](?<!,)"
_BASE64: Final = r"(?:[a-zA-Z0-9/+]{4})*(?:[a-zA-Z0-9/+]{3}=|[a-zA-Z0-9/+]{2}==)?"
_EXTENSIONS: Final = r"(?:,[A-Za-z]+=[\x01-\x2b\x2d-\x7f]+)*"
_CLIENT_FIRST: Final = re.compile(
    rf"(?P<gs2>n,(?:a=(?P<authorization>{_NAME}))?,)"
    rf"(?P<bare>n=(?P<name>{_NAME}),r=(?P<nonce>(?:{_NONCE})+)(?P<extensions>{_EXTENSIONS}))",
    re.DOTALL,
)
_SERVER_FIRST: Final = re.compile(
    rf"r=(?P<nonce>(?:{_NONCE})+),s=(?P<salt>{_BASE64}),i=(?P<iterations>[0-9]{{1,9}}){_EXTENSIONS}",
    re.DOTALL,
)
_CLIENT_FINAL: Final = re.compile(
    rf"(?P<bare>c=(?P<binding>{_BASE64}),r=(?P<nonce>(?:{_NONCE})+){_EXTENSIONS}),"
    rf"p=(?P<proof>{_BASE64})",
    re.DOTALL,
)


class ScramCredential(NamedTuple):
    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int


class ClientFirst(NamedTuple):
    gs2_header: str
    authorization_id: str
    name: str
    nonce: str
    bare: str
    extensions: dict[str, str]


class ServerFirst(NamedTuple):
    nonce: str
    salt: bytes
    iterations: int


class ClientFinal(NamedTuple):
    binding: bytes
    nonce: str
    without_proof: str
    proof: bytes


def salted_password(mechanism: str, password: str, salt: bytes, iterations: int) -> bytes:
    return pbkdf2_hmac(HASHES[mechanism], password.encode(), salt, iterations)


def credential_of(mechanism: str, salted: bytes, salt: bytes, iterations: int) -> ScramCredential:
    """What is kept of it; the password cannot be had from that."""
    stored = stored_key(mechanism, client_key(mechanism, salted))
    return ScramCredential(salt, stored, server_key(mechanism, salted), iterations)


def client_key(mechanism: str, salted: bytes) -> bytes:
    return hmac.digest(salted, b"Client Key", HASHES[mechanism])


def stored_key(mechanism: str, key: bytes) -> bytes:
    return new_hash(HASHES[mechanism], key).digest()


def server_key(mechanism: str, salted: bytes) -> bytes:
    return hmac.digest(salted, b"Server Key", HASHES[mechanism])


def signature(mechanism: str, key: bytes, auth_message: str) -> bytes:
    return hmac.digest(key, auth_message.encode(), HASHES[mechanism])


def xor(one: bytes, other: bytes) -> bytes:
    """Of the same length."""
    return (int.from_bytes(one, "big") ^ int.from_bytes(other, "big")).to_bytes(len(one), "big")


def sasl_name(name: str) -> str:
    return name.replace("=", "=3D").replace(",", "=2C")


def encode_server_first(message: ServerFirst) -> str:
    return f"r={message.nonce},s={b64encode(message.salt).decode()},i={message.iterations}"


def decode_client_first(data: bytes) -> ClientFirst:
    found = _matched(_CLIENT_FIRST, data, "first")
    extensions = dict(one.split("=", 1) for one in found["extensions"].split(",")[1:])
    return ClientFirst(
        found["gs2"],
        _plain_name(found["authorization"] or ""),
        _plain_name(found["name"]),
        found["nonce"],
        found["bare"],
        extensions,
    )


def decode_server_first(data: bytes) -> ServerFirst:
    found = _matched(_SERVER_FIRST, data, "first")
    return ServerFirst(found["nonce"], _decoded(found["salt"]), int(found["iterations"]))


def decode_client_final(data: bytes) -> ClientFinal:
    found = _matched(_CLIENT_FINAL, data, "final")
    return ClientFinal(
        _decoded(found["binding"]), found["nonce"], found["bare"], _decoded(found["proof"])
    )


def _matched(pattern: re.Pattern[str], data: bytes, which: str) -> re.Match[str]:
    try:
        found = pattern.fullmatch(data.decode())
    except UnicodeDecodeError:
        found = None
    if found is None:
        raise InvalidCredentials(f"Invalid SCRAM {which} message format")
    return found


def _plain_name(name: str) -> str:
    return name.replace("=2C", ",").replace("=3D", "=")


def _decoded(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except Base64Error as error:
        raise InvalidCredentials(f"Invalid SCRAM message format: {error}") from error
