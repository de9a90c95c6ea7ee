"""The checkpoints of a DataFrame pipeline: which there are, where each stands, which are in use.

A document says which outputs share a query, in which folder its checkpoint is, and where it began.
An output that it does not name has a query and a folder of its own. Folders that are no longer in
use are kept beside the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.pipelines.folder import Document, Folder
from penstock.pipelines.run.batch_log import BatchLog
from penstock.pipelines.run.layout import (
    Offsets,
    QueryLayout,
    Standing,
    from_document,
    settled_layout,
    wanted_layout,
)
from penstock.pipelines.run.rejected import handled_batch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_DOCUMENT = "queries"


class CheckpointLayout:
    def __init__(self, spark: SparkSession, home: str, outputs: Collection[str]) -> None:
        self._spark, self._outputs = spark, outputs
        self.home = Folder(spark, home)
        self._document = Document(self.home, _DOCUMENT)

    def queries(self) -> list[QueryLayout]:
        """Those that earlier runs had."""
        said = self._document.read() or {}
        found = [from_document(name, each) for name, each in said.items()]
        named = {output for each in found for output in each.outputs}
        own = [each for each in self._outputs if each not in named and self.home.exists(each)]
        return found + [QueryLayout(each, (each,), folder=self._last(each)) for each in own]

    def positions(self) -> dict[tuple[str, int], int]:
        """The least of what they have read, as it is committed for the group."""
        return least(self._log(each).positions() for each in self.queries())

    def begun(self) -> dict[tuple[str, int], int]:
        """Where the earliest of them began to read."""
        return least(self._log(each).begun() for each in self.queries())

    def settle(
        self, pipeline: str, outputs: Mapping[str, str], anew: Offsets | None
    ) -> list[QueryLayout]:
        """The queries to start, each with its folder: `outputs` with the inputs whose query they
        may share. `anew`: all of them with new folders, from there."""
        before = self.queries()
        shared = {each.input for each in before if each.input is not None}
        wanted = wanted_layout(self._outputs, outputs, shared)
        if anew is None:
            standing = [Standing(each, self._place(each)) for each in before]
            layout = settled_layout(pipeline, wanted, standing)
        else:
            layout = [replace(each, begin=anew) for each in wanted]
        layout = [
            each if each.folder is not None else replace(each, folder=self._free(each.name))
            for each in layout
        ]
        for each in layout:
            self.home.make(each.folder or each.name)
        self._keep(layout)
        return layout

    def _keep(self, layout: Sequence[QueryLayout]) -> None:
        # After the folders are there: until it is written, the old ones are in use.
        said = {
            each.name: each.document()
            for each in layout
            if each.input is not None or each.begin is not None
        }
        if said != (self._document.read() or {}):
            self._document.write(said)

    def _place(self, query: QueryLayout) -> Offsets | None:
        log = self._log(query)
        last = log.last_committed()
        done = last >= 0 and log.last_planned() == last and handled_batch(log.folder) >= last
        return log.positions() if done else None

    def _log(self, query: QueryLayout) -> BatchLog:
        return BatchLog(self._spark, self.home.path(query.folder or query.name))

    def _last(self, name: str) -> str:
        """The newest of an output's folders, each of which took the place of the one before."""
        number = 0
        while self.home.exists(f"{name}.{number + 1}"):
            number += 1
        return f"{name}.{number}" if number else name

    def _free(self, name: str) -> str:
        if not self.home.exists(name):
            return name
        return f"{name}.{int(self._last(name).removeprefix(name).removeprefix('.') or 0) + 1}"


def least(
    positions: Iterable[Mapping[tuple[str, int], int]],
) -> dict[tuple[str, int], int]:
    found: dict[tuple[str, int], int] = {}
    for each in positions:
        for where, offset in each.items():
            found[where] = min(offset, found.get(where, offset))
    return found
