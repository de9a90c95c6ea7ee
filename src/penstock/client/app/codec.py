"""Values to what a type hint says and back, by way of JSON. Pure.

`bytes` as they are, `str` as UTF-8, dataclasses, TypedDicts and pydantic models of JSON objects,
`dict`, `list`, numbers and Any of any JSON. Fields of a dataclass or TypedDict are made of their
own hints in turn; one that is missing or of another type is an error that says which.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Union

Decode = Callable[[bytes], Any]
_Convert = Callable[[Any, str], Any]

_loads: Decode
try:
    from orjson import loads as _loads
except ImportError:
    _loads = json.loads


def decoder(hint: Any) -> Decode:
    if hint is bytes:
        return bytes
    if hint is str:
        return bytes.decode
    if _is_model(hint):
        validate: Decode = hint.model_validate_json
        return validate
    if hint in (Any, object):
        return _loads
    if hint in (dict, dict[str, Any], dict[str, object]):
        return _json_of(dict)
    convert = _converter(hint)

    def decode(value: bytes) -> Any:
        return convert(_loads(value), "value")

    return decode


def encode(value: Any) -> bytes | None:
    """What a handler returns, or is sent; None stays a null value."""
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    if _is_model(type(value)):
        return bytes(value.model_dump_json().encode())
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)
    return text.encode()


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    if _is_model(type(value)):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _is_model(hint: Any) -> bool:
    """A pydantic model, told without importing pydantic."""
    return isinstance(hint, type) and hasattr(hint, "model_validate_json")


def _json_of(kind: type) -> Decode:
    def decode(value: bytes) -> Any:
        found = _loads(value)
        if type(found) is not kind:
            raise ValueError(f"value is {_name(found)}, not {kind.__name__}")
        return found

    return decode


def _converter(hint: Any) -> _Convert:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any or hint is object:
        return lambda value, _: value
    if origin in (Union, types.UnionType):
        return _one_of([_converter(each) for each in arguments], hint)
    if origin is list:
        return _list_of(_converter(arguments[0]))
    if origin in (dict, Mapping):
        return _dict_of(_converter(arguments[1]))
    if origin is typing.Literal:
        return _literal(arguments)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _object_of(hint, _fields_of(hint))
    if typing.is_typeddict(hint):
        return _typed_dict(hint)
    if _is_model(hint):
        return lambda value, _: hint.model_validate(value)
    return _plain_type(hint)


def _plain_type(hint: Any) -> _Convert:
    if hint is None or hint is type(None):
        wanted: tuple[type, ...] = (type(None),)
    elif hint is float:
        wanted = (float, int)
    elif hint in (int, str, bool, dict, list):
        wanted = (hint,)
    else:
        raise TypeError(f"cannot decode JSON to {hint!r}")

    def convert(value: Any, where: str) -> Any:
        if type(value) not in wanted:
            raise ValueError(f"{where} is {_name(value)}, not {wanted[0].__name__}")
        return float(value) if hint is float else value

    return convert


def _one_of(choices: list[_Convert], hint: Any) -> _Convert:
    def convert(value: Any, where: str) -> Any:
        for each in choices:
            try:
                return each(value, where)
            except ValueError:
                continue
        raise ValueError(f"{where} is {_name(value)}, not {hint}")

    return convert


def _list_of(element: _Convert) -> _Convert:
    def convert(value: Any, where: str) -> Any:
        if type(value) is not list:
            raise ValueError(f"{where} is {_name(value)}, not list")
        return [element(each, f"{where}[{place}]") for place, each in enumerate(value)]

    return convert


def _dict_of(element: _Convert) -> _Convert:
    def convert(value: Any, where: str) -> Any:
        if type(value) is not dict:
            raise ValueError(f"{where} is {_name(value)}, not dict")
        return {key: element(each, f"{where}.{key}") for key, each in value.items()}

    return convert


def _literal(choices: tuple[Any, ...]) -> _Convert:
    def convert(value: Any, where: str) -> Any:
        if value not in choices:
            raise ValueError(f"{where} is {value!r}, not one of {choices}")
        return value

    return convert


def _fields_of(kind: Any) -> dict[str, tuple[_Convert, bool]]:
    """By name: how it is made, and whether it may be missing."""
    hints = typing.get_type_hints(kind)
    missing = dataclasses.MISSING
    return {
        each.name: (
            _converter(hints[each.name]),
            each.default is not missing or each.default_factory is not missing,
        )
        for each in dataclasses.fields(kind)
        if each.init
    }


def _object_of(kind: Any, fields: dict[str, tuple[_Convert, bool]]) -> _Convert:
    def convert(value: Any, where: str) -> Any:
        return kind(**_converted(value, where, fields, keep=False))

    return convert


def _typed_dict(kind: Any) -> _Convert:
    hints = typing.get_type_hints(kind)
    # `__optional_keys__` does not know of annotations that are text.
    said = typing.get_type_hints(kind, include_extras=True)
    fields = {
        name: (
            _converter(hint),
            typing.get_origin(said[name]) is typing.NotRequired or name in kind.__optional_keys__,
        )
        for name, hint in hints.items()
    }

    def convert(value: Any, where: str) -> Any:
        return _converted(value, where, fields, keep=True)

    return convert


def _converted(
    value: Any, where: str, fields: dict[str, tuple[_Convert, bool]], *, keep: bool
) -> dict[str, Any]:
    """Fields that nobody declared are kept in a TypedDict and left out of a dataclass: a producer
    may add some before its consumers know of them."""
    if type(value) is not dict:
        raise ValueError(f"{where} is {_name(value)}, not an object")
    made: dict[str, Any] = dict(value) if keep else {}
    for name, (convert, optional) in fields.items():
        if name in value:
            made[name] = convert(value[name], f"{where}.{name}")
        elif not optional:
            raise ValueError(f"{where}.{name} is missing")
    return made


def _name(value: Any) -> str:
    return "null" if value is None else type(value).__name__
