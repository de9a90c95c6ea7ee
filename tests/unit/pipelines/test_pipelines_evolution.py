"""What may change between a table and the rows for it, told by name; without Spark's Java."""

from __future__ import annotations

import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType

from penstock.pipelines.error import RunError
from penstock.pipelines.sinks.evolution import new_columns, spark_columns, widened

TEXT, NUMBER = StringType(), LongType()


def struct(**fields: StringType | LongType | StructType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in fields.items()])


HAVE = struct(id=TEXT, place=struct(city=TEXT, at=struct(x=NUMBER)))


def added(rows: StructType) -> list[tuple[str, ...]]:
    return [each.path for each in new_columns("t", spark_columns(HAVE), spark_columns(rows))]


def test_columns_and_fields_are_added_where_they_stand() -> None:
    rows = struct(place=struct(zip=TEXT, at=struct(y=NUMBER, x=NUMBER)), note=TEXT)
    assert added(rows) == [("place", "zip"), ("place", "at", "y"), ("note",)]
    place = struct(city=TEXT, at=struct(x=NUMBER, y=NUMBER), zip=TEXT)
    assert widened(HAVE, rows) == struct(id=TEXT, place=place, note=TEXT)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (struct(place=struct(at=struct(x=TEXT))), "column place.at.x is bigint there and string"),
        (struct(place=struct(City=TEXT)), "column place.City of the rows is city there"),
        (struct(place=TEXT), "column place is struct<city:string,at:struct<x:bigint>> there and"),
    ],
)
def test_what_cannot_be_is_refused_by_its_whole_name(rows: StructType, said: str) -> None:
    with pytest.raises(RunError, match=said):
        added(rows)
