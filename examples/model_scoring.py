"""Scoring payments with a model: a pandas function in Spark's tasks, with the model inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame

from penstock.pipelines import decode, pipeline, sinks, sources

PAYMENTS = "id string NOT NULL, amount double NOT NULL, hour int NOT NULL, abroad boolean NOT NULL"
FEATURES = ("amount", "hour", "abroad")
MODEL = {"amount": 0.004, "hour": -0.1, "abroad": 1.5, "bias": -3.0}
"""As training left it. Larger ones come from a file, read here, on the driver."""

Score = Callable[[Iterator[pd.DataFrame]], Iterator[pd.DataFrame]]


def scorer(model: Mapping[str, float]) -> Score:
    """The model travels to the executors inside the function."""

    def score(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        # Once for each task, however many batches it has: the place for what is slow to set up.
        weights = np.array([model[name] for name in FEATURES])
        for rows in batches:
            sums = rows[list(FEATURES)].to_numpy(dtype=float) @ weights + model["bias"]
            yield pd.DataFrame({"id": rows["id"], "score": 1.0 / (1.0 + np.exp(-sums))})

    return score


@pipeline(
    inputs={"payments": sources.topic("payments", decode=decode.json(PAYMENTS))},
    outputs={"scores": sinks.topic("payment-scores")},
)
def payment_scores(payments: DataFrame) -> DataFrame:
    scored = payments.select("id", *FEATURES).mapInPandas(scorer(MODEL), "id string, score double")
    return scored.selectExpr("id AS key", "to_json(struct(id, round(score, 4) AS score)) AS value")
