"""The name in a certificate, written as Kafka writes it: RFC 2253, as Java does.

The parts stand in the reverse of their order in the certificate. Only nine attributes have a name;
any other stands as its number, with its value in hexadecimal.
"""

from __future__ import annotations

from typing import Final

from penstock.security.der import DerError, object_id, only, values

_NAMES: Final = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
_STRINGS: Final = frozenset((0x0C, 0x13, 0x14, 0x16, 0x1B, 0x1C, 0x1E))
"""Tags of all kinds of strings. Java takes them all for UTF-8, so a name is the same there."""
_ESCAPED: Final = frozenset(',=+<>#;"\\')


def distinguished_name(name: bytes) -> str:
    """Of the DER of a name, such as the subject of a certificate."""
    parts = [_part(each.content) for each in values(only(name).content)]
    return ",".join(reversed(parts))


def _part(content: bytes) -> str:
    """Mostly one attribute, and several joined by +."""
    return "+".join(_attribute(each.content) for each in values(content))


def _attribute(content: bytes) -> str:
    try:
        kind, value = values(content)
    except ValueError:
        raise DerError("an attribute without a value") from None
    number = object_id(kind.content)
    name = _NAMES.get(number)
    if name is None or value.tag not in _STRINGS:
        return f"{name or number}=#{value.whole.hex()}"
    return f"{name}={_escaped(value.content.decode('utf-8', 'replace'))}"


def _escaped(text: str) -> str:
    inner = text.strip(" \r")
    if not inner:
        return "".join("\\" + each for each in text)
    start = text.index(inner)
    head, tail = text[:start], text[start + len(inner) :]
    return "".join(
        (
            *("\\" + each for each in head),
            *map(_character, inner),
            *("\\" + each for each in tail),
        )
    )


def _character(each: str) -> str:
    if each == "\0":
        return "\\00"
    return "\\" + each if each in _ESCAPED else each
