"""Whether a topic is the copy of another: the same records, once each, in the same order.

Pure: it is given both as lists of values per partition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from penstock.testing.history import Event, Poll

Values = Mapping[int, Sequence[str]]


def values_of(events: Iterable[Event]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for event in events:
        if isinstance(event, Poll):
            values = found.setdefault(event.partition.partition, [])
            values += [record.value for record in event.records]
    return found


def differences(source: Values, copy: Values) -> Iterator[str]:
    for index in sorted({*source, *copy}):
        for problem in _differences(source.get(index, []), copy.get(index, [])):
            yield f"partition {index}: {problem}"


def _differences(source: Sequence[str], copy: Sequence[str]) -> Iterator[str]:
    copies, wanted = Counter(copy), set(source)
    for value in source:
        if value not in copies:
            yield f"not copied: {value!r}"
        elif copies[value] > 1:
            yield f"copied {copies[value]} times: {value!r}"
    for value in copies:
        if value not in wanted:
            yield f"copied from nowhere: {value!r}"
    once = list(dict.fromkeys(copy))
    expected = [value for value in source if value in copies]
    swapped = [(one, other) for one, other in zip(expected, once, strict=False) if one != other]
    if swapped and set(once) == set(expected):
        yield f"in another order: {swapped[0][1]!r} before {swapped[0][0]!r}"
