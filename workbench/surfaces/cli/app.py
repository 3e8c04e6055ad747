"""The application: its commands, what they share, and what becomes of an error."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench import __version__
from workbench.surfaces.exits import exit_code_of, say

if TYPE_CHECKING:
    from workbench.bench import Workbench

app = typer.Typer(
    name="workbench",
    help="Look into what your LLM agents did: import their sessions, query them, compare them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

HomeOption = Annotated[
    Path | None,
    typer.Option(
        "--home", help="The home folder; WORKBENCH_HOME or the user data folder unless given.", show_default=False
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON of a stable shape.")]


def _print_version(*, wanted: bool) -> None:
    if wanted:
        print(f"workbench {__version__}")
        raise typer.Exit


@app.callback()
def _shared(
    context: typer.Context,
    home: HomeOption = None,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=lambda value: _print_version(wanted=value), is_eager=True
        ),
    ] = False,
) -> None:
    """Options that stand before a command; `--home` may stand after it as well."""
    del version
    context.obj = home


def open_bench(context: typer.Context, home: Path | None) -> Workbench:
    """The workbench of the home that was named after or before the command."""
    from workbench.bench import Workbench  # noqa: PLC0415  (--help needs none of it)

    bench = Workbench(home or context.obj)

    def tell() -> None:
        for notice in bench.notices:
            say(notice)

    context.call_on_close(tell)
    return bench


def main() -> None:
    """Run the command line; the process ends with the codes that `exits` lists."""
    from workbench.surfaces.cli import (  # noqa: F401, PLC0415  (each adds its commands)
        backup,
        care,
        compare,
        config,
        context,
        eval,  # noqa: A004  (the command's name)
        export,
        forget,
        ingest,
        lab,
        labels,
        redact,
        report,
        scorecard,
        search,
        sessions,
        sql,
        tune,
        usage,
        vault,
        vault_fix,
        zettel,
    )

    sys.exit(exit_code_of(_run))


def _run() -> int:
    """Run the application; typer ends a command by raising."""
    try:
        app(standalone_mode=True)
    except SystemExit as ended:
        if ended.code == 128 + signal.SIGINT:  # typer caught it
            raise KeyboardInterrupt from ended
        return ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    return 0
