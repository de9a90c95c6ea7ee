"""Values that need no schema: bytes as they are, and UTF-8 text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.pipelines.transforms.undecodable import NotText
from penstock.pipelines.transforms.verdict import Fault, with_verdict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from penstock.pipelines.transforms.decoder import Tombstones


@dataclass(frozen=True, slots=True)
class RawDecoder:
    column: str = "value"
    tombstones: Tombstones = "keep"

    @property
    def schema(self) -> StructType:
        from pyspark.sql.types import BinaryType, StructType

        return StructType().add(self.column, BinaryType())

    def apply(self, rows: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        record = F.struct(F.col("value").alias(self.column))
        return with_verdict(rows, record, [], self.tombstones)

    def load(self, value: bytes) -> dict[str, Any]:
        return {self.column: value}


@dataclass(frozen=True, slots=True)
class TextDecoder:
    column: str = "value"
    tombstones: Tombstones = "dead-letter"

    @property
    def schema(self) -> StructType:
        from pyspark.sql.types import StringType, StructType

        return StructType().add(self.column, StringType())

    def apply(self, rows: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        text = F.col("value").cast("string")
        faults = [Fault(~F.is_valid_utf8(text), "NotText", "the value is not UTF-8 text")]
        return with_verdict(rows, F.struct(text.alias(self.column)), faults, self.tombstones)

    def load(self, value: bytes) -> dict[str, Any]:
        try:
            return {self.column: value.decode()}
        except UnicodeDecodeError:
            raise NotText("the value is not UTF-8 text") from None
