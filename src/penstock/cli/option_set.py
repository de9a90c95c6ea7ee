"""Options that several commands have, declared once.

A set of options is a NamedTuple whose fields are annotated as the parameters of a command are. A
command that is `spread` takes one as a parameter, and its user types the options.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from inspect import Parameter
from typing import Any, get_type_hints


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """The same command as typer is to see it: every set of options taken apart."""
    hints = get_type_hints(command, include_extras=True)
    sets = {name: kind for name, kind in hints.items() if _is_set(kind)}

    @functools.wraps(command)
    def call(**given: Any) -> None:
        for name, kind in sets.items():
            given[name] = kind(**{field: given.pop(field) for field in kind._fields})
        command(**given)

    parameters = list(_parameters(command, hints, sets))
    vars(call)["__signature__"] = inspect.Signature(parameters)
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    return call


def _parameters(
    command: Callable[..., None], hints: dict[str, Any], sets: dict[str, Any]
) -> Iterator[Parameter]:
    for name, parameter in inspect.signature(command).parameters.items():
        if name not in sets:
            yield _parameter(name, hints[name], parameter.default)
            continue
        kind = sets[name]
        for field, hint in get_type_hints(kind, include_extras=True).items():
            yield _parameter(field, hint, kind._field_defaults.get(field, Parameter.empty))


def _parameter(name: str, annotation: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _is_set(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")
