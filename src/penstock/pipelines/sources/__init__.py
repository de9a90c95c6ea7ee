"""Where a pipeline's rows come from: topics as streams, compacted topics as live tables."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from penstock.pipelines.named import NamedPackage

if TYPE_CHECKING:
    from penstock.pipelines.sources.table import TableSource, table
    from penstock.pipelines.sources.topic import TopicSource, topic

__all__ = ["TableSource", "TopicSource", "table", "topic"]

_HOMES = {"TopicSource": "topic", "topic": "topic", "TableSource": "table", "table": "table"}


sys.modules[__name__].__class__ = NamedPackage
