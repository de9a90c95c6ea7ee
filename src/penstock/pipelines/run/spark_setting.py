"""Spark settings that hold while a query is planned and started, and no longer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Spark reads these from a session as it reads its own, and does not list them among those.
_UNLISTED = "spark.sql.streaming.stateStore.rocksdb."


@contextmanager
def configured(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """For what is started within; a query keeps the settings it was started with."""
    own = {key: value for key, value in settings.items() if _is_modifiable(spark, key)}
    before = {key: spark.conf.get(key, None) for key in own}
    for key, value in own.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, earlier in before.items():
            if earlier is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, earlier)


def _is_modifiable(spark: SparkSession, key: str) -> bool:
    return key.startswith(_UNLISTED) or spark.conf.isModifiable(key)
