"""Options that are derived from declared parameters."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from cwtool.errors import UsageError
from cwtool.messages.console import with_options
from cwtool.params import Param, declared

if TYPE_CHECKING:
    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # not a generic class before click 8.4


class Declared(ParamType):
    """The type of an option that belongs to a declared parameter."""

    def __init__(self, param: Param) -> None:
        self.param = param
        self.name = {int: "integer", float: "float"}.get(param.kind, "text")

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        if self.param.choices:
            return "[" + "|".join(self.param.choices) + "]"
        days = "|DAYSd" if self.param.or_days else ""
        return ("auto|" if self.param.auto else "") + self.name.upper() + days

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> Any:
        try:
            return self.param.check(value)
        except UsageError as failure:
            self.fail(with_options(str(failure)), param, ctx)


def spellings(param: Param) -> list[str]:
    """How a parameter is written on the command line, the present spellings first: -C and --C,
    --batch-rows, and --slot-rows as it was called before."""
    found = []
    for name in (param.name, *param.formerly):
        long = "--" + name.replace("_", "-")
        found += ["-" + name, long] if len(name) == 1 else [long]
    return found


def owners(option: str) -> list[str]:
    """The algorithms that have an option of this spelling."""
    from cwtool import registry

    return [
        name
        for name in registry.names()
        if any(option in spellings(p) for p in declared(registry.algorithm(name).Params))
    ]


class DeclaredOption(click.Option):
    """The option of a declared parameter. Names that the parameter had before are understood on
    the command line, in variables and in configuration files, and are not shown in the help."""

    def __init__(self, param: Param, words: list[str], **settings: Any) -> None:
        super().__init__([*words, param.name], default=param.default, show_default=True, **settings)
        self.formerly = param.formerly
        self.old = {s for s in spellings(param) if s.lstrip("-").replace("-", "_") in self.formerly}

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        everything, self.opts = self.opts, [o for o in self.opts if o not in self.old]
        try:
            return super().get_help_record(ctx)
        finally:
            self.opts = everything

    def consume_value(self, ctx: click.Context, opts: Any) -> tuple[Any, Any]:
        value, source = super().consume_value(ctx, opts)
        if source not in (click.core.ParameterSource.DEFAULT, None):
            return value, source
        for name in self.formerly:
            given = os.environ.get(f"{ctx.auto_envvar_prefix}_{name.upper()}")
            if given is not None:
                return given, click.core.ParameterSource.ENVIRONMENT
            given = ctx.lookup_default(name)
            if given is not None:
                return given, click.core.ParameterSource.DEFAULT_MAP
        return value, source


def option_of(param: Param) -> click.Option:
    """The click option of a declared parameter."""
    if param.kind is bool:
        word = param.name.replace("_", "-")
        return DeclaredOption(param, [f"--{word}/--no-{word}"], help=with_options(param.help))
    allowed = f" Must be {param.range}." if param.range and not param.choices else ""
    return DeclaredOption(
        param, spellings(param), type=Declared(param), help=with_options(param.help) + allowed
    )
