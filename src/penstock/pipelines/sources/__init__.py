"""Where a pipeline's rows come from: topics as streams, compacted topics as live tables."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.pipelines.sources.table import TableSource, table
    from penstock.pipelines.sources.topic import TopicSource, topic

__all__ = ["TableSource", "TopicSource", "table", "topic"]

_HOMES = {"TopicSource": "topic", "topic": "topic", "TableSource": "table", "table": "table"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(name)
    found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    # The import has set the module `topic` as an attribute; the function is what is meant.
    globals()[name] = found
    return found
