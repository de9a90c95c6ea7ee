"""Options that several commands have in common."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import pytest
import typer
from typer.testing import CliRunner

from penstock.cli.option_set import spread


class Size(NamedTuple):
    width: Annotated[int, typer.Option("--width")] = 1
    tags: Annotated[list[str] | None, typer.Option("--tag")] = None


@pytest.mark.parametrize(
    ("typed", "heard"),
    [
        (["a"], "a Size(width=1, tags=None) False"),
        (["a", "--width", "3", "--tag", "x", "--tag", "y", "--dry"], "a Size(3, x, y) True"),
    ],
)
def test_a_command_gets_them_together(typed: list[str], heard: str) -> None:
    app = typer.Typer()

    @app.command()
    @spread
    def make(name: str, size: Size, dry: bool = False) -> None:
        told = f"Size({size.width}, {', '.join(size.tags)})" if size.tags else size
        print(name, told, dry)

    assert CliRunner().invoke(app, typed).output.strip() == heard
    shown = CliRunner().invoke(app, ["--help"]).output
    assert "--width" in shown and "--tag" in shown and "--size" not in shown
