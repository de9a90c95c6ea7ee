"""Expectations: conditions that rows are to satisfy, and what becomes of rows that do not.

    sources.topic("orders", decode=…, expect=[expect_or_dead_letter("paid", "amount > 0")])

A condition is SQL over the columns that the pipeline's function gets, or that it returns. A row
that it is false or null for is counted, and with the other two words kept out of the way or the
end of the run. This module makes columns and metrics of that; it writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from penstock.pipelines.error import DeclarationError
from penstock.pipelines.retry import POISON
from penstock.pipelines.transforms.decoder import ERROR, MESSAGE, ORIGIN, RECORD
from penstock.pipelines.transforms.each import CLASS, RULE, TRIES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

Action = Literal["count", "dead-letter", "stop"]

ERROR_CLASS: Final = "ExpectationFailed"
JUDGED: Final = "judged"
"""An observed metric: how many rows the rules were applied to."""
_BROKEN = "_broken"
_FAILED = "failed_"
_CHANGING = re.compile(
    r"\b(now|curdate|current_\w+|localtimestamp|rand|randn|random|randstr|uuid|shuffle|uniform"
    r"|unix_timestamp\s*\(\s*\)|monotonically_increasing_id|spark_partition_id)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Expectation:
    name: str
    condition: str
    action: Action

    def __post_init__(self) -> None:
        changing = _CHANGING.search(self.condition) if self.action == "dead-letter" else None
        if changing is not None:
            raise DeclarationError(
                f"expectation {self.name}: {changing[0]} changes from time to time; which rows are"
                " dead letters must depend on the rows alone"
            )


def expect(name: str, condition: str) -> Expectation:
    """Count the rows that satisfy the condition, and those that do not."""
    return Expectation(name, condition, "count")


def expect_or_dead_letter(name: str, condition: str) -> Expectation:
    """Rows that do not satisfy the condition become dead letters."""
    return Expectation(name, condition, "dead-letter")


def expect_or_stop(name: str, condition: str) -> Expectation:
    """A row that does not satisfy the condition ends the run, before its batch is committed."""
    return Expectation(name, condition, "stop")


def require_different(place: str, rules: Sequence[Expectation]) -> None:
    names = [each.name for each in rules]
    twice = sorted({each for each in names if names.count(each) > 1})
    if twice:
        raise DeclarationError(f"{place} has two expectations named {', '.join(twice)}")


def judged_input(
    rows: DataFrame, rules: Sequence[Expectation], schema: StructType, *, stops: bool
) -> DataFrame:
    """Decoded rows with which rules they break; those for the dead letters without a record.

    `stops`: whether a rule that ends the run does so, or counts only.
    """
    from pyspark.sql import functions as F

    fields = [F.col(RECORD).getField(each.name).alias(each.name) for each in schema]
    origin = [F.col(each).alias(f"_{each}") for each in ORIGIN]
    held = rows.select(F.struct(*rows.columns).alias("_row"), *fields, *origin)
    broken = F.struct(*(_broken(each).alias(_field(i)) for i, each in enumerate(rules)))
    there = F.col("_row").getField(RECORD).isNotNull()
    marked = held.select("_row.*", F.when(there, broken).alias(_BROKEN))
    return _with_outcome(marked, rules, stops=stops)


def _with_outcome(rows: DataFrame, rules: Sequence[Expectation], *, stops: bool) -> DataFrame:
    from pyspark.sql import functions as F

    why = F.lit(None).cast("struct<rule:string,message:string>")
    for index, each in reversed(list(enumerate(rules))):
        if each.action == "dead-letter":
            told = F.struct(F.lit(each.name).alias("rule"), F.lit(told_of(each)).alias("message"))
            why = F.when(F.col(_BROKEN)[_field(index)], told).otherwise(why)
    rows = rows.withColumn("_why", why)
    failed = F.col("_why").isNotNull()
    error = F.when(failed, F.lit(ERROR_CLASS)).otherwise(F.col(ERROR))
    for index, each in enumerate(rules):
        if stops and each.action == "stop":
            place = F.concat_ws(" ", F.lit("offset"), "offset", F.lit("of"), _partition())
            raised = F.raise_error(F.concat(F.lit(f"{told_of(each)}: "), place)).cast("string")
            error = F.when(F.col(_BROKEN)[_field(index)], raised).otherwise(error)
    columns = {
        RECORD: F.when(~failed, F.col(RECORD)),
        ERROR: error,
        MESSAGE: F.coalesce(F.col("_why.message"), F.col(MESSAGE)),
        RULE: F.coalesce(F.col("_why.rule"), _known(rows, RULE)),
    }
    if CLASS in rows.columns:
        # A function stands before it: its batch reports the row, which is not judged again.
        columns[CLASS] = F.when(failed, F.lit(POISON)).otherwise(F.col(CLASS))
        columns[TRIES] = F.when(failed, F.lit(1)).otherwise(F.col(TRIES))
    return rows.withColumns(columns).drop("_why")


def _known(rows: DataFrame, name: str) -> Column:
    from pyspark.sql import functions as F

    return F.col(name) if name in rows.columns else F.lit(None).cast("string")


def input_metrics(rules: Sequence[Expectation]) -> Iterator[Column]:
    from pyspark.sql import functions as F

    broken = F.col(_BROKEN)
    yield F.count(broken).alias(JUDGED)
    for index, _ in enumerate(rules):
        yield F.count(F.when(broken[_field(index)], 1)).alias(_field(index))


def broken_bits(rules: Sequence[Expectation]) -> Column:
    """Of judged rows a number with a bit for each rule that is broken; null where none applied."""
    from pyspark.sql import functions as F

    broken, bits = F.col(_BROKEN), F.lit(0).cast("long")
    for index, _ in enumerate(rules):
        bits = bits + F.when(broken[_field(index)], F.lit(1 << index)).otherwise(F.lit(0))
    # The error is asked for because that is where a rule ends the run.
    there = broken.isNotNull() & (F.col(ERROR).isNull() | (F.col(ERROR) == ERROR_CLASS))
    return F.when(there, bits)


def metric_names(rules: Sequence[Expectation]) -> tuple[str, ...]:
    """How many rows were judged, and for how many each rule did not hold: as `outcomes` reads."""
    return (JUDGED, *(_field(index) for index, _ in enumerate(rules)))


def judged_output(
    frame: DataFrame, rules: Sequence[Expectation], *, metric: str | None, output: str
) -> DataFrame:
    """An output's rows, counted under the metric, if there is one to be, and stopped at."""
    if metric is not None:
        frame = frame.observe(metric, *output_metrics(rules))
    return stopped_output(frame, rules, output=output)


