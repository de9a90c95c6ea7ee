"""Data pipelines on Spark Structured Streaming: topics in, decisions out, nothing lost or doubled.

A pipeline speaks the Kafka protocol and nothing else, so it runs against Apache Kafka as well.
Names are loaded when first used: declaring and listing pipelines does not import Spark.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from penstock.pipelines.named import NamedPackage

if TYPE_CHECKING:
    from penstock.pipelines import sinks, sources, transforms
    from penstock.pipelines.breaker import Breaker
    from penstock.pipelines.declare import Pipeline, pipeline
    from penstock.pipelines.keyed import keyed
    from penstock.pipelines.run_settings import RunSettings
    from penstock.pipelines.session import session
    from penstock.pipelines.transforms import decode
    from penstock.pipelines.transforms.each import each
    from penstock.pipelines.transforms.expectation import (
        expect,
        expect_or_dead_letter,
        expect_or_stop,
    )

__all__ = [
    "Breaker",
    "Pipeline",
    "RunSettings",
    "decode",
    "each",
    "expect",
    "expect_or_dead_letter",
    "expect_or_stop",
    "keyed",
    "pipeline",
    "session",
    "sinks",
    "sources",
    "transforms",
]

_HOMES = {
    "Breaker": "breaker",
    "Pipeline": "declare",
    "RunSettings": "run_settings",
    "decode": "transforms.decode",
    "each": "transforms.each",
    "expect": "transforms.expectation",
    "expect_or_dead_letter": "transforms.expectation",
    "expect_or_stop": "transforms.expectation",
    "keyed": "keyed",
    "pipeline": "declare",
    "session": "session",
    "sinks": "sinks",
    "sources": "sources",
    "transforms": "transforms",
}

sys.modules[__name__].__class__ = NamedPackage
