"""Users that a cluster begins with: `--add-scram 'SCRAM-SHA-256=[name=alice,password=...]'`.

The form and the words are those of Kafka's storage tool, except that no password is repeated.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Iterable

from penstock.node.format.error import FormatError
from penstock.protocol.messages.records.user_scram_credential_record import (
    UserScramCredentialRecord,
)
from penstock.security.scram import (
    ITERATIONS_MAX,
    ITERATIONS_MIN,
    TYPES,
    credential_of,
    salted_password,
)


def parse_credentials(
    arguments: Iterable[str], new_salt: Callable[[], bytes]
) -> tuple[UserScramCredentialRecord, ...]:
    return tuple(_record(argument.strip(), new_salt) for argument in arguments)


def _record(argument: str, new_salt: Callable[[], bytes]) -> UserScramCredentialRecord:
    mechanism, equals, text = argument.partition("=")
    if not equals:
        raise FormatError("--add-scram: expected MECHANISM=[name=NAME,password=PASSWORD]")
    if mechanism not in TYPES:
        raise FormatError(f"The add-scram mechanism {mechanism} is not supported.")
    if not text.startswith("[") or not text.endswith("]"):
        raise FormatError("--add-scram: expected the configuration string to be in [ and ]")
    said = dict(_component(part) for part in text[1:-1].split(","))
    name = said.pop("name", None)
    if not name:
        raise FormatError("You must supply 'name' to add-scram")
    iterations = _iterations(mechanism, said.pop("iterations", None))
    given_salt = said.pop("salt", None)
    salt = new_salt() if given_salt is None else _decoded("salt", given_salt)
    salted = _salted(mechanism, said, salt, iterations, has_salt=given_salt is not None)
    if said:
        raise FormatError(f"Unknown SCRAM configurations: {', '.join(sorted(said))}")
    kept = credential_of(mechanism, salted, salt, iterations)
    return UserScramCredentialRecord(
        name=name,
        mechanism=TYPES[mechanism],
        salt=kept.salt,
        stored_key=kept.stored_key,
        server_key=kept.server_key,
        iterations=kept.iterations,
    )


def _component(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise FormatError("No equals sign found in SCRAM component")
    if len(value) >= 2 and value[0] == value[-1] == '"':
        value = value[1:-1]
    return name, value


def _iterations(mechanism: str, text: str | None) -> int:
    if text is None:
        return ITERATIONS_MIN
    if not (text.isascii() and text.isdecimal()):
        raise FormatError(f"Failed to parse iterations count: {text}")
    iterations = int(text)
    if iterations < ITERATIONS_MIN:
        raise FormatError(
            f"The 'iterations' value must be >= {ITERATIONS_MIN} for add-scram using {mechanism}"
        )
    if iterations > ITERATIONS_MAX:
        raise FormatError(
            f"The 'iterations' value must be <= {ITERATIONS_MAX} for add-scram using {mechanism}"
        )
    return iterations


def _salted(
    mechanism: str, said: dict[str, str], salt: bytes, iterations: int, *, has_salt: bool
) -> bytes:
    password, salted = said.pop("password", None), said.pop("saltedpassword", None)
    if password is not None:
        return salted_password(mechanism, password, salt, iterations)
    if salted is None:
        raise FormatError("You must supply one of 'password' or 'saltedpassword' to add-scram")
    if not has_salt:
        raise FormatError("You must supply 'salt' with 'saltedpassword' to add-scram")
    return _decoded("saltedPassword", salted)


def _decoded(what: str, text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except Base64Error:
        raise FormatError(f"Failed to decode given {what}") from None
