"""JSON values, parsed on the JVM in one pass, with nothing wrong let through as nulls.

A value is poison when it is not exactly one JSON object in UTF-8, when a field's value is not of
the declared type, or when a field declared NOT NULL is missing or null. Fields that the schema
does not name are ignored; a nullable field may be missing; a string field takes any JSON value as
its text, and a timestamp field takes a number as seconds, both as Spark does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from penstock.pipelines.transforms.decode import as_struct
from penstock.pipelines.transforms.verdict import Fault, with_verdict

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

    from penstock.pipelines.transforms.decode import Tombstones

_CORRUPT = "_corrupt"


@dataclass(frozen=True, slots=True)
class JsonDecoder:
    declared: str | StructType
    options: Mapping[str, str] = field(default_factory=dict)
    """Those of `from_json`, such as timestampFormat."""
    tombstones: Tombstones = "dead-letter"

    @property
    def schema(self) -> StructType:
        return as_struct(self.declared)

    def apply(self, rows: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        parsed = F.col("_parsed")
        record = parsed["r"].getItem(0)
        faults = [*self._form_faults(parsed), *self._required_faults(record)]
        with_parsed = rows.withColumn("_parsed", self._parse())
        return with_verdict(with_parsed, record, faults, self.tombstones).drop("_parsed")

    def _parse(self) -> Column:
        """Wrapped in an array, since Spark would not see what follows after a first object."""
        from pyspark.sql import functions as F
        from pyspark.sql.types import ArrayType, StringType, StructType

        wrapper = StructType().add("r", ArrayType(self.schema)).add(_CORRUPT, StringType())
        text = F.concat(F.lit('{"r":['), F.col("value").cast("string"), F.lit("]}"))
        own = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
        return F.from_json(text, wrapper, {**self.options, **own})

    def _form_faults(self, parsed: Column) -> Iterator[Fault]:
        from pyspark.sql import functions as F

        text = F.col("value").cast("string")
        corrupt = parsed[_CORRUPT].isNotNull()
        documents = F.json_array_length(F.concat(F.lit("["), text, F.lit("]")))
        one_document = F.coalesce(documents == 1, F.lit(False))
        an_object = F.ltrim(text).startswith("{")
        first = parsed["r"].getItem(0)
        yield Fault(~F.is_valid_utf8(text), "NotJson", "the value is not UTF-8 text")
        yield Fault(
            (corrupt | (F.size(parsed["r"]) != 1) | first.isNull()) & ~one_document,
            "NotJson",
            "the value is not one JSON document",
        )
        yield Fault((corrupt | first.isNull()) & ~an_object, "NotJson", "it is not a JSON object")
        yield Fault(corrupt, "WrongType", "a field's value is not of the declared type")

    def _required_faults(self, record: Column) -> Iterator[Fault]:
        for path, absent in _required(self.schema, record, "", None):
            yield Fault(absent, "MissingField", f"the required field {path} is missing or null")

    def load(self, value: bytes) -> dict[str, Any]:
        import orjson

        record = orjson.loads(value)
        if not isinstance(record, dict):
            raise ValueError("it is not a JSON object")
        absent = [each.name for each in self.schema if not each.nullable]
        for name in absent:
            if record.get(name) is None:
                raise ValueError(f"the required field {name} is missing or null")
        return record


def _required(
    schema: StructType, holder: Column, prefix: str, held: Column | None
) -> Iterator[tuple[str, Column]]:
    """Each NOT NULL field, structs within structs included, and when it is absent."""
    from pyspark.sql.types import StructType

    for each in schema:
        path, value = prefix + each.name, holder.getField(each.name)
        if not each.nullable:
            yield path, value.isNull() if held is None else held & value.isNull()
        if isinstance(each.dataType, StructType):
            within = value.isNotNull() if held is None else held & value.isNotNull()
            yield from _required(each.dataType, value, f"{path}.", within)
