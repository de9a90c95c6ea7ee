"""Data pipelines on Spark Structured Streaming: topics in, decisions out, nothing lost or doubled.

A pipeline speaks the Kafka protocol and nothing else, so it runs against Apache Kafka as well.
Names are loaded when first used: declaring and listing pipelines does not import Spark.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.pipelines import sinks, sources, transforms
    from penstock.pipelines.declare import Pipeline, pipeline
    from penstock.pipelines.keyed import keyed
    from penstock.pipelines.run.settings import RunSettings
    from penstock.pipelines.session import session
    from penstock.pipelines.transforms import decode

__all__ = [
    "Pipeline",
    "RunSettings",
    "decode",
    "keyed",
    "pipeline",
    "session",
    "sinks",
    "sources",
    "transforms",
]

_PACKAGES = {"sinks", "sources", "transforms"}
_HOMES = {
    "Pipeline": "declare",
    "RunSettings": "run.settings",
    "keyed": "keyed",
    "pipeline": "declare",
    "session": "session",
}


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"{__name__}.{name}")
    if name == "decode":
        return import_module(f"{__name__}.transforms.decode")
    if name not in _HOMES:
        raise AttributeError(name)
    found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    # A module of the same name may have been set as an attribute by the import.
    globals()[name] = found
    return found
