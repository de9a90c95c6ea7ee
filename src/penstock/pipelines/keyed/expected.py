"""Expectations of a keyed pipeline: Spark says which of the source's rules a record breaks.

The rules are SQL over the columns of the source's decoder, so Spark decodes the record for them,
and the step's own decoding is Python's all the same. With states in a topic the rows come with a
number whose bits are the rules that are broken, and the lane counts them and writes the dead
letters. With states in Spark's store, rules and their dead letters are those of any DataFrame
pipeline; there the record's value has to come along.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.pipelines.transforms.decoder import RECORD, Decoder, Tombstones
from penstock.pipelines.transforms.expectation import (
    Expectation,
    broken_bits,
    metric_names,
    told_of,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from penstock.pipelines.sources.topic import TopicSource

BROKEN = "broken"
"""The column with the rules that a record breaks, as bits; null where it does not decode."""
VALUE = "_value"


class ExpectationFailed(Exception):
    def __init__(self, rule: Expectation) -> None:
        super().__init__(told_of(rule))
        self.rule = rule.name


def with_broken(raw: DataFrame, source: TopicSource) -> DataFrame:
    """Raw rows with the rules they break; one that ends the run does so here."""
    judged = source.judged(source.decode.apply(raw), stops=True)
    return judged.select(*raw.columns, broken_bits(source.expect).alias(BROKEN))


def refusals(
    rules: Sequence[Expectation], broken: Sequence[int | None]
) -> tuple[dict[int, ExpectationFailed], Counter[str]]:
    """By the place of a record why it is a dead letter; and for how many each rule did not hold."""
    refused, counts = {}, Counter[str]()
    judged, *fields = metric_names(rules)
    for place, bits in enumerate(broken):
        if bits is None:
            continue
        counts[judged] += 1
        if not bits:
            continue
        failed = [index for index in range(len(rules)) if bits >> index & 1]
        counts.update(fields[index] for index in failed)
        first = next((i for i in failed if rules[i].action == "dead-letter"), None)
        if first is not None:
            refused[place] = ExpectationFailed(rules[first])
    return refused, counts


@dataclass(frozen=True, slots=True)
class WithValue:
    """A decoder whose records have the value they were made of as well."""

    decode: Decoder

    @property
    def tombstones(self) -> Tombstones:
        return self.decode.tombstones

    @property
    def schema(self) -> StructType:
        from pyspark.sql.types import BinaryType, StructField, StructType

        return StructType([*self.decode.schema, StructField(VALUE, BinaryType())])

    def apply(self, rows: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        decoded = self.decode.apply(rows)
        whole = F.col(RECORD).withField(VALUE, F.col("value"))
        return decoded.withColumn(RECORD, whole)

    def load(self, value: bytes) -> dict[str, Any]:
        return self.decode.load(value)
