"""The installed version."""

from __future__ import annotations


def version() -> str:
    from importlib import metadata

    return metadata.version("penstock")
