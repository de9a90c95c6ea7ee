"""The code of a pipeline's own that executors have to get: what was loaded and is not installed.

A function is sent to a Python worker by the name of its module, so the worker must find that one.
What is installed is on every machine by agreement; a file, or a package in a working directory, is
not.
"""

from __future__ import annotations

import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from penstock.pipelines.error import RunError
from penstock.pipelines.folder import has_scheme

if TYPE_CHECKING:
    from pyspark import SparkContext

_OURS = ("penstock", "__main__", "__mp_main__")
_KINDS = (".py", ".zip", ".egg", ".jar")


def send_user_code(context: SparkContext, py_files: Iterable[str]) -> None:
    """What this process has loaded of the user's, and the files named besides."""
    for each in py_files:
        if not has_scheme(each) and not (Path(each).is_file() and each.endswith(_KINDS)):
            raise RunError(f"--py-files: there is no file {each} of Python code (.py, .zip, .egg)")
        context.addPyFile(each)
    for path in loaded_code(sys.modules):
        context.addPyFile(str(path if path.is_file() else _zipped(path)))


def loaded_code(modules: Mapping[str, ModuleType]) -> list[Path]:
    """The files and the package folders of loaded modules that are not installed."""
    installed = {Path(sysconfig.get_path(each)).resolve() for each in ("stdlib", "platstdlib")}
    installed |= {Path(sysconfig.get_path(each)).resolve() for each in ("purelib", "platlib")}
    found = set()
    for name, module in list(modules.items()):
        file = getattr(module, "__file__", None)
        if "." in name or name in _OURS or not isinstance(file, str) or not file.endswith(".py"):
            continue
        path = Path(file).resolve()
        if not any(path.is_relative_to(each) for each in installed):
            found.add(path.parent if path.name == "__init__.py" else path)
    return sorted(found)


def _zipped(package: Path) -> Path:
    """A package as Spark takes it; in a folder that goes with the machine's temporary files."""
    target = Path(tempfile.mkdtemp(prefix="penstock-code-")) / f"{package.name}.zip"
    with zipfile.ZipFile(target, "w") as archive:
        for file in sorted(package.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                archive.write(file, file.relative_to(package.parent))
    return target
