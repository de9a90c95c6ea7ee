"""A user's function, looked at: what it is to be given, and whether it is asynchronous. Pure."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.client.app.codec import Decode, decoder
from penstock.client.error import DeclarationError
from penstock.client.record import Message


@dataclass(frozen=True, slots=True)
class Handler:
    name: str
    call: Callable[..., Any]
    decode: Decode
    wants_message: bool
    takes_none: bool
    """A record without a value is handed on as None; else it is decoded, and fails."""
    is_async: bool


def look_at(function: Callable[..., Any]) -> Handler:
    name = getattr(function, "__qualname__", repr(function))
    try:
        hints = typing.get_type_hints(function)
    except NameError as error:
        raise DeclarationError(f"{name}: {error}; type hints must be known here") from error
    parameters = list(inspect.signature(function).parameters.values())
    if not 1 <= len(parameters) <= 2:
        raise DeclarationError(f"{name} takes a value and, if it wants, a Message: def {name}(...)")
    value = hints.get(parameters[0].name, Any)
    if len(parameters) == 2 and hints.get(parameters[1].name, Message) is not Message:
        raise DeclarationError(f"{name}: the second argument is a penstock.client.Message")
    hint, takes_none = _without_none(value)
    try:
        decode = decoder(hint)
    except TypeError as error:
        raise DeclarationError(f"{name}: {error}") from error
    return Handler(
        name,
        function,
        decode,
        wants_message=len(parameters) == 2,
        takes_none=takes_none,
        is_async=inspect.iscoroutinefunction(function),
    )


def _without_none(hint: Any) -> tuple[Any, bool]:
    """`Order | None` is an Order, and takes tombstones."""
    if hint is Any:
        return hint, True
    choices = typing.get_args(hint)
    if type(None) not in choices or typing.get_origin(hint) is typing.Literal:
        return hint, False
    rest = tuple(each for each in choices if each is not type(None))
    return (rest[0] if len(rest) == 1 else typing.Union[rest]), True  # noqa: UP007
