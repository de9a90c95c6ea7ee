"""What to install where a library is missing that pipelines need and the broker does not."""

from __future__ import annotations

from penstock.cli.failure import Failure

_SPARK = frozenset(
    {
        "fastavro",
        "google",
        "numpy",
        "orjson",
        "pandas",
        "psycopg",
        "pyarrow",
        "pyiceberg",
        "pyspark",
    }
)
"""Packages of the extra `spark`, by the name they are imported by."""


def missing_extra(error: BaseException | None) -> str | None:
    """One line about the extra that has the module an import failed for, anywhere in the chain
    of causes; None if it is not that."""
    while error is not None:
        module = (getattr(error, "name", None) or "").partition(".")[0]
        if isinstance(error, ImportError) and module in _SPARK:
            return _advice(module)
        error = error.__cause__
    return None


def need_modules(*modules: str) -> None:
    """Before work that needs them: whether they can be imported, without importing them."""
    from importlib.util import find_spec

    for module in modules:
        if find_spec(module) is None:
            raise Failure(_advice(module))


def need_security() -> None:
    """Before work that makes keys or certificates."""
    from importlib.util import find_spec

    if find_spec("cryptography") is None:
        raise Failure(
            "cryptography is not installed; certificates need the extra `security`, "
            "pip install 'penstock[security]'"
        )


def need_sql(*modules: str) -> None:
    """Before work on a database, or with DuckDB."""
    from importlib.util import find_spec

    for module in modules:
        if find_spec(module) is None:
            raise Failure(
                f"{module} is not installed; the catalog and `penstock sql` need the extra `sql`, "
                "pip install 'penstock[sql]'"
            )


def _advice(module: str) -> str:
    from penstock.pipelines.version import INSTALL

    return (
        f"{module} is not installed; pipelines and the fraud detector need the extra `spark`, "
        f"{INSTALL}"
    )
