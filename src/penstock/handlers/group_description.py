"""The answer to a request that describes groups of one kind, one after the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from penstock.handlers import authorized

ResponseT = TypeVar("ResponseT", bound=Any)


async def described(
    request: Any, response: ResponseT, describe_one: Callable[[str], Awaitable[Sequence[Any]]]
) -> ResponseT:
    for group_id in request.group_ids:
        response.groups.extend(await describe_one(group_id))
    if request.include_authorized_operations:
        for group in response.groups:
            if not group.error_code:
                group.authorized_operations = authorized.GROUP
    return response
