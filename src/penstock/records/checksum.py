"""CRC-32C over any buffer, by the native extension of the package crc32c.

Importing that package as usual costs about 40 ms and 4 MB, because it also loads its command
line and the metadata of every installed distribution. Only its extension module is wanted here,
so it is loaded by itself; should that fail, the package is imported as usual.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import cast

Crc = Callable[[bytes | bytearray | memoryview], int]


def _load_extension() -> Crc | None:
    package = find_spec("crc32c")
    if package is None or package.submodule_search_locations is None:
        return None
    spec = PathFinder.find_spec("crc32c._crc32c", package.submodule_search_locations)
    if spec is None or spec.loader is None:
        return None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast("Crc | None", getattr(module, "crc32c", None))


def _load_package() -> Crc:
    from crc32c import crc32c as function

    return cast("Crc", function)


crc32c: Crc = _load_extension() or _load_package()
