"""A user's module with declarations in it, loaded by its name or its file.

What is wrong with it is said in one line, with the place in the user's own file.
"""

from __future__ import annotations

import importlib
import sys
import traceback
from pathlib import Path
from types import ModuleType

from penstock.client.error import DeclarationError


def load_module(where: str, passing: type[Exception] = DeclarationError) -> ModuleType:
    """`package.module` of the current folder or installed, or `path/to/file.py`. Errors of the
    class `passing` say themselves what is wrong."""
    if not where.endswith(".py"):
        sys.path.insert(0, str(Path.cwd()))
        return _load(where, passing)
    path = Path(where).resolve()
    if not path.is_file():
        raise DeclarationError(f"there is no file {where}")
    # By its name, and not by its path alone: others import what it refers to by that.
    sys.path.insert(0, str(path.parent))
    module = _load(path.stem, passing)
    found = getattr(module, "__file__", None)
    if found is None or Path(found).resolve() != path:
        raise DeclarationError(
            f"{where} has the name of another module, {path.stem}: give the file another name"
        )
    return module


def _load(name: str, passing: type[Exception]) -> ModuleType:
    if name.startswith("."):
        raise DeclarationError(f"there is no module {name}")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in (name, name.partition(".")[0]):
            raise DeclarationError(f"{name} needs {error.name}, which is not installed") from error
        raise DeclarationError(f"there is no module {name}") from error
    except SyntaxError as error:
        where = f"{error.filename}, line {error.lineno}"
        raise DeclarationError(f"{name} cannot be loaded: {error.msg} ({where})") from error
    except passing:
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise DeclarationError(f"{name} cannot be loaded: {said} ({_place(error)})") from error


def _place(error: Exception) -> str:
    """The last line of the user's own that was at work."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [each for each in frames if "importlib" not in each.filename] or list(frames)
    outside = [each for each in own if "site-packages" not in each.filename] or own
    return f"{outside[-1].filename}, line {outside[-1].lineno}"
