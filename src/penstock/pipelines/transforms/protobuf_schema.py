"""Protobuf's types as Spark's: the schema of a message, and its values as plain Python.

A field with presence is null when unset; one without has its default. Enums are their names,
unsigned 64-bit numbers decimals, `google.protobuf.Timestamp` a timestamp, wrappers what they wrap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from penstock.pipelines.error import DeclarationError

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

_TIMESTAMP = "google.protobuf.Timestamp"
_WRAPPERS = "google.protobuf."
_WRAPPED_FIELD = "value"


def struct_of(descriptor: Any, above: tuple[str, ...] = ()) -> StructType:
    from pyspark.sql.types import StructType

    if descriptor.full_name in above:
        raise DeclarationError(
            f"{descriptor.full_name} holds itself, which no table can: decode it in your own UDF"
        )
    struct = StructType()
    for field in descriptor.fields:
        struct = struct.add(field.name, _type_of(field, (*above, descriptor.full_name)))
    return struct


def plain(message: Any) -> dict[str, Any]:
    return {field.name: _value(message, field) for field in message.DESCRIPTOR.fields}


def _type_of(field: Any, above: tuple[str, ...]) -> DataType:
    from pyspark.sql.types import ArrayType, MapType

    if _is_map(field):
        key, value = (field.message_type.fields_by_name[each] for each in ("key", "value"))
        return MapType(_single_type(key, above), _single_type(value, above))
    single = _single_type(field, above)
    return ArrayType(single) if _is_repeated(field) else single


def _single_type(field: Any, above: tuple[str, ...]) -> DataType:
    from pyspark.sql import types

    if field.cpp_type != field.CPPTYPE_MESSAGE:
        return _scalar_type(field)
    if field.message_type.full_name == _TIMESTAMP:
        return types.TimestampType()
    if _is_wrapper(field.message_type):
        return _scalar_type(field.message_type.fields_by_name[_WRAPPED_FIELD])
    return struct_of(field.message_type, above)


def _scalar_type(field: Any) -> DataType:
    from pyspark.sql import types

    if field.type == field.TYPE_BYTES:
        return types.BinaryType()
    return {
        field.CPPTYPE_INT32: types.IntegerType(),
        field.CPPTYPE_INT64: types.LongType(),
        field.CPPTYPE_UINT32: types.LongType(),
        field.CPPTYPE_UINT64: types.DecimalType(20, 0),
        field.CPPTYPE_DOUBLE: types.DoubleType(),
        field.CPPTYPE_FLOAT: types.FloatType(),
        field.CPPTYPE_BOOL: types.BooleanType(),
        field.CPPTYPE_ENUM: types.StringType(),
        field.CPPTYPE_STRING: types.StringType(),
    }[field.cpp_type]


def _value(message: Any, field: Any) -> Any:
    found = getattr(message, field.name)
    if _is_map(field):
        single = _reading(field.message_type.fields_by_name["value"])
        return {key: single(found[key]) for key in found}
    single = _reading(field)
    if _is_repeated(field):
        return [single(each) for each in found]
    if field.has_presence and not message.HasField(field.name):
        return None
    return single(found)


def _reading(field: Any) -> Callable[[Any], Any]:
    if field.cpp_type == field.CPPTYPE_MESSAGE:
        return _message_value
    if field.cpp_type == field.CPPTYPE_ENUM:
        names = field.enum_type.values_by_number
        return lambda number: names[number].name if number in names else str(number)
    if field.cpp_type == field.CPPTYPE_UINT64:
        from decimal import Decimal

        return Decimal
    return _same


def _same(value: Any) -> Any:
    return value


def _message_value(message: Any) -> Any:
    if message.DESCRIPTOR.full_name == _TIMESTAMP:
        from datetime import UTC, datetime, timedelta

        since = timedelta(seconds=message.seconds, microseconds=message.nanos // 1000)
        return datetime(1970, 1, 1, tzinfo=UTC) + since
    if _is_wrapper(message.DESCRIPTOR):
        return _value(message, message.DESCRIPTOR.fields_by_name[_WRAPPED_FIELD])
    return plain(message)


def _is_repeated(field: Any) -> bool:
    known = getattr(field, "is_repeated", None)
    return bool(field.label == field.LABEL_REPEATED if known is None else known)


def _is_map(field: Any) -> bool:
    own = field.message_type
    return own is not None and bool(own.GetOptions().map_entry)


def _is_wrapper(descriptor: Any) -> bool:
    name: str = descriptor.full_name
    return (
        name.startswith(_WRAPPERS)
        and name.endswith("Value")
        and list(descriptor.fields_by_name) == [_WRAPPED_FIELD]
    )