def output_metrics(rules: Sequence[Expectation]) -> list[Column]:
    from pyspark.sql import functions as F

    told = [F.count(F.lit(1)).alias(JUDGED)]
    told += [F.count(F.when(_broken(each), 1)).alias(_field(i)) for i, each in enumerate(rules)]
    return told


def stopped_output(frame: DataFrame, rules: Sequence[Expectation], *, output: str) -> DataFrame:
    """An output's rows, up to one that breaks a rule which ends the run."""
    from pyspark.sql import functions as F

    for each in rules:
        if each.action == "stop":
            raised = F.raise_error(F.lit(f"{told_of(each)}: a row of output {output}"))
            frame = frame.where(F.when(_broken(each), raised.cast("boolean")).otherwise(True))
    return frame


def outcomes(
    rules: Sequence[Expectation], told: Mapping[str, Any]
) -> Iterator[tuple[str, int, int]]:
    """Each rule's name, and how many rows it held for and how many not, by a batch's metrics."""
    judged = int(told.get(JUDGED) or 0)
    for index, each in enumerate(rules):
        failed = int(told.get(_field(index)) or 0)
        yield each.name, judged - failed, failed


def _broken(rule: Expectation) -> Column:
    from pyspark.sql import functions as F

    # On a line of its own what follows, or a comment at the end would take it.
    return ~F.coalesce(F.expr(f"({rule.condition}\n)").cast("boolean"), F.lit(False))


def _field(index: int) -> str:
    return f"{_FAILED}{index}"


def told_of(rule: Expectation) -> str:
    """In one line, also of a condition of several."""
    name, condition = (" ".join(each.split()) for each in (rule.name, rule.condition))
    return f"expectation {name} failed ({condition})"


def _partition() -> Column:
    from pyspark.sql import functions as F

    return F.concat_ws("-", "topic", F.col("partition").cast("string"))
