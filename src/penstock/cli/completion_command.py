"""`penstock completion`: the script that makes a shell complete commands, options and topics."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from penstock.cli.help import PlainCommand
from penstock.cli.output import print_line

VARIABLE = "_PENSTOCK_COMPLETE"
"""Set by the script when the shell asks what could come next."""


class CompletionCommand(PlainCommand):
    """It talks to a shell, not to a cluster."""


class Shell(StrEnum):
    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def completion(
    shell: Annotated[
        Shell, typer.Argument(metavar="bash|zsh|fish", show_default=False, help="Your shell.")
    ],
) -> None:
    """Print the script for completion with Tab.

    \b
    source <(penstock completion bash)      # in ~/.bashrc
    source <(penstock completion zsh)       # in ~/.zshrc, after compinit
    penstock completion fish | source       # in ~/.config/fish/config.fish
    """
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    print_line(
        get_completion_script(prog_name="penstock", complete_var=VARIABLE, shell=shell.value)
    )


def answer(command: Any) -> int:
    """What could come next, for the shell that asks. Never an error: a person is typing."""
    from typer.completion import completion_init, shell_complete  # type: ignore[attr-defined]

    completion_init()
    # What a library might say while it completes would land between the words on the screen.
    with open(os.devnull, "w") as nowhere:
        sys.stderr, kept = nowhere, sys.stderr
        try:
            return shell_complete(command, {}, "penstock", VARIABLE, os.environ[VARIABLE])
        except Exception:
            return 1
        finally:
            sys.stderr = kept
