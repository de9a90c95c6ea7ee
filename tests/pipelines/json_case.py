"""JSON values and what `decode.json(SCHEMA)` makes of them, wherever it is used.

One list for DataFrames, tables and keyed pipelines: each has its own way of decoding.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

SCHEMA = (
    "id string NOT NULL, amount double, n int, at timestamp, place struct<city: string NOT NULL>,"
    " long long, tiny byte, small short, rough float, ok boolean, price decimal(6,2), day date,"
    " raw binary, tags array<string>, counts map<string, int>, lines array<struct<sku: string>>"
)
_FIELDS = (
    "id", "amount", "n", "at", "place", "long", "tiny", "small", "rough", "ok", "price", "day",
    "raw", "tags", "counts", "lines",
)  # fmt: skip


def record(**fields: Any) -> dict[str, Any]:
    return {**dict.fromkeys(_FIELDS), "id": "a", **fields}


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _with(members: str) -> bytes:
    return b'{"id":"a",' + members.encode() + b"}"


GOOD: list[tuple[bytes, dict[str, Any]]] = [
    (b' {"id":"a"} ', record()),
    (b'\n\t{"id":"a"}\r\n', record()),
    ('{"id":"ü€😀"}'.encode(), record(id="ü€😀")),
    (b'{"id":"\\u00fc\\n"}', record(id="ü\n")),
    (b'{"id":"\\ud800"}', record(id="?")),
    (_with('"unknown":[1,{}],"amount":null'), record()),
    (_with('"place":null,"tags":null'), record()),
    # A string takes anything, without the spaces between.
    (b'{"id":5}', record(id="5")),
    (b'{"id":18446744073709551616}', record(id="18446744073709551616")),
    (b'{"id":1.50}', record(id="1.5")),
    (b'{"id":12345678.9}', record(id="1.23456789E7")),
    (b'{"id":-0.0001}', record(id="-1.0E-4")),
    (b'{"id":true}', record(id="true")),
    (b'{"id":{"b": [1, 2.0 ],"c":"\\n"}}', record(id='{"b":[1,2.0],"c":"\\n"}')),
    (b'{"id": [ 1, null] }', record(id="[1,null]")),
    (_with('"tags":["x",null,5,{"y": 1}]'), record(tags=["x", None, "5", '{"y":1}'])),
    # Numbers.
    (_with('"amount":1.5,"n":3'), record(amount=1.5, n=3)),
    (_with('"amount":1,"n":-0'), record(amount=1.0, n=0)),
    (_with('"amount":1e400'), record(amount=float("inf"))),
    (_with('"n":2147483647,"long":9223372036854775807'), record(n=2**31 - 1, long=2**63 - 1)),
    (_with('"tiny":127,"small":-32768'), record(tiny=127, small=-32768)),
    (_with('"tiny":200'), record(tiny=-56)),
    (_with('"rough":0.1,"ok":false'), record(rough=0.10000000149011612, ok=False)),
    (_with('"price":12.345'), record(price=Decimal("12.35"))),
    (_with('"price":"7.1"'), record(price=Decimal("7.10"))),
    (_with('"price":3'), record(price=Decimal("3.00"))),
    # Times.
    (_with('"at":"2024-01-02T03:04:05.678901Z"'), record(at=at("2024-01-02T03:04:05.678901"))),
    (_with('"at":"2024-01-02 03:04:05"'), record(at=at("2024-01-02T03:04:05"))),
    (_with('"at":"2024-01-02T03:04:05+01:30"'), record(at=at("2024-01-02T01:34:05"))),
    (_with('"at":"2024-07-02T03:04:05 Europe/Berlin"'), record(at=at("2024-07-02T01:04:05"))),
    (_with('"at":"2024-01-02T03:04:00 CST"'), record(at=at("2024-01-02T09:04:00"))),
    (_with('"at":"2024-01-02T03:04"'), record(at=at("2024-01-02T03:04:00"))),
    (_with('"at":"2024-01-02T03:04:05.1234567890"'), record(at=at("2024-01-02T03:04:05.123456"))),
    (_with('"at":"2024-01-02T03:04:05GMT+01:00"'), record(at=at("2024-01-02T02:04:05"))),
    (_with('"at":"2024-1-2"'), record(at=at("2024-01-02"))),
    (_with('"at":"2024-03"'), record(at=at("2024-03-01"))),
    (_with('"at":1700000000'), record(at=datetime.fromtimestamp(1700000000, UTC))),
    (_with('"day":"2024-02-29"'), record(day=date(2024, 2, 29))),
    (_with('"day":"2024-02-29T10:00:00"'), record(day=date(2024, 2, 29))),
    # The rest.
    (_with('"raw":"aGVsbG8="'), record(raw=b"hello")),
    (_with('"raw":"aGVs\\nbG8="'), record(raw=b"hello")),
    (_with('"day":"5"'), record(day=date(1970, 1, 6))),
    (_with('"place":{"city":"x","more":1}'), record(place={"city": "x"})),
    (_with('"counts":{"x":1,"y":null}'), record(counts={"x": 1, "y": None})),
    (_with('"lines":[{"sku":"s"},{},null]'), record(lines=[{"sku": "s"}, {"sku": None}, None])),
    (_with('"tags":["x"] ,"lines":[]'), record(tags=["x"], lines=[])),
]

POISON: list[tuple[bytes, str]] = [
    (b"", "NotJson"),
    (b"   ", "NotJson"),
    (b"\x00\x01", "NotJson"),
    (b'{"id":"a"', "NotJson"),
    (b'{"id":"a"} and more', "NotJson"),
    (b'{"id":"a"}{"id":"b"}', "NotJson"),
    (b'{"id":"a"},{"id":"b"}', "NotJson"),
    (b'{"id":"a"}],"r":[{"id":"b"}', "NotJson"),
    (b'{"id":"a"} ] , "x":[{}', "NotJson"),
    (b'{"id":"\xff"}', "NotJson"),
    (b'\xef\xbb\xbf{"id":"a"}', "NotJson"),
    (b"{'id':'a'}", "NotJson"),
    (b'{id:"a"}', "NotJson"),
    (b'{"id":"a",}', "NotJson"),
    (b'{"id":"a","n":01}', "NotJson"),
    (b'{"id":"a","amount":NaN}', "NotJson"),
    (b'{"id":"a","amount":.5}', "NotJson"),
    (b'{"id":"a\nb"}', "NotJson"),
    (b'{"id":"\\x"}', "NotJson"),
    (b'/* no */ {"id":"a"}', "NotJson"),
    (b"null", "NotJson"),
    (b"5", "NotJson"),
    (b'"text"', "NotJson"),
    (b'[{"id":"a"}]', "NotJson"),
    (_with('"amount":"1.5"'), "WrongType"),
    (_with('"amount":"NaN"'), "WrongType"),
    (_with('"amount":""'), "WrongType"),
    (_with('"n":1.5'), "WrongType"),
    (_with('"n":1.0'), "WrongType"),
    (_with('"n":1e2'), "WrongType"),
    (_with('"n":3000000000'), "WrongType"),
    (_with('"n":true'), "WrongType"),
    (_with('"n":"3"'), "WrongType"),
    (_with('"long":9223372036854775808'), "WrongType"),
    (_with('"small":40000'), "WrongType"),
    (_with('"tiny":256'), "WrongType"),
    (_with('"ok":"true"'), "WrongType"),
    (_with('"ok":1'), "WrongType"),
    (_with('"price":12345.6'), "WrongType"),
    (_with('"price":"much"'), "WrongType"),
    (_with('"price":" 5 "'), "WrongType"),
    (_with('"price":"NaN"'), "WrongType"),
    (_with('"at":"yesterday"'), "WrongType"),
    (_with('"at":"2024-13-01"'), "WrongType"),
    (_with('"at":"2024-01-01T25:00:00"'), "WrongType"),
    (_with('"at":1.5'), "WrongType"),
    (_with('"at":""'), "WrongType"),
    (_with('"day":"2023-02-29"'), "WrongType"),
    (_with('"day":7'), "WrongType"),
    (_with('"at":"2024-01-01T10:00:00+25:00"'), "WrongType"),
    (_with('"at":"2024-01-01T10:00:00 Nowhere"'), "WrongType"),
    (_with('"at":"2024-01-02T03:04Z"'), "WrongType"),
    (_with('"at":"12 o clock"'), "WrongType"),
    (_with('"raw":"%%%"'), "WrongType"),
    (_with('"raw":"aGVsbG8"'), "WrongType"),
    (_with('"raw":7'), "WrongType"),
    (_with('"place":"here"'), "WrongType"),
    (_with('"place":["here"]'), "WrongType"),
    (_with('"place":{"city":"x"},"n":{}'), "WrongType"),
    (_with('"tags":"x"'), "WrongType"),
    (_with('"tags":{"0":"x"}'), "WrongType"),
    (_with('"counts":{"x":"1"}'), "WrongType"),
    (_with('"counts":[1]'), "WrongType"),
    (_with('"lines":["s"]'), "WrongType"),
    (b'\n{"id":"a","n":"3"}', "WrongType"),
    (b"{}", "MissingField"),
    (b'{"id":null}', "MissingField"),
    (_with('"place":{}'), "MissingField"),
]
