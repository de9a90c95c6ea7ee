"""Avro's binary encoding without a header, decoded on the JVM by Spark.

Spark answers bytes that do not decode with a record of nulls, which a good record may be as well.
The schema is therefore wrapped in a record of one field: the bytes of both are the same, and that
one field is null only where decoding failed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.pipelines.transforms.confluent_framing import PREFIX_BYTES, behind_prefix
from penstock.pipelines.transforms.undecodable import NotAvro
from penstock.pipelines.transforms.verdict import Fault, with_verdict

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from penstock.pipelines.transforms.decoder import Framing, Tombstones

_LENGTH_LIMIT = str(64 * 1024 * 1024)
_LIMITS = tuple(
    f"org.apache.avro.limits.{what}.maxLength" for what in ("bytes", "string", "collectionItems")
)


@dataclass(frozen=True, slots=True)
class AvroDecoder:
    declared: str | Mapping[str, Any]
    framing: Framing = "none"
    tombstones: Tombstones = "dead-letter"

    @property
    def schema(self) -> StructType:
        from pyspark.sql import SparkSession

        spark = SparkSession.active()
        kind = spark._jvm.org.apache.spark.sql.avro.SchemaConverters  # type: ignore[union-attr]
        parser = spark._jvm.org.apache.avro.Schema.Parser()  # type: ignore[union-attr]
        from pyspark.sql.types import StructType

        converted = kind.toSqlType(parser.parse(self._text())).dataType().json()
        return StructType.fromJson(json.loads(converted))

    def _document(self) -> Any:
        return json.loads(self.declared) if isinstance(self.declared, str) else self.declared

    def _text(self) -> str:
        return json.dumps(self._document())

    def _wrapped(self) -> str:
        only = {"name": "record", "type": self._document()}
        return json.dumps({"type": "record", "name": "PenstockEnvelope", "fields": [only]})

    def apply(self, rows: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F
        from pyspark.sql.avro.functions import from_avro

        _limit_lengths(rows.sparkSession)
        decoded = from_avro(self._payload(), self._wrapped(), {"mode": "PERMISSIVE"})
        record = F.col("_parsed.record")
        name = self._document().get("name", "record")
        faults = [*self._framing_faults()]
        faults.append(Fault(record.isNull(), "NotAvro", f"the bytes are not a {name} in Avro"))
        if _one_encoding(self._document()):
            faults.append(
                Fault(self._excess(), "NotAvro", f"bytes are left after the {name} in Avro")
            )
        with_parsed = rows.withColumn("_parsed", decoded)
        return with_verdict(with_parsed, record, faults, self.tombstones).drop("_parsed")

    def _payload(self) -> Column:
        from pyspark.sql import functions as F

        value = F.col("value")
        if self.framing == "none":
            return value
        return F.substring(value, PREFIX_BYTES + 1, 2**31 - 1)

    def _framing_faults(self) -> Iterator[Fault]:
        from pyspark.sql import functions as F

        if self.framing == "confluent":
            value = F.col("value")
            magic = F.substring(value, 1, 1) == F.lit(b"\x00")
            framed = magic & (F.length(value) >= PREFIX_BYTES)
            yield Fault(~framed, "NotAvro", "there is no magic byte and schema id before it")

    def _excess(self) -> Column:
        from pyspark.sql import functions as F
        from pyspark.sql.avro.functions import to_avro

        encoded = F.length(to_avro("_parsed", self._wrapped()))
        return encoded != F.length(self._payload())

    def load(self, value: bytes) -> dict[str, Any]:
        from io import BytesIO

        import fastavro

        if self.framing == "confluent":
            value = behind_prefix(value, NotAvro)
        stream = BytesIO(value)
        try:
            record = fastavro.schemaless_reader(stream, self._document(), None)
        except Exception as error:
            raise NotAvro(f"the bytes are not of the schema ({error})") from error
        if stream.read(1):
            raise NotAvro("bytes are left after the record")
        if not isinstance(record, dict):
            raise NotAvro("the schema is not of a record")
        return record


def _one_encoding(schema: Any) -> bool:
    """Whether a value has only one encoding: lists and maps may be cut into blocks at will."""
    if isinstance(schema, list):
        # Spark makes a struct of a union of more than one kind; that is not written back.
        return len([each for each in schema if each != "null"]) < 2 and all(
            _one_encoding(each) for each in schema
        )
    if not isinstance(schema, Mapping):
        return True
    kind = schema["type"]
    if kind == "record":
        return all(_one_encoding(each["type"]) for each in schema["fields"])
    return kind not in ("array", "map") and "logicalType" not in schema and _one_encoding(kind)


def _limit_lengths(spark: SparkSession) -> None:
    """A damaged length must not have the JVM allocate gigabytes; read when Avro is first used.

    Executors of a cluster take the same properties from spark.executor.extraJavaOptions.
    """
    system = spark._jvm.java.lang.System  # type: ignore[union-attr]
    for each in _LIMITS:
        if system.getProperty(each) is None:
            system.setProperty(each, _LENGTH_LIMIT)
