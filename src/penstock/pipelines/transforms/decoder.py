"""What a decoder is: raw rows in; the same rows with their record, or with why there is none.

`apply` adds three columns to raw rows:

    _record   struct of the schema's fields; null where the value did not decode or was null
    _error    the error's class; null where nothing is wrong
    _message  what is wrong, for a person

so a row is decoded (`_record` is set), poison (`_error` is set) or a tombstone that the policy
accepts (neither is set). The decoders that there are: `decode`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

RECORD = "_record"
ERROR = "_error"
MESSAGE = "_message"

ORIGIN = ("key", "topic", "partition", "offset", "timestamp", "headers")
"""What stays of a raw row beside its record, with an underscore before it."""

Tombstones = Literal["dead-letter", "drop", "keep"]
"""What becomes of a record without a value: a dead letter, nothing, or a row of nulls."""


Framing = Literal["none", "confluent"]
"""What stands before the encoded value: nothing, or what Confluent's serializers write."""


class Decoder(Protocol):
    @property
    def tombstones(self) -> Tombstones: ...

    @property
    def schema(self) -> StructType:
        """The fields of a decoded record."""

    def apply(self, rows: DataFrame) -> DataFrame:
        """Raw rows and `_record`, `_error`, `_message`."""

    def load(self, value: bytes) -> dict[str, Any]:
        """One value in plain Python; raises ValueError for one that does not decode."""


def as_struct(schema: str | StructType) -> StructType:
    """A schema as Spark has it, from its own words too; these need a JVM that runs."""
    from pyspark.sql.types import StructType

    if isinstance(schema, StructType):
        return schema
    made = StructType.fromDDL(schema)
    assert isinstance(made, StructType)
    return made


def good(rows: DataFrame, decoder: Decoder, schema: StructType | None = None) -> DataFrame:
    """Of applied rows those to work on: the record's fields, and where it came from.

    `schema` is the record's where something was done to it after it was decoded.
    """
    from pyspark.sql import functions as F

    kept = F.col(ERROR).isNull()
    if decoder.tombstones != "keep":
        kept = kept & F.col(RECORD).isNotNull()
    fields = [
        F.col(RECORD).getField(each.name).alias(each.name) for each in schema or decoder.schema
    ]
    return rows.where(kept).select(*fields, *(F.col(each).alias(f"_{each}") for each in ORIGIN))
