"""Which outputs share a query, and what becomes of it when that is to be another way. Pure.

A query has a checkpoint, and what it has read is known for all its outputs together. So outputs
come together, or part, only at a start that finds all of them at one place with nothing under way:
then the new query begins there. Until such a start they go on as they are. An output that is new
begins at the beginning, by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock.pipelines.error import RunError

Offsets = Mapping[tuple[str, int], int]


@dataclass(frozen=True, slots=True)
class QueryLayout:
    name: str
    """That of its output, or of several: @ and the input they are made of."""
    outputs: tuple[str, ...]
    input: str | None = None
    """Of several outputs."""
    folder: str | None = None
    """Of its checkpoint; None: it is to get a new one."""
    begin: Offsets | None = None
    """Where it begins to read, if that is not where any first run begins."""

    def document(self) -> dict[str, Any]:
        begin = None if self.begin is None else sorted([*k, v] for k, v in self.begin.items())
        return {"outputs": self.outputs, "folder": self.folder, "begin": begin}


@dataclass(frozen=True, slots=True)
class Standing:
    """A query as an earlier run left it."""

    layout: QueryLayout
    positions: Offsets | None
    """Where it stands, with all it has read done with; None: something is under way."""


def shared_name(input: str) -> str:
    return f"@{input}"


def from_document(name: str, said: Mapping[str, Any]) -> QueryLayout:
    begin = said["begin"]
    offsets = None if begin is None else {(str(t), int(p)): int(at) for t, p, at in begin}
    input = name.removeprefix("@") if name.startswith("@") else None
    return QueryLayout(name, tuple(said["outputs"]), input, str(said["folder"]), offsets)


def wanted_layout(
    outputs: Collection[str], sharing: Mapping[str, str], shared: Collection[str] = ()
) -> list[QueryLayout]:
    """`sharing`: the input of each output that may share the query which reads it; `shared`: the
    inputs that are read so already, be it for one output that is left."""
    by_input: dict[str, list[str]] = {}
    for output in outputs:
        if output in sharing:
            by_input.setdefault(sharing[output], []).append(output)
    found, named = [], set()
    for output in outputs:
        input = sharing.get(output)
        if input is not None and len(by_input[input]) == 1 and input not in shared:
            input = None
        name = output if input is None else shared_name(input)
        if name not in named:
            together = (output,) if input is None else tuple(by_input[input])
            found.append(QueryLayout(name, together, input))
            named.add(name)
    return found


def settled_layout(
    pipeline: str, wanted: Sequence[QueryLayout], standing: Sequence[Standing]
) -> list[QueryLayout]:
    """The queries to start: the wanted ones, as far as what stands can become that now."""
    serving = {output: each for each in standing for output in each.layout.outputs}
    found: list[QueryLayout] = []
    for query in wanted:
        found += _settled(pipeline, query, serving)
    return found


def _settled(
    pipeline: str, query: QueryLayout, serving: Mapping[str, Standing]
) -> Iterator[QueryLayout]:
    before = list({id(serving[o]): serving[o] for o in query.outputs if o in serving}.values())
    if not before:
        yield query
    elif len(before) == 1 and _goes_on(query, before[0].layout):
        yield replace(before[0].layout, outputs=query.outputs)
    elif all(output in serving for output in query.outputs) and _at_one_place(before):
        yield replace(query, begin=before[0].positions)
    elif query.input is not None:
        yield from _as_before(query, before, serving)
    else:
        (shared,) = before
        others = ", ".join(each for each in shared.layout.outputs if each not in query.outputs)
        raise RunError(
            f"{pipeline}: output {query.name} leaves the query that it shares with {others}, and"
            " that was stopped in the middle of a batch: start it once as it was declared before,"
            " stop it, then change it"
        )


def _goes_on(query: QueryLayout, before: QueryLayout) -> bool:
    return before.name == query.name and set(query.outputs) <= set(before.outputs)


def _at_one_place(standing: Sequence[Standing]) -> bool:
    first = standing[0].positions
    return first is not None and all(each.positions == first for each in standing)


def _as_before(
    query: QueryLayout, before: Sequence[Standing], serving: Mapping[str, Standing]
) -> Iterator[QueryLayout]:
    for each in before:
        own = tuple(output for output in each.layout.outputs if output in query.outputs)
        yield replace(each.layout, outputs=own)
    for output in query.outputs:
        if output not in serving:
            yield QueryLayout(output, (output,))
