"""Whether an output is made of single rows of one input, as Spark's plan of it says.

Such outputs mean the same batch by batch as in a query of their own, so they can share one. What
is not known here to be of that kind, such as anything with state, is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from penstock.pipelines.run.plan import used_inputs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ROW_WISE = frozenset(
    (
        "CollectMetrics",
        "EventTimeWatermark",
        "Filter",
        "Generate",
        "MapInArrow",
        "MapInPandas",
        "Project",
        "Repartition",
        "RepartitionByExpression",
        "ResolvedHint",
        "StreamingRelationV2",
        "SubqueryAlias",
        "Union",
        "View",
    )
)
# With the stream on the left, a row's result depends on that row and the table alone.
_JOINS = frozenset(("INNER", "LEFT OUTER", "LEFT SEMI", "LEFT ANTI"))
# Spark gives a streaming query the time of its batch, the same whenever the batch is repeated.
_TIME = re.compile(r"\b(now|curdate|current_\w+|localtimestamp)\(", re.IGNORECASE)


def row_wise_input(frame: DataFrame) -> str | None:
    """The one input that the frame is made of, row by row; None: it is not."""
    inputs = used_inputs(frame)
    plan = cast(Any, frame)._jdf.queryExecution().analyzed()
    if len(inputs) != 1 or not all(_is_row_wise(node) for node in _streaming_nodes(plan)):
        return None
    return inputs[0]


def _streaming_nodes(plan: Any) -> Iterator[Any]:
    if not plan.isStreaming():
        return
    yield plan
    for child in _listed(plan.children()):
        yield from _streaming_nodes(child)


def _is_row_wise(node: Any) -> bool:
    if any(_TIME.search(each.sql()) for each in _listed(node.expressions())):
        return False
    if node.nodeName() != "Join":
        return node.nodeName() in _ROW_WISE
    left, right = _listed(node.children())
    return not right.isStreaming() and left.isStreaming() and node.joinType().sql() in _JOINS


def _listed(found: Any) -> list[Any]:
    return [found.apply(index) for index in range(found.size())]
