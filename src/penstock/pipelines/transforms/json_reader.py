"""JSON objects in plain Python, by the same rules as `json_form` has on the JVM.

For tables and keyed pipelines, whose values are decoded in Python workers. What a single value is
for which type is in `json_value`; here are documents, structs, lists and maps.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NoReturn

import orjson

from penstock.pipelines.error import DeclarationError
from penstock.pipelines.transforms.json_value import Read, Rounded, value_reader, wrong_type
from penstock.pipelines.transforms.undecodable import MissingField, NotJson

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType


class JsonReader:
    def __init__(self, schema: StructType, zone: str = "UTC") -> None:
        self._schema = schema
        self._zone = zone
        self._read = _struct(schema, zone)
        self._required = tuple(_required(schema, ()))

    def __reduce__(self) -> tuple[type[JsonReader], tuple[StructType, str]]:
        return JsonReader, (self._schema, self._zone)

    def read(self, value: bytes) -> dict[str, Any]:
        """The record; raises one of `undecodable`."""
        try:
            record = self._record(orjson.loads(value))
        except (orjson.JSONDecodeError, Rounded):
            # Numbers beyond a double and lone surrogates are JSON to Spark, and not to orjson.
            record = self._record(_exactly(value))
        for path in self._required:
            _require(record, path)
        return record

    def _record(self, document: Any) -> dict[str, Any]:
        if type(document) is not dict:
            raise NotJson("it is not a JSON object")
        record: dict[str, Any] = self._read(document)
        return record


def _struct(schema: StructType, zone: str) -> Read:
    fields = [(each.name, _reader(each.dataType, zone)) for each in schema]

    def read(value: Any) -> Any:
        if type(value) is not dict:
            wrong_type()
        get = value.get
        return {
            name: None if (found := get(name)) is None else convert(found)
            for name, convert in fields
        }

    return read


def _list(convert: Read) -> Read:
    def read(value: Any) -> Any:
        if type(value) is not list:
            wrong_type()
        return [None if each is None else convert(each) for each in value]

    return read


def _map(convert: Read) -> Read:
    def read(value: Any) -> Any:
        if type(value) is not dict:
            wrong_type()
        return {key: None if each is None else convert(each) for key, each in value.items()}

    return read


def _reader(kind: DataType, zone: str) -> Read:
    from pyspark.sql import types

    if isinstance(kind, types.StructType):
        return _struct(kind, zone)
    if isinstance(kind, types.ArrayType):
        return _list(_reader(kind.elementType, zone))
    if isinstance(kind, types.MapType) and isinstance(kind.keyType, types.StringType):
        return _map(_reader(kind.valueType, zone))
    single = value_reader(kind, zone)
    if single is None:
        raise DeclarationError(
            f"JSON is not decoded to {kind.simpleString()} outside of DataFrames: declare a string"
        )
    return single


def _required(schema: StructType, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The paths of NOT NULL fields, structs within structs included."""
    from pyspark.sql.types import StructType

    for each in schema:
        path = (*above, each.name)
        if not each.nullable:
            yield path
        if isinstance(each.dataType, StructType):
            yield from _required(each.dataType, path)


def _require(record: Mapping[str, Any], path: tuple[str, ...]) -> None:
    holder: Any = record
    for name in path[:-1]:
        holder = holder[name]
        if holder is None:
            return
    if holder[path[-1]] is None:
        raise MissingField(f"the required field {'.'.join(path)} is missing or null")


def _exactly(value: bytes) -> Any:
    """The document with every number as it is written."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        raise NotJson("the value is not UTF-8 text") from None
    try:
        return _loads(text)
    except (ValueError, RecursionError):
        raise NotJson("the value is not one JSON document") from None


def _no_constant(_: str) -> NoReturn:
    raise ValueError("NaN and Infinity are no JSON")


_loads: Callable[[str], Any] = json.JSONDecoder(
    parse_float=Decimal, parse_constant=_no_constant
).decode
