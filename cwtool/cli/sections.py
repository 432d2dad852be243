"""The sections of a help text: options that many commands share stand under titles of their own,
behind those of the command."""

from __future__ import annotations

from collections.abc import Iterable

import click

SECTIONS = {
    "Classes, weights and thresholds": (
        "multiclass", "positive", "class_weight", "threshold", "fpr", "precision", "top",
    ),
    "How rows are read": (
        "normalize", "bias", "hash_bits", "zero_based", "on_bad_line", "max_bad_lines",
    ),
    "Shards and clusters": (
        "shards", "rounds", "engine", "scheduler", "work_dir", "head", "growth", "tail_rows", "gap",
    ),
    "Speed and memory": ("jobs", "block_size", "cache", "max_memory"),
    "Messages": ("as_json", "quiet", "verbose"),
}  # fmt: skip
SHARED = {name for names in SECTIONS.values() for name in names}


def write(
    ctx: click.Context,
    formatter: click.HelpFormatter,
    title: str,
    params: Iterable[click.Parameter],
) -> None:
    """Write the help of these options under a title, if there are any."""
    records = [p.get_help_record(ctx) for p in params if isinstance(p, click.Option)]
    shown = [record for record in records if record is not None]
    if shown:
        with formatter.section(title):
            formatter.write_dl(shown)


def write_shared(
    ctx: click.Context, formatter: click.HelpFormatter, params: Iterable[click.Parameter]
) -> None:
    """Write those of these options that are shared, section by section."""
    by_name = {p.name: p for p in params}
    for title, members in SECTIONS.items():
        write(ctx, formatter, title, [by_name[name] for name in members if name in by_name])


class SectionedCommand(click.Command):
    """A command whose help has sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        params = self.get_params(ctx)
        write(ctx, formatter, "Options", [p for p in params if p.name not in SHARED])
        write_shared(ctx, formatter, params)
