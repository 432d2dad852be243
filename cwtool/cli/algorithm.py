"""A command whose options depend on --algo: its own and those of the algorithm. Without --algo, the
algorithm is that of the model to continue."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from cwtool import catalog, registry
from cwtool.cli import declared as declared_options
from cwtool.cli import sections
from cwtool.cli.options import Yielding
from cwtool.params import declared

ALGO = "cwtool.algo"
OPTIONS = "cwtool.options"
PASSES = ("--epoch", "--epochs", "--n-iter")  # how other programs call --passes
FLAGS = "qv"  # short options without a value


class AlgorithmCommand(click.Command):
    """A command whose options depend on --algo: its own and those of the algorithm. Without --algo,
    the algorithm is that of the model to continue."""

    continued = "--resume"  # the option that names this model
    listed: tuple[str, ...] = ()  # algorithms that the help lists; all if there are none

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        name = self._algorithm(ctx, args)
        registry.algorithm(name)
        ctx.meta[ALGO] = name
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as failure:
            option = failure.option_name
            has_passes = option in PASSES and any(p.name == "passes" for p in self.params)
            passes = "; --passes sets the number of passes over the rows" if has_passes else ""
            if owners := declared_options.owners(option):
                found = (
                    f"{option} is an option of {', '.join(owners)}; the algorithm here is {name}"
                )
            elif passes:
                found = f"there is no option {option}"
            else:
                raise
            raise click.UsageError(found + passes, ctx) from None

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        own = super().get_params(ctx)
        name = ctx.meta.get(ALGO)
        if name is None:
            return own
        known = ctx.meta.setdefault(OPTIONS, {})  # click asks several times
        if name not in known:
            known[name] = self._with_those_of(name, own)
        return list(known[name])

    def _with_those_of(self, name: str, own: list[click.Parameter]) -> list[click.Parameter]:
        """The command's own options and those of the algorithm."""
        kind = registry.algorithm(name)
        theirs = {p.name for p in declared(kind.Params)}
        own = [p for p in own if not (isinstance(p, Yielding) and p.name in theirs)]
        taken = {p.name for p in own}
        rest = [p for p in declared(kind.Params) if p.name not in taken]
        # a name that the command uses itself: the parameter is reached by its former name
        former = [p for p in declared(kind.Params) if p.name in taken and p.formerly]
        hidden = [
            click.Option(
                [f"--{p.formerly[0]}"],
                type=declared_options.Declared(p),
                default=p.default,
                hidden=True,
            )
            for p in former
        ]
        return [*own, *map(declared_options.option_of, rest), *hidden]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        name = ctx.meta[ALGO]
        kind = registry.algorithm(name)
        kept = {p.name for p in self.params if not isinstance(p, Yielding)}
        theirs = {p.name for p in declared(kind.Params)} - kept
        params = self.get_params(ctx)
        special = [p for p in params if p.name in theirs]
        general = [p for p in params if p.name not in theirs]
        own = [p for p in general if p.name not in sections.SHARED]
        sections.write(ctx, formatter, "Options", own)
        sections.write(ctx, formatter, f"Options of {name} ({kind.summary})", special)
        sections.write_shared(ctx, formatter, general)
        with formatter.section("Algorithms for --algo, and what to use them for"):
            for title, members in catalog.lines(self.listed):
                with formatter.section(title):
                    formatter.write_dl(members)

    def _algorithm(self, ctx: click.Context, args: list[str]) -> str:
        """The algorithm that the arguments, variables or configuration name, before options are
        parsed."""
        prefix = ctx.auto_envvar_prefix or "CWTOOL_TRAIN"
        given = _value_of(args, "--algo", "-a") or os.environ.get(f"{prefix}_ALGO")
        given = given or str(ctx.lookup_default("algo") or "")
        if given:
            return given
        named = [p.default for p in self.params if p.name == "algo" and isinstance(p.default, str)]
        if named:
            return named[0]
        words = {"--resume": (), "--model": ("-m",)}[self.continued]
        resumed = _value_of(args, self.continued, *words)
        resumed = resumed or os.environ.get(f"{prefix}_{self.continued[2:].upper()}")
        resumed = resumed or str(ctx.lookup_default(self.continued[2:]) or "")
        if resumed and (self.continued == "--resume" or Path(resumed).exists()):
            from cwtool.model import algorithm_of

            return algorithm_of(Path(resumed))
        return registry.DEFAULT


def _value_of(args: list[str], *names: str) -> str | None:
    """The last value that the arguments give to one of these options."""
    found = None
    for k, word in enumerate(args):
        if word == "--":
            break
        for name in names:
            if not name.startswith("--") and not word.startswith("--"):
                word = word[:1] + word[1:].lstrip(FLAGS)  # -qa NAME
            if word == name and k + 1 < len(args):
                found = args[k + 1]
            elif name.startswith("--") and word.startswith(name + "="):
                found = word[len(name) + 1 :]
            elif not name.startswith("--") and word.startswith(name) and word != name:
                found = word[len(name) :].removeprefix("=")
    return found


def given(ctx: click.Context, others: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The values of the named options that the user has set."""
    default = click.core.ParameterSource.DEFAULT
    return {n: others[n] for n in names if ctx.get_parameter_source(n) is not default}
