"""Single values of JSON as those of Spark's types: what `from_json` takes for which type.

A number is never taken from text, except a decimal; text is taken from anything; a time from the
forms that Spark's cast accepts (`json_time`).
"""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Callable
from decimal import Decimal, DecimalException, localcontext
from typing import TYPE_CHECKING, Any, NoReturn

from penstock.pipelines.transforms import json_time
from penstock.pipelines.transforms.undecodable import WrongType

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

Read = Callable[[Any], Any]

_BITS = {"byte": 8, "short": 16, "integer": 32, "long": 64}
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_GAP = r"[\x00- ]*"
_BASE64 = re.compile(
    rf"(?:{_GAP}[\w+/]{{4}})*(?:{_GAP}(?:[\w+/]{{2}}==|[\w+/]{{3}}=))?{_GAP}", re.ASCII
)


class Rounded(Exception):
    """The number was rounded when it was parsed, and is needed as it is written."""


def wrong_type() -> NoReturn:
    raise WrongType("a field's value is not of the declared type")


def value_reader(kind: DataType, zone: str) -> Read | None:
    """How values of the type are read; None for a type that this module does not know."""
    name = kind.typeName()
    if name in _BITS:
        return _whole(_BITS[name])
    if name == "decimal":
        return _decimal(kind.precision, kind.scale)  # type: ignore[attr-defined]
    if name in ("timestamp", "timestamp_ntz", "date"):
        return _time(name, zone)
    return {
        "string": _string,
        "boolean": _boolean,
        "double": _double,
        "float": _float,
        "binary": _binary,
    }.get(name)


def _string(value: Any) -> str:
    if type(value) is str:
        # A lone surrogate has no place in UTF-8; Java writes a question mark for it.
        return value if value.isascii() else value.encode(errors="replace").decode()
    return _text(value)


def _text(value: Any) -> str:
    """As Jackson writes it, which is what Spark makes of it."""
    if type(value) is dict:
        members = (f"{json.dumps(key, ensure_ascii=False)}:{_text(value[key])}" for key in value)
        return f"{{{','.join(members)}}}"
    if type(value) is list:
        return f"[{','.join(map(_text, value))}]"
    if type(value) is float and abs(value) >= 2**63:
        raise Rounded
    if type(value) in (float, Decimal):
        return _java_double(float(value))
    return json.dumps(value, ensure_ascii=False)


def _java_double(value: float) -> str:
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        plain = format(Decimal(repr(value)), "f")
        return plain if "." in plain else f"{plain}.0"
    if abs(value) == float("inf"):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    written = "".join(map(str, digits))
    power = len(digits) - 1 + int(exponent)
    return f"{'-' if sign else ''}{written[0]}.{written[1:] or '0'}E{power}"


def _boolean(value: Any) -> bool:
    return value if type(value) is bool else wrong_type()


def _whole(bits: int) -> Read:
    least, most = -(1 << bits - 1), (1 << bits - 1) - 1
    # Jackson takes bytes without a sign, too.
    taken = 255 if bits == 8 else most

    def read(value: Any) -> int:
        if type(value) is not int or not least <= value <= taken:
            wrong_type()
        return value if value <= most else value - 256

    return read


def _double(value: Any) -> float:
    if type(value) is float:
        return value
    if type(value) not in (int, Decimal):
        wrong_type()
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _float(value: Any) -> float:
    wide = _double(value)
    try:
        (narrow,) = struct.unpack("f", struct.pack("f", wide))
    except OverflowError:
        return float("inf") if wide > 0 else float("-inf")
    return float(narrow)


def _decimal(precision: int, scale: int) -> Read:
    unit = Decimal(1).scaleb(-scale)

    def read(value: Any) -> Decimal:
        if type(value) is float:
            raise Rounded
        if type(value) not in (int, Decimal, str) or (
            type(value) is str and not _DECIMAL.fullmatch(value)
        ):
            wrong_type()
        try:
            with localcontext(prec=precision):
                return Decimal(value).quantize(unit, rounding="ROUND_HALF_UP")
        except DecimalException:
            wrong_type()

    return read


def _binary(value: Any) -> bytes:
    if type(value) is not str or "_" in value or not _BASE64.fullmatch(value):
        wrong_type()
    return base64.b64decode(value)


def _time(kind: str, zone: str) -> Read:
    parse = json_time.reader(kind, zone)

    def read(value: Any) -> Any:
        try:
            return parse(value)
        except (ValueError, OverflowError):
            wrong_type()

    return read
