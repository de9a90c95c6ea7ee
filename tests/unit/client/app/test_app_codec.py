"""Values by type hint: decoded, encoded, and refused with a reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, TypedDict

import pytest
from pydantic import BaseModel

from penstock.client import App, DeclarationError, Message, Retry
from penstock.client.app.codec import decoder, encode
from penstock.client.app.handler import look_at


@dataclass
class Item:
    sku: str
    count: int = 1


@dataclass
class Order:
    id: int
    total: float
    items: list[Item] = field(default_factory=list)
    note: str | None = None


class Payment(TypedDict):
    id: int
    currency: NotRequired[Literal["EUR", "USD"]]


class Customer(BaseModel):
    id: int
    name: str = "?"


@pytest.mark.parametrize(
    ("hint", "text", "value"),
    [
        (bytes, b"\x00\xff", b"\x00\xff"),
        (str, "grün".encode(), "grün"),
        (dict, b'{"a":[1]}', {"a": [1]}),
        (Any, b"[1]", [1]),
        (int, b"7", 7),
        (list[Item], b'[{"sku":"x"}]', [Item("x")]),
        (dict[str, int], b'{"a":1}', {"a": 1}),
        (
            Order,
            b'{"id":1,"total":2,"items":[{"sku":"x","count":3}],"new":true}',
            Order(1, 2.0, [Item("x", 3)]),
        ),
        (Payment, b'{"id":1,"more":2}', {"id": 1, "more": 2}),
        (Customer, b'{"id":1}', Customer(id=1)),
    ],
)
def test_values_that_fit(hint: Any, text: bytes, value: Any) -> None:
    assert decoder(hint)(text) == value


@pytest.mark.parametrize(
    ("hint", "text", "said"),
    [
        (dict, b"[]", "value is list, not dict"),
        (Order, b"[]", "value is list, not an object"),
        (Order, b'{"id":1}', "value.total is missing"),
        (Order, b'{"id":"1","total":2}', "value.id is str, not int"),
        (Order, b'{"id":true,"total":2}', "value.id is bool, not int"),
        (Order, b'{"id":1,"total":2,"items":[{"sku":1}]}', r"value.items\[0\].sku is int"),
        (Payment, b'{"id":1,"currency":"XXX"}', "value.currency is 'XXX'"),
        (Customer, b'{"id":"x"}', "valid integer"),
        (str, b"\xff", "utf-8"),
        (dict, b"{", "line 1|EOF|end"),
    ],
)
def test_values_that_do_not(hint: Any, text: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        decoder(hint)(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (b"\xff", b"\xff"),
        ("grün", "grün".encode()),
        ({"a": [1, "ü"]}, '{"a":[1,"ü"]}'.encode()),
        (
            Order(1, 2.0, [Item("x")]),
            b'{"id":1,"total":2.0,"items":[{"sku":"x","count":1}],"note":null}',
        ),
        (Customer(id=1), b'{"id":1,"name":"?"}'),
        ([Customer(id=1)], b'[{"id":1,"name":"?"}]'),
    ],
)
def test_encoded(value: Any, text: bytes | None) -> None:
    assert encode(value) == text


def test_what_has_no_json_form_is_named() -> None:
    with pytest.raises(TypeError, match="object has no JSON form"):
        encode({"a": object()})


def test_a_handler_is_looked_at() -> None:
    async def both(order: Order | None, message: Message) -> None: ...
    def plain(value) -> None: ...  # type: ignore[no-untyped-def]

    looked = look_at(both)
    assert (looked.is_async, looked.wants_message, looked.takes_none) == (True, True, True)
    looked = look_at(plain)
    assert (looked.is_async, looked.wants_message, looked.takes_none) == (False, False, True)


def test_declarations_that_cannot_run() -> None:
    app = App("a")

    def nothing() -> None: ...
    def second(value: dict[str, Any], other: int) -> None: ...
    def odd(value: complex) -> None: ...
    def fine(value: dict[str, Any]) -> None: ...

    for function, said in ((nothing, "takes a value"), (second, "Message"), (odd, "complex")):
        with pytest.raises(DeclarationError, match=said):
            app.consumer("t")(function)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"concurrency": 0}, "concurrency"),
        ({"buffer": 0}, "buffer is at least 1"),
        ({"order": "keys"}, "order='keys' is none of key, partition, none"),
        ({"delivery": "once"}, "is none of at-least-once"),
        ({"start": "beginning"}, "is none of earliest, latest"),
        ({"timeout": "soon"}, "soon"),
        ({"delivery": "at-most-once", "retry": Retry("1m")}, "no retry topics"),
        ({"dead_letters": "t"}, "its own dead letters"),
    ]
    for options, said in refused:
        with pytest.raises(DeclarationError, match=said):
            app.consumer("t", **options)(fine)
    app.consumer("t")(fine)
    with pytest.raises(DeclarationError, match="two consumers of the group a"):
        app.consumer("u")(fine)
