"""Verdicts that need no history, as one SQL expression: merchant lists and limits.

Nothing here runs in Python, so Spark's real-time mode takes it (`trigger={"realTime": ...}`) and a
verdict follows its payment within milliseconds. The price is Spark's own topic sink: at least
once. Rules are those of their topic at the start, of the two kinds that look at one payment alone;
the others need the full detector.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING

from penstock.pipelines.declare import pipeline
from penstock.pipelines.jobs.fraud.job import seed_rules_of
from penstock.pipelines.jobs.fraud.model import (
    ACCEPT,
    DEAD_LETTERS,
    EURO_PER_UNIT,
    PAYMENTS,
    REVIEW,
    RULES,
    VERDICTS,
)
from penstock.pipelines.jobs.fraud.rule import (
    REVIEW_SCORE,
    Limit,
    Merchants,
    Rule,
    decode_rule,
)
from penstock.pipelines.sinks.topic import topic as to_topic
from penstock.pipelines.sources.table import Table, table
from penstock.pipelines.sources.topic import topic as from_topic

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SCHEMA = (
    "payment string, account string, amount double, currency string, merchant string,"
    " country string, device string, time long"
)
NAME = "fraud-stateless"


def verdicts(records: DataFrame, rules: Mapping[str, Rule]) -> DataFrame:
    """`key` and `value` of a verdict for each record (`_key`, `value`, `_partition`, `_offset`).

    What is no payment goes to review: nothing is passed over.
    """
    from pyspark.sql import functions as F

    paid = F.from_json(F.col("value").cast("string"), SCHEMA)
    parsed = records.select(paid.alias("p"), "_key", "_partition", "_offset")
    findings = _findings(rules)
    reasons = F.array_compact(F.array(*[F.when(hit, why) for hit, why, _ in findings]))
    weights = [F.when(hit, F.lit(weight)).otherwise(F.lit(0.0)) for hit, _, weight in findings]
    score = reduce(lambda total, each: total + each, weights)
    decision = F.when(score >= REVIEW_SCORE, F.lit(REVIEW)).otherwise(F.lit(ACCEPT))
    verdict = F.struct(
        F.col("p.payment").alias("payment"),
        F.col("p.account").alias("account"),
        decision.alias("decision"),
        score.alias("score"),
        reasons.alias("reasons"),
        F.lit(False).alias("late"),
        F.col("p.time").alias("time"),
        F.col("_partition").alias("partition"),
        F.col("_offset").alias("offset"),
    )
    key = F.coalesce(F.col("p.payment").cast("binary"), F.col("_key"))
    return parsed.select(key.alias("key"), F.to_json(verdict).alias("value"))


def _findings(rules: Mapping[str, Rule]) -> list[tuple[Column, Column, float]]:
    """For each rule: whether a payment breaks it, what to say then, and what it weighs."""
    from pyspark.sql import functions as F

    euro = F.col("p.amount") * _euro_per_unit()
    unreadable = F.col("p.payment").isNull() | F.col("p.amount").isNull()
    found = [(unreadable, _reason("readable", "form", F.lit("this is no payment")), 1.0)]
    for name, rule in sorted(rules.items()):
        if isinstance(rule, Merchants) and rule.enabled:
            hit = F.col("p.merchant").isin(*rule.merchants) & (euro >= rule.floor)
            text = F.concat(F.lit("merchant "), F.col("p.merchant"), F.lit(" is listed"))
            found.append((hit, _reason(name, rule.kind, text), rule.weight))
        elif isinstance(rule, Limit) and rule.enabled:
            text = F.lit(f"more than {rule.amount:g} euro")
            found.append((euro > rule.amount, _reason(name, rule.kind, text), rule.weight))
    return found


def _reason(rule: str, kind: str, detail: Column) -> Column:
    from pyspark.sql import functions as F

    return F.struct(F.lit(rule).alias("rule"), F.lit(kind).alias("kind"), detail.alias("detail"))


def _euro_per_unit() -> Column:
    from pyspark.sql import functions as F

    pairs = [F.lit(each) for pair in EURO_PER_UNIT.items() for each in pair]
    return F.coalesce(F.element_at(F.create_map(*pairs), F.col("p.currency")), F.lit(1.0))


@pipeline(
    name=NAME,
    inputs={"payments": from_topic(PAYMENTS)},
    tables={"rules": table(RULES, decode=decode_rule)},
    outputs={
        # Real-time mode knows no other mode; without aggregation they are the same.
        "verdicts": to_topic(
            VERDICTS, delivery="at-least-once", mode="update", kafka={"linger.ms": "1"}
        )
    },
    dead_letters=DEAD_LETTERS,
)
def fraud_stateless(payments: DataFrame, rules: Table) -> DataFrame:
    seed_rules_of(rules.client)
    return verdicts(payments, dict(rules.follower().rows()))
