"""Commands and groups as typer runs them, with help pages of our own.

It owns how usage, arguments, options and lists of commands look: plain text, nothing cut, each
default once, the same whatever version of typer is installed. It never prints: typer does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from enum import Enum
from typing import Any, ClassVar

from typer.core import TyperCommand, TyperGroup

from penstock.cli.failure import UsageFailure
from penstock.cli.value import is_text

_OPTION_WIDTH_MAX = 32
"""As wide as `-b, --bootstrap-server HOST:PORT`."""
_NEAR = 0.75
"""How alike two words are before one is offered for the other; `stop` and `topics` are 0.6."""
_INTEGER_MAX = (1 << 63) - 1

Row = tuple[str, str]


class PlainCommand(TyperCommand):
    raw: ClassVar[frozenset[str]] = frozenset()
    """Options whose text may be any bytes."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["[OPTIONS]", *_usage(self.params)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _write(formatter, "Arguments", _argument_rows(self.params))
        _write(formatter, "Options", _option_rows(self.own_options(ctx)))

    def own_options(self, ctx: Any) -> list[Any]:
        return _options(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            for parameter in self.params:
                if parameter.name not in self.raw:
                    check_value(parameter, ctx.params.get(parameter.name))
        return rest


class PlainGroup(TyperGroup):
    hints: ClassVar[Mapping[str, str]] = {}
    """What to say to a command that people expect here and that is not."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _write(formatter, "Options", _option_rows(_options(self.get_params(ctx))))
        rows = [(name, summary(self.help_text(name))) for name in self.list_commands(ctx)]
        _write(formatter, "Commands", rows)

    def help_text(self, name: str) -> str:
        return self.commands[name].help or ""

    def get_short_help_str(self, limit: int = 0) -> str:
        return summary(self.help or "")

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            for parameter in self.params:
                check_value(parameter, ctx.params.get(parameter.name))
        return rest

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.commands and not args[0].startswith("-"):
            raise UsageFailure(self._unknown(ctx, args[0]))
        return super().resolve_command(ctx, args)

    def _unknown(self, ctx: Any, name: str) -> str:
        said = f"there is no command `{ctx.command_path} {name}`"
        if name in self.hints:
            return f"{said}; {self.hints[name]}"
        near = get_close_matches(name, self.commands, n=1, cutoff=_NEAR)
        if near:
            return f"{said}; did you mean {near[0]}?"
        return f"{said}; see `{ctx.command_path} --help`"


def summary(text: str) -> str:
    """The first sentence of a help text."""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    sentence, dot, _ = paragraph.partition(". ")
    return sentence + dot.rstrip()


def check_value(parameter: Any, value: Any) -> None:
    """Refuse what no command can use: the libraries below answer it with a crash."""
    for each in value if isinstance(value, list | tuple) else (value,):
        if wrong := _wrong(parameter, each):
            is_option = parameter.param_type_name == "option"
            name = max(parameter.opts, key=len) if is_option else parameter.metavar
            raise UsageFailure(f"{name} {wrong}")


def _wrong(parameter: Any, value: Any) -> str | None:
    if isinstance(value, float) and not math.isfinite(value):
        return f"takes a number, not {value}"
    if isinstance(value, int) and abs(value) > _INTEGER_MAX:
        return f"takes a smaller number than {value}"
    if isinstance(value, str):
        if not is_text(value):
            return f"takes text in UTF-8, not {value!r}"
        if not value and parameter.param_type_name == "argument":
            return "must not be empty"
    return None


def _write(formatter: Any, heading: str, rows: Iterable[Row]) -> None:
    rows = list(rows)
    if rows:
        with formatter.section(heading):
            formatter.write_dl(rows, col_max=_OPTION_WIDTH_MAX)


def write_options(formatter: Any, heading: str, options: Iterable[Any]) -> None:
    _write(formatter, heading, _option_rows(options))


def _options(parameters: Iterable[Any]) -> list[Any]:
    return [each for each in parameters if each.param_type_name == "option"]


def _arguments(parameters: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    for each in parameters:
        if each.param_type_name == "argument":
            name = (each.metavar or each.name.upper()).removesuffix("...")
            if name.startswith("["):
                name = name.strip("[]").removesuffix("...")
            yield (f"{name}..." if each.nargs == -1 else name), each


def _usage(parameters: Iterable[Any]) -> Iterator[str]:
    for name, argument in _arguments(parameters):
        yield name if argument.required else f"[{name}]"


def _argument_rows(parameters: Iterable[Any]) -> Iterator[Row]:
    for name, argument in _arguments(parameters):
        if argument.help:
            yield name, _with_default(argument)


def _option_rows(options: Iterable[Any]) -> Iterator[Row]:
    for option in options:
        if option.hidden:
            continue
        names = ", ".join(sorted(option.opts, key=len))
        takes_value = not option.is_flag
        metavar = option.metavar or option.name.upper()
        yield (f"{names} {metavar}" if takes_value else names), _with_default(option)


def _with_default(parameter: Any) -> str:
    said = parameter.help or ""
    if getattr(parameter, "multiple", False):
        said += " May be repeated."
    notes = [f"env: {parameter.envvar}"] if parameter.envvar else []
    default = _default(parameter)
    notes += [f"default: {default}"] if default else []
    return f"{said} [{'; '.join(notes)}]" if notes else said


def _default(parameter: Any) -> str:
    """As it is typed; nothing for what is simply off or absent."""
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    value = parameter.default
    if not parameter.show_default or value is None or value is False or value in ((), []):
        return ""
    if isinstance(value, Enum):
        return str(value.value)
    return f"{value:g}" if isinstance(value, float) else str(value)
