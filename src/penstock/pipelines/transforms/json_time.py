"""Times and dates in the forms that Spark's cast from text accepts, with the zones it knows."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

_DATE = r"([+-]?\d{4,6})(?:-(\d{1,2})(?:-(\d{1,2})"
_TIME = r"(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?\s*(\S.*?)?)?)?"
_STAMP = re.compile(rf"\s*{_DATE}(?:[ T]{_TIME})?)?)?\s*", re.ASCII)
_CLOCK = re.compile(rf"\s*T?(?=\d+:){_TIME}\s*", re.ASCII)
_DAY = re.compile(rf"\s*{_DATE}(?:[ T].*)?)?)?\s*", re.ASCII | re.DOTALL)
_DAYS = re.compile(r"[+-]?\d+", re.ASCII)
_SHIFT = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{1,2})(?::?(\d{1,2}))?)?", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_JAVA_SHORT = {
    "ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo", "AST": "America/Anchorage", "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka", "CAT": "Africa/Harare", "CNT": "America/St_Johns",
    "CST": "America/Chicago", "CTT": "Asia/Shanghai", "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris", "EST": "-05:00", "HST": "-10:00",
    "IET": "America/Indiana/Indianapolis", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia", "MST": "-07:00", "NET": "Asia/Yerevan", "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi", "PNT": "America/Phoenix", "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal", "VST": "Asia/Ho_Chi_Minh",
}  # fmt: skip


def reader(kind: str, zone: str) -> Callable[[Any], Any]:
    """For `timestamp`, `timestamp_ntz` or `date`; what it gives raises ValueError."""
    if kind == "date":
        return _date
    if kind == "timestamp_ntz":
        return lambda value: _stamp(value, UTC)[0]
    own = _zone(zone)
    return lambda value: _timestamp(value, own)


def _timestamp(value: Any, zone: tzinfo) -> datetime:
    if type(value) is int:
        return _EPOCH + timedelta(seconds=value)
    local, said = _stamp(value, zone)
    return local.replace(tzinfo=_zone(said) if said else zone).astimezone(UTC)


def _stamp(value: Any, zone: tzinfo) -> tuple[datetime, str]:
    """Without its zone, and what is said of that."""
    if type(value) is not str:
        raise ValueError("no text")
    try:
        return _parsed(value, zone)
    except ValueError:
        return _parsed(value.replace("GMT", "", 1), zone)


def _parsed(text: str, zone: tzinfo) -> tuple[datetime, str]:
    found = _STAMP.fullmatch(text)
    if found is not None:
        day, clock = _day(*found.groups()[:3]), found.groups()[3:]
    else:
        found = _CLOCK.fullmatch(text)
        if found is None:
            raise ValueError("no time")
        day, clock = datetime.now(zone).date(), found.groups()
    hour, minute, second, fraction, said = clock
    micros = int((fraction or "0").ljust(6, "0")[:6])
    at = time(int(hour or 0), int(minute or 0), int(second or 0), micros)
    if said:
        _zone(said)
    return datetime.combine(day, at), said or ""


def _date(value: Any) -> date:
    if type(value) is not str:
        raise ValueError("no text")
    found = _DAY.fullmatch(value)
    if found is not None:
        return _day(*found.groups())
    if _DAYS.fullmatch(value):
        return _EPOCH.date() + timedelta(days=int(value))
    raise ValueError("no date")


def _day(year: str, month: str | None, day: str | None) -> date:
    return date(int(year), int(month or 1), int(day or 1))


@lru_cache(maxsize=256)
def _zone(name: str) -> tzinfo:
    name = _JAVA_SHORT.get(name, name)
    if name in ("Z", "UTC", "GMT", "UT"):
        return UTC
    shift = _SHIFT.fullmatch(name)
    if shift is None:
        try:
            return ZoneInfo(name)
        except (KeyError, OSError):
            raise ValueError(f"no zone {name}") from None
    sign, *parts = shift.groups()
    hours, minutes, seconds = (int(each or 0) for each in parts)
    off = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if off > timedelta(hours=18):
        raise ValueError(f"no zone {name}")
    return timezone(-off if sign == "-" else off)
