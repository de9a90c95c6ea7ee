"""Record keys and values between their bytes and what a person types or reads. Pure."""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from enum import StrEnum
from typing import Any

from penstock.cli.failure import Failure, UsageFailure

_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|.?)", re.DOTALL)
_ESCAPED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"0": b"\0", b"\\": b"\\"}


class Format(StrEnum):
    text = "text"
    json = "json"
    hex = "hex"
    base64 = "base64"


def parse_bytes(text: bytes, form: Format) -> bytes:
    """What was typed, as the bytes to send."""
    try:
        match form:
            case Format.text:
                return text
            case Format.json:
                return encode_json(decode_json(text))
            case Format.hex:
                return bytes.fromhex(text.decode("ascii"))
            case Format.base64:
                return base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error) as error:
        shown = text[:40].decode(errors="replace")
        raise Failure(f"{shown!r} is not {form.value}: {error}") from error


def show_bytes(content: bytes | None, form: Format) -> bytes:
    """Bytes as one field of a printed line; text goes out as it is."""
    if content is None:
        return b"null"
    match form:
        case Format.text:
            return content
        case Format.json:
            return encode_json(_record_json(content))
        case Format.hex:
            return content.hex().encode()
        case Format.base64:
            return base64.b64encode(content)


def json_field(name: str, content: bytes | None, form: Format) -> dict[str, Any]:
    """One member of a JSON line. Text that is not UTF-8 goes out as `<name>_base64`."""
    if content is None:
        return {name: None}
    if form is Format.json:
        return {name: _record_json(content)}
    if form is not Format.text:
        return {name: show_bytes(content, form).decode()}
    try:
        return {name: content.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(content).decode()}


def parse_json_field(record: dict[str, Any], name: str, form: Format) -> bytes | None:
    """The reverse of `json_field`."""
    encoded = record.get(f"{name}_base64")
    if encoded is not None:
        return parse_bytes(str(encoded).encode(), Format.base64)
    content = record.get(name)
    if content is None:
        return None
    if form is Format.json or not isinstance(content, str):
        return encode_json(content)
    return parse_bytes(content.encode(), form)


def encode_json(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def decode_json(text: bytes) -> Any:
    """A ValueError if it is no JSON, or nested too deep to be read."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _record_json(content: bytes) -> Any:
    try:
        return decode_json(content)
    except ValueError as error:
        shown = content[:40].decode(errors="replace")
        raise Failure(f"the record {shown!r} is not JSON; read it with another format") from error


def is_text(text: str) -> bool:
    """Whether it can be encoded: arguments that are not UTF-8 arrive as lone surrogates."""
    return not any("\ud800" <= each <= "\udfff" for each in text)


def typed_bytes(text: str) -> bytes:
    """What was typed as an argument, byte for byte, also where it is not UTF-8."""
    return os.fsencode(text)


def unescape(text: str) -> bytes:
    r"""`\n`, `\t`, `\r`, `\0`, `\\` and `\xHH` as the bytes they stand for."""

    def replace(found: re.Match[bytes]) -> bytes:
        if found[1].startswith(b"x") and len(found[1]) == 3:
            return bytes.fromhex(found[1][1:].decode())
        if found[1] not in _ESCAPED:
            raise UsageFailure(f"{text!r}: the escapes are \\n \\t \\r \\0 \\\\ and \\xHH")
        return _ESCAPED[found[1]]

    return _ESCAPE.sub(replace, typed_bytes(text))
