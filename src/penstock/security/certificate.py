"""What a certificate says: whose it is, for which hosts, until when."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cached_property
from typing import Final

from penstock.security.der import OBJECT_ID, DerError, Value, object_id, only, values
from penstock.security.distinguished_name import distinguished_name

_VERSION: Final = 0xA0
_EXTENSIONS: Final = 0xA3
_UTC_TIME: Final = 0x17
_ALT_NAMES: Final = "2.5.29.17"

_SUBJECT: Final = 4
_VALIDITY: Final = 3


class Certificate:
    """Read when asked: most of the time nobody wants more than the subject."""

    def __init__(self, der: bytes) -> None:
        (signed, *_) = values(only(der).content)
        fields = list(values(signed.content))
        if fields and fields[0].tag == _VERSION:
            del fields[0]
        if len(fields) <= _SUBJECT:
            raise DerError("not a certificate")
        self._fields = fields

    @cached_property
    def subject(self) -> str:
        return distinguished_name(self._fields[_SUBJECT].whole)

    @cached_property
    def not_after(self) -> datetime:
        _, last = values(self._fields[_VALIDITY].content)
        return _time(last)

    @cached_property
    def alternative_names(self) -> frozenset[bytes]:
        """Tagged, as they stand there: to be compared."""
        for number, value in self._extensions():
            if number == _ALT_NAMES:
                return frozenset(each.whole for each in values(only(value).content))
        return frozenset()

    def _extensions(self) -> list[tuple[str, bytes]]:
        found = []
        for field in self._fields:
            if field.tag == _EXTENSIONS:
                for each in values(only(field.content).content):
                    (kind, *_, value) = values(each.content)
                    if kind.tag == OBJECT_ID:
                        found.append((object_id(kind.content), value.content))
        return found


def _time(value: Value) -> datetime:
    text = value.content.decode("ascii", "replace").rstrip("Z")
    if value.tag == _UTC_TIME:
        # Two digits of the year: from 1950 on.
        text = ("19" if text[:2] >= "50" else "20") + text
    try:
        return datetime.strptime(text[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        raise DerError(f"no time: {text!r}") from None
