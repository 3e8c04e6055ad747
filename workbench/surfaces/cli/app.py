"""The application: its commands, what they share, and what becomes of an error."""

from __future__ import annotations

import itertools
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from workbench import __version__
from workbench.config.quiet import leave_out_pandas
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


MODULES: Final[dict[str, tuple[str, ...]]] = {
    "backup": ("backup",),
    "compare": ("compare",),
    "config": ("config",),
    "context": ("context",),
    "doctor": ("care",),
    "embed": ("search",),
    "eval": ("eval",),
    "export": ("export",),
    "forget": ("forget",),
    "ingest": ("ingest",),
    "lab": ("lab",),
    "labels": ("labels",),
    "maintain": ("care",),
    "patterns": ("scorecard",),
    "redact": ("redact",),
    "report": ("report", "compare"),
    "reproduce": ("compare",),
    "restore": ("backup",),
    "scorecard": ("scorecard",),
    "search": ("search",),
    "sessions": ("sessions",),
    "show": ("sessions",),
    "sql": ("sql",),
    "tune": ("tune",),
    "usage": ("usage",),
    "vault": ("vault", "vault_fix", "vault_forget"),
    "verify": ("care",),
    "zettel": ("zettel",),
}
"""The modules that add a command with its sub-commands. The one that is run loads no others: to read what all of them
declare takes typer 0.15 s."""


def start() -> None:
    """Run the command line as a process of its own."""
    leave_out_pandas()
    main()


def main() -> None:
    """Run the command line; the process ends with the codes that `exits` lists."""
    load_commands(MODULES.get(_command(sys.argv[1:])))
    sys.exit(exit_code_of(_run))


def load_commands(modules: Sequence[str] | None = None) -> None:
    """Let modules add their commands to the application; all of them unless some are named."""
    for name in dict.fromkeys(itertools.chain(*MODULES.values())) if modules is None else modules:
        import_module(f"workbench.surfaces.cli.{name}")


def _command(arguments: Sequence[str]) -> str:
    """The command among the arguments: the first word that is neither an option nor the value of `--home`."""
    before = ""
    for word in arguments:
        if not word.startswith("-") and before != "--home":
            return word
        before = word
    return ""


def _run() -> int:
    """Run the application; typer ends a command by raising."""
    try:
        app(standalone_mode=True)
    except SystemExit as ended:
        if ended.code == 128 + signal.SIGINT:  # typer caught it
            raise KeyboardInterrupt from ended
        return ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    return 0
