"""What a member says of records that it has: checked for sense, before anybody looks at them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol

from penstock.model.error import ApiError, ErrorCode


class AcknowledgeType(IntEnum):
    GAP = 0
    """There is no such record: a compacted one, or a marker."""
    ACCEPT = 1
    RELEASE = 2
    REJECT = 3
    RENEW = 4


class Acknowledgement(NamedTuple):
    first: int
    last: int
    type: AcknowledgeType


class _Batch(Protocol):
    first_offset: int
    last_offset: int
    acknowledge_types: list[int]


def acknowledgements(batches: Iterable[_Batch], *, may_renew: bool) -> list[Acknowledgement]:
    """In the order of the offsets; INVALID_REQUEST for what makes no sense."""
    found: list[Acknowledgement] = []
    last = -1
    for batch in batches:
        if batch.first_offset > batch.last_offset:
            raise _invalid("the first offset of a batch is behind its last one")
        if batch.first_offset <= last:
            raise _invalid("batches overlap, or are out of order")
        last = batch.last_offset
        found += _of_batch(batch, may_renew)
    return found


def _of_batch(batch: _Batch, may_renew: bool) -> list[Acknowledgement]:
    types = batch.acknowledge_types
    highest = AcknowledgeType.RENEW if may_renew else AcknowledgeType.REJECT
    if any(not 0 <= one <= highest for one in types):
        raise _invalid(f"acknowledge types are 0 to {int(highest)}")
    if len(types) == 1:
        kind = AcknowledgeType(types[0])
        return [Acknowledgement(batch.first_offset, batch.last_offset, kind)]
    if len(types) != batch.last_offset - batch.first_offset + 1:
        raise _invalid("a batch has one acknowledge type, or one for each of its offsets")
    return _by_offset(batch.first_offset, types)


def _by_offset(first: int, types: Sequence[int]) -> list[Acknowledgement]:
    found: list[Acknowledgement] = []
    for offset, number in enumerate(types, first):
        if found and found[-1].type == number:
            found[-1] = found[-1]._replace(last=offset)
        else:
            found.append(Acknowledgement(offset, offset, AcknowledgeType(number)))
    return found


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, f"Acknowledgement: {message}.")
