"""Pipelines by name: those that ship with Penstock, and a user's own as `file.py:name`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType

from penstock.client import error as client_error
from penstock.client.user_module import load_module
from penstock.pipelines.error import DeclarationError, PipelineError
from penstock.pipelines.run.runner import Runnable

BUILT_IN = {
    "fraud": ("penstock.pipelines.jobs.fraud.job:fraud", "Judge payments as they come."),
    "saga-funnel": (
        "penstock.pipelines.jobs.saga.job:saga_funnel",
        "How far orders of the saga get, and which are stuck.",
    ),
}


def find_pipeline(name: str) -> Runnable:
    """`fraud`, `path/to/file.py:name`, `package.module:name`; the name may go if there is one."""
    where, _, attribute = BUILT_IN.get(name, (name,))[0].partition(":")
    if where == name and not where.endswith(".py") and not attribute and "." not in where:
        known = ", ".join(BUILT_IN)
        raise DeclarationError(
            f"there is no pipeline {name}: known are {known}; your own is file.py:name"
        )
    module = _load(where)
    if attribute:
        found = getattr(module, attribute, None)
        if not isinstance(found, Runnable):
            raise DeclarationError(f"{where} has no pipeline {attribute}{_known(module)}")
        return found
    declared = _declared(module)
    if len(declared) != 1:
        raise DeclarationError(f"say which pipeline of {where} to run{_known(module)}")
    return next(iter(declared.values()))


def find_pipelines(names: Sequence[str]) -> list[Runnable]:
    """Those to run together, each once."""
    found: dict[str, Runnable] = {}
    for each in map(find_pipeline, names):
        if each.name in found:
            raise DeclarationError(f"{each.name} is named twice: it can run only once")
        found[each.name] = each
    return list(found.values())


def beside(found: Runnable, name: str | None, outputs: Mapping[str, str]) -> Runnable:
    """The pipeline under another name, or with other outputs, as far as that is asked for."""
    return found.beside(name, outputs) if name or outputs else found


def _load(where: str) -> ModuleType:
    try:
        return load_module(where, PipelineError)
    except client_error.DeclarationError as error:
        raise DeclarationError(str(error)) from error


def _declared(module: ModuleType) -> dict[str, Runnable]:
    return {
        name: each
        for name, each in vars(module).items()
        if isinstance(each, Runnable) and not isinstance(each, type)
    }


def _known(module: ModuleType) -> str:
    known = ", ".join(_declared(module))
    return f": it has {known}" if known else ": it declares none"
