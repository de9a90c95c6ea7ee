"""JSON values, parsed on the JVM in one pass, with nothing wrong let through as nulls.

A value is poison when it is not exactly one JSON object in UTF-8, when a field's value is not of
the declared type, or when a field declared NOT NULL is missing or null. Fields that the schema
does not name are ignored; a nullable field may be missing; a string field takes any JSON value as
its text, and a timestamp field takes a number as seconds, both as Spark does. `json_reader` has
the same rules in plain Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from penstock.pipelines.error import DeclarationError
from penstock.pipelines.transforms.decoder import as_struct
from penstock.pipelines.transforms.json_reader import JsonReader
from penstock.pipelines.transforms.verdict import Fault, with_verdict

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

    from penstock.pipelines.transforms.decoder import Tombstones

_CORRUPT = "_corrupt"
_STRICT = {"allowSingleQuotes": "false", "allowNonNumericNumbers": "false"}
_BREAKS_OUT = r"\][ \t\r\n]*,"


@dataclass(frozen=True, slots=True)
class JsonDecoder:
    declared: str | StructType
    options: Mapping[str, str] = field(default_factory=dict)
    """Those of `from_json`, such as timestampFormat."""
    tombstones: Tombstones = "dead-letter"
    reader: JsonReader | None = field(default=None, compare=False, repr=False)

    @property
    def schema(self) -> StructType:
        return as_struct(self.declared)

    def portable(self) -> JsonDecoder:
        """With the schema parsed, for processes that have no JVM to parse it with."""
        from pyspark.sql import SparkSession

        if self.options:
            raise DeclarationError(
                "decode.json(options=…) is for DataFrames only, and these options were given:"
                f" {', '.join(self.options)}"
            )
        zone = SparkSession.active().conf.get("spark.sql.session.timeZone") or "UTC"
        schema = self.schema
        return replace(self, declared=schema, reader=JsonReader(schema, zone))

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
        return F.from_json(text, wrapper, {**_STRICT, **self.options, **own})

    def _form_faults(self, parsed: Column) -> Iterator[Fault]:
        from pyspark.sql import functions as F

        text = F.col("value").cast("string")
        corrupt = parsed[_CORRUPT].isNotNull()
        listed = _any_json('{"r":[', text, "]}", "array<string>")
        one_document = listed[_CORRUPT].isNull() & (F.size(listed["r"]) == 1)
        an_object = F.ltrim(text, F.lit(" \t\r\n")).startswith("{")
        first = parsed["r"].getItem(0)
        yield Fault(~F.is_valid_utf8(text), "NotJson", "the value is not UTF-8 text")
        yield Fault(
            (corrupt | (F.size(parsed["r"]) != 1) | first.isNull()) & ~one_document,
            "NotJson",
            "the value is not one JSON document",
        )
        yield Fault((corrupt | first.isNull()) & ~an_object, "NotJson", "it is not a JSON object")
        # Closes the array of the wrapper, and opens another: by itself it is no document.
        alone = _any_json('{"r":', text, "}", "string")
        yield Fault(
            text.rlike(_BREAKS_OUT) & alone[_CORRUPT].isNotNull(),
            "NotJson",
            "the value is not one JSON document",
        )
        yield Fault(corrupt, "WrongType", "a field's value is not of the declared type")

    def _required_faults(self, record: Column) -> Iterator[Fault]:
        for path, absent in _required(self.schema, record, "", None):
            yield Fault(absent, "MissingField", f"the required field {path} is missing or null")

    def load(self, value: bytes) -> dict[str, Any]:
        reader = self.reader or JsonReader(self.schema)
        return reader.read(value)


def _any_json(before: str, text: Column, after: str, kind: str) -> Column:
    """JSON of any form, looked at only where something may be wrong with it."""
    from pyspark.sql import functions as F

    whole = F.concat(F.lit(before), text, F.lit(after))
    own = {**_STRICT, "columnNameOfCorruptRecord": _CORRUPT}
    return F.from_json(whole, f"r {kind}, {_CORRUPT} string", own)


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
