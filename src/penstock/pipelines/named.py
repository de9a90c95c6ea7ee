"""A package that offers functions named like its modules, loaded when first used.

Importing `package.topic` binds the module to the package's attribute `topic`, which is to be the
function of that name whichever was asked for first.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class NamedPackage(ModuleType):
    """Set as a package's `__class__`; its `_HOMES` says in which module each name is."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and self.__dict__["_HOMES"].get(name) == name:
            # A package of that name without such a function is what is meant itself.
            value = getattr(value, name, value)
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        home = self.__dict__["_HOMES"].get(name)
        if home is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        module = import_module(f"{self.__name__}.{home}")
        found = getattr(module, name, module)
        setattr(self, name, found)
        return found
