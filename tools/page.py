"""Sections of a page that several tools write, each its own."""

from __future__ import annotations

from pathlib import Path


def read_section(page: Path, heading: str) -> str:
    """From its heading to the next one of the same rank; empty if there is none."""
    text = page.read_text() if page.exists() else ""
    _, found, after = text.partition(f"{heading}\n")
    body, _, _ = after.partition("\n## ")
    return f"{found}{body.rstrip()}\n" if found else ""


def write_section(page: Path, title: str, heading: str, section: str) -> None:
    """Leaves all else as it is; a new section comes last, a new page starts with the title."""
    text = page.read_text() if page.exists() else f"{title}\n"
    old = read_section(page, heading)
    if old:
        page.write_text(text.replace(old, section.rstrip() + "\n"))
    else:
        page.write_text(f"{text.rstrip()}\n\n{section.rstrip()}\n")
