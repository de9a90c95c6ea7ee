"""A plain Python function for each decoded record, whose failures are that record's alone.

    @each("id string, risk double")
    def scored(order):
        return {"id": order["id"], "risk": ask_the_model(order)}

    sources.topic("orders", decode=decode.json("id string, amount double"), each=scored)

It runs in Python workers, on rows that a decoder was applied to. What it returns takes the record's
place. A record it raises for becomes a dead letter: at once, or with a TransientError after it was
tried again. This module decides that and adds the columns that say so; it writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from penstock.pipelines.error import PoisonError
from penstock.pipelines.retry import Failure, Retry, attempt
from penstock.pipelines.transforms.decoder import ERROR, MESSAGE, RECORD, as_struct

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

CLASS = "_class"
TRIES = "_tries"
RULE = "_rule"
"""The expectation that the record has failed, if that is what was wrong."""
FAILED = "failed"
"""An observed metric of a batch: the records that the function failed for, or that it made
something of that an expectation failed for, and why."""

_PLACE = ("topic", "partition", "offset")
_WHY = "error string, message string, class string, tries int, rule string"
_MESSAGE_MAX = 1_000

Function = Callable[[dict[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Each:
    function: Function
    declared: str | StructType
    retry: Retry = field(default_factory=Retry)

    def __call__(self, record: dict[str, Any]) -> Mapping[str, Any]:
        """The function itself, for tests."""
        return self.function(record)

    @property
    def schema(self) -> StructType:
        """The fields that the function returns."""
        return as_struct(self.declared)

    def apply(self, rows: DataFrame) -> DataFrame:
        """Decoded rows with what the function made of them, and how it failed."""
        from pyspark.sql import functions as F
        from pyspark.sql.pandas.functions import arrow_udf
        from pyspark.sql.types import StructType

        outcome = StructType([*as_struct(_WHY).fields]).add("record", self.schema)
        make: Any = arrow_udf
        # Not deterministic, so Spark calls it once for each row, and never for a filter's sake.
        call = make(_call(self, outcome), returnType=outcome).asNondeterministic()
        called = rows.withColumn("_outcome", call(F.col(RECORD)))
        return _with_outcome(called, F.col("_outcome.record")).drop("_outcome")

    def known(self, rows: DataFrame, failures: Sequence[Mapping[str, Any]]) -> DataFrame:
        """Decoded rows with these failures, as the batch reported them, without a call."""
        from pyspark.sql import functions as F

        place = "topic string, partition int, offset long"
        told: SparkSession = rows.sparkSession
        # A task whose work was lost, and done again by another, has reported its rows twice.
        once = {tuple(each[name] for name in _PLACE): each for each in failures}
        frame = told.createDataFrame(
            [tuple(each[name] for name in (*_PLACE, *_names())) for each in once.values()],
            f"{place}, {_WHY}",
        )
        marked = frame.select(*_PLACE, F.struct(*_names()).alias("_outcome"))
        joined = rows.join(F.broadcast(marked), list(_PLACE), "left")
        return _with_outcome(joined, F.col(RECORD)).drop("_outcome")


def each(schema: str | StructType, *, retry: Retry | None = None) -> Callable[[Function], Each]:
    """Decorate a function from a record's fields to those of the schema."""

    def declare(function: Function) -> Each:
        return Each(function, schema, retry or Retry())

    return declare


def failed_column() -> Column:
    """The metric: of the rows of a batch, those that the function failed for."""
    from pyspark.sql import functions as F

    own = {"error": ERROR, "message": MESSAGE, "class": CLASS, "tries": TRIES, "rule": RULE}
    what = F.struct(*_PLACE, *(F.col(name).alias(alias) for alias, name in own.items()))
    return F.collect_list(F.when(F.col(CLASS).isNotNull(), what)).alias(FAILED)


def _with_outcome(rows: DataFrame, record: Column) -> DataFrame:
    from pyspark.sql import functions as F

    outcome = F.col("_outcome")
    return (
        rows.withColumn(RECORD, F.when(outcome["error"].isNull(), record))
        .withColumn(ERROR, F.coalesce(F.col(ERROR), outcome["error"]))
        .withColumn(MESSAGE, F.coalesce(F.col(MESSAGE), outcome["message"]))
        .withColumn(CLASS, outcome["class"])
        .withColumn(TRIES, outcome["tries"])
        .withColumn(RULE, outcome["rule"])
    )


def _names() -> list[str]:
    return [each.split()[0] for each in _WHY.split(", ")]


def _call(own: Each, schema: StructType) -> Callable[[Any], Any]:
    """Records in, outcomes out, in Arrow."""
    import pyarrow
    from pyspark.sql.pandas.types import to_arrow_type

    kind = to_arrow_type(schema)
    record_kind = kind.field("record").type

    def call(records: Any) -> Any:
        outcomes = [_outcome(own, record, record_kind) for record in records.to_pylist()]
        return pyarrow.array(outcomes, type=kind)

    # Spark tells the kind of function by these, as classes: as text it could not resolve them.
    call.__annotations__ = {"records": pyarrow.Array, "return": pyarrow.Array}
    return call


def _outcome(own: Each, record: dict[str, Any] | None, kind: Any) -> dict[str, Any] | None:
    if record is None:
        return None
    answer = attempt(partial(_returned, own.function, record, kind), own.retry)
    if not isinstance(answer, Failure):
        return {"record": answer}
    return {
        "error": type(answer.error).__name__,
        "message": str(answer.error)[:_MESSAGE_MAX],
        "class": answer.kind,
        "tries": answer.tries,
    }


def _returned(function: Function, record: dict[str, Any], kind: Any) -> Mapping[str, Any]:
    """What the function returns, if it is a row of the schema."""
    import pyarrow

    made = function(record)
    if not isinstance(made, Mapping):
        raise PoisonError(f"the function is to return fields by name, and returned {made!r}")
    try:
        pyarrow.scalar(dict(made), type=kind)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError) as error:
        raise PoisonError(f"what the function returned is not of its schema: {error}") from None
    return made
