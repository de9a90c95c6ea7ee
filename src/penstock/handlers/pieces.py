"""Requests over many elements, answered a piece at a time.

Owns which APIs can be cut, and how: into requests of the same kind over fewer elements, whose
answers stand behind each other in one array. Everybody else is served in between. An API whose
elements belong together (a commit, a transaction, a change of metadata) is not here: those have a
lower limit of elements instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from penstock.protocol.entity import Entity

EntityT = TypeVar("EntityT", bound=Entity)

LARGE_REQUEST_BYTES = 8 * 1024
"""A smaller request has too few elements to be worth cutting."""
LARGE_HEAVY_COUNT = 20
"""So many elements with long answers are a large request, however small it is."""
WHOLE_TOPIC_MAX = 5000
"""A topic with no more partitions than this is answered in one entry: some clients (sarama) keep
only the last of several with the same name."""
THREAD_REQUEST_BYTES = 64 * 1024
"""Decoding a larger one takes long enough to be done beside the event loop."""


class Cut(NamedTuple):
    """Where the elements of a request are, and where their answers."""

    request: str
    response: str
    inner: str | None = None
    """Of an array of topics: where the partitions are, which are what is counted."""
    size: int = 200
    """How many elements are answered in one go; fewer if that takes long, more for one topic."""
    heavy: bool = False
    """Whether the answer to one element can be long: then few of them are many already."""
    since: int = 0
    key: tuple[str, ...] | None = None
    """Where an element that is named twice is answered once: what names it."""


CUTS: dict[int, Cut] = {
    2: Cut("topics", "topics", "partitions"),
    3: Cut("topics", "topics", key=("topic_id", "name")),
    9: Cut("groups", "groups", since=8, heavy=True),
    10: Cut("coordinator_keys", "coordinators", since=4),
    15: Cut("groups", "groups", heavy=True),
    21: Cut("topics", "topics", "partitions", size=1000),
    23: Cut("topics", "topics", "partitions"),
    32: Cut("resources", "results", heavy=True),
    42: Cut("groups_names", "results", key=()),
    61: Cut("topics", "topics", "partition_indexes", heavy=True),
    65: Cut("transactional_ids", "transaction_states"),
    69: Cut("group_ids", "groups", heavy=True),
}

LONG_ANSWERS: dict[int, str] = {19: "topics"}
"""Of requests that are not cut: an answer that takes much longer to encode than to find."""


def answer_array(api_key: int, version: int) -> str | None:
    """The array of an answer that is encoded in pieces."""
    cut = cut_of(api_key, version)
    return LONG_ANSWERS.get(api_key) if cut is None else cut.response


def cut_of(api_key: int, version: int) -> Cut | None:
    cut = CUTS.get(api_key)
    return cut if cut is not None and version >= cut.since else None


def element_count(request: Entity, cut: Cut) -> int:
    whole = getattr(request, cut.request) or ()
    if cut.inner is None:
        return len(whole)
    return sum(len(getattr(outer, cut.inner)) for outer in whole)


def pieces(
    request: EntityT, cut: Cut, size: Callable[[int], int] = lambda most: most
) -> Iterator[EntityT]:
    """At least one. `size` says how large the next one may be, of so many at most."""
    whole = getattr(request, cut.request)
    if not whole:
        yield request
        return
    for part in _parts(_each_once(whole, cut), cut, size):
        yield _with(request, cut.request, part)


def _each_once(whole: list[Any], cut: Cut) -> list[Any]:
    if cut.key is None:
        return whole
    if not cut.key:
        return list(dict.fromkeys(whole))
    return list({attrgetter(*cut.key)(one): one for one in whole}.values())


def _parts(whole: list[Any], cut: Cut, size: Callable[[int], int]) -> Iterator[list[Any]]:
    if cut.inner is None:
        start = 0
        while start < len(whole):
            end = start + size(cut.size)
            yield whole[start:end]
            start = end
        return
    part: list[Any] = []
    room = size(cut.size)
    for outer in whole:
        for topic in _split(outer, cut.inner):
            part.append(topic)
            # A topic without partitions costs something, too.
            room -= max(1, len(getattr(topic, cut.inner)))
            if room <= 0:
                yield part
                part = []
                room = size(cut.size)
    if part:
        yield part


def _split(topic: Any, inner: str) -> Iterator[Any]:
    elements = getattr(topic, inner)
    if len(elements) <= WHOLE_TOPIC_MAX:
        yield topic
        return
    for start in range(0, len(elements), WHOLE_TOPIC_MAX):
        yield _with(topic, inner, elements[start : start + WHOLE_TOPIC_MAX])


def _with(entity: Any, name: str, value: object) -> Any:
    other = copy(entity)
    setattr(other, name, value)
    return other
