"""DuckDB's engine, by its native extension alone.

The package `duckdb` around it also loads queries as Python objects, and looks up its own version
among all installed distributions: four times as long as the engine takes, and used only where a
dataset is scanned. Should a release have no such extension, the package is imported as usual.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb
else:
    try:
        import _duckdb as duckdb
    except ImportError:
        import duckdb

__all__ = ["duckdb"]


def load_scans() -> None:
    """Before a dataset is registered: since DuckDB 2.0 the package tells the engine how."""
    import duckdb  # noqa: F401
