"""The main job: transcripts and notes to tables, replay, study, comparison, vectors, reports that open in a browser.

    python -m workbench.surfaces.main_job --home .run/home --out reports [--from PATH] [--vault FOLDER]

Imports the sample sessions that come with the repository, or those under PATH, prints what landed and what was left
out, and writes `sessions.html`; then come the steps of `main_steps`, each with what it found and its report. Its home
is one of its own inside the clone, never the user's. Interrupted, it goes on from there; run again, it opens no file
that did not change and embeds no text twice.

Exit codes are those of the command line: 0 done; 1 done in part; 2 the arguments are wrong; 3 not found; 4 the store or
the report cannot be written; 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from workbench.errors import NotFoundError
from workbench.reports.render.numbers import plural
from workbench.reports.render.text import one_line
from workbench.surfaces.cli.output import print_table, progress_bar
from workbench.surfaces.exits import exit_code_of

if TYPE_CHECKING:
    from workbench.bench import Workbench
    from workbench.ingest.importer import ImportResult

ROOT: Final = Path(__file__).resolve().parents[2]
"""The clone."""

SAMPLES: Final = (Path("datasets/claude-code/projects"), Path("datasets/event-log/sessions"))
"""Sample sessions, below the clone."""

SAMPLE_VAULT: Final = Path("datasets/vault")
"""Sample notes, below the clone."""

SESSION_ROWS: Final = 20
"""Up to so many sessions have a line each; of more there is a line a project."""

LEFT_OUT_ROWS: Final = 10

COUNTED: Final = ("agent", "prompts", "responses", "calls", "failed", "output")

ASK: Final = "select tool, count(*) calls, count_if(is_error) failed from tool_calls group by tool order by calls desc"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it.

    Args:
        arguments: Of the command line.

    Returns:
        The exit code.
    """
    options = _parse(arguments)
    return exit_code_of(lambda: run(options.home, options.out, options.source, options.vault))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m workbench.surfaces.main_job",
        description="Sessions and notes to tables; replay, study, comparison, vectors; reports that open in a browser.",
    )
    parser.add_argument("--home", type=Path, default=ROOT / ".run" / "home", help="where the tables go (.run/home)")
    parser.add_argument("--out", type=Path, default=ROOT / "reports", help="where the report goes (reports)")
    parser.add_argument(
        "--from", dest="source", type=Path, metavar="PATH", help="sessions to import; the samples unless given"
    )
    parser.add_argument("--vault", type=Path, metavar="FOLDER", help="notes to index; the sample vault unless given")
    return parser.parse_args(arguments)


def run(home: Path, out: Path, source: Path | None = None, vault: Path | None = None) -> int:
    """Do all of it.

    Args:
        home: The home; made when it is missing.
        out: The reports' folder.
        source: A file or folder of sessions; the samples unless given.
        vault: A folder of notes; the sample vault unless given.

    Returns:
        0, or 1 when a file could not be read or a step could not be done.

    Raises:
        NotFoundError: There is nothing to import from.
        StoreError: The home or the report of sessions cannot be written.
    """
    from workbench.bench import Workbench  # noqa: PLC0415  (--help needs none of it)
    from workbench.surfaces.main_steps import further_steps  # noqa: PLC0415

    sources = [source.expanduser()] if source is not None else [ROOT / path for path in SAMPLES]
    notes = vault.expanduser() if vault is not None else ROOT / SAMPLE_VAULT
    _check([*sources, notes])
    bench = Workbench(home)
    result, session_ids = _imported(bench, sources)
    lines = [f"Imported from {', '.join(map(_short, sources))}."]
    pages = [bench.report("sessions", out, session_ids=session_ids, about=lines).path]
    print(f"report: {_short(pages[0])}\n")
    is_whole = not result.errors
    for step in further_steps(bench, out, session_ids, notes):
        print(f"{step.name}: {step.told}")
        is_whole &= step.is_done
        pages += [] if step.page is None else [step.page]
    _print_next(pages, home)
    return 0 if is_whole else 1


def _imported(bench: Workbench, sources: Sequence[Path]) -> tuple[ImportResult, list[str]]:
    """Import, print what landed and what did not; the sessions under the sources come back too."""
    started = time.perf_counter()
    with progress_bar("importing") as progress:
        result = bench.ingest(*sources, progress=progress)
    _print_result(result, sources, time.perf_counter() - started)
    session_ids = _sessions_under(bench, sources)
    _print_table(bench, session_ids)
    _print_left_out("skipped", result.skipped)
    _print_left_out("could not be read", result.errors)
    return result, session_ids


def _check(sources: Sequence[Path]) -> None:
    missing = [path for path in sources if not path.exists()]
    if missing:
        where = ", ".join(map(str, missing))
        raise NotFoundError(
            f"there is nothing at {where}; name sessions with --from PATH, a folder of notes with --vault FOLDER"
        )


def _sessions_under(bench: Workbench, sources: Sequence[Path]) -> list[str]:
    """The sessions that files under the given paths tell of, whether they landed now or before."""
    query = """
        select distinct unnest(session_ids) as session_id
        from sources, (select unnest($roots::varchar[]) as root)
        where path = root or starts_with(path, root || '/')
        order by session_id
    """
    roots = [os.path.realpath(path).rstrip("/") for path in sources]
    return [str(session_id) for session_id in bench.sql(query, {"roots": roots})["session_id"]]


# -- what is printed ---------------------------------------------------------------------------------------------------


def _print_result(result: ImportResult, sources: Sequence[Path], seconds: float) -> None:
    where = ", ".join(map(_short, sources))
    if result.sessions:
        landed = f"{result.events:,} events, {result.turns:,} turns, {result.tool_calls:,} tool calls"
        print(f"imported {plural(result.sessions, 'session')} from {where} in {seconds:.1f} s: {landed}")
    elif result.unchanged:
        print(f"nothing changed in {where}: {plural(result.unchanged, 'file')} were not opened again ({seconds:.1f} s)")
    else:
        print(f"nothing landed from {where}")
    if result.sessions and result.unchanged:
        print(f"{plural(result.unchanged, 'file')} did not change and were not opened")


def _print_table(bench: Workbench, session_ids: Sequence[str]) -> None:
    from workbench.reports.sessions_numbers import by_project  # noqa: PLC0415

    known = bench.sql("select * from sessions order by started_at desc nulls last, session_id")
    chosen = known.filter(known["session_id"].is_in(list(session_ids)))
    if not chosen.height:
        print("there are no sessions in it")
        return
    print()
    if chosen.height <= SESSION_ROWS:
        rows = [(row["session_id"][:8], *_counts(row), row["title"]) for row in chosen.to_dicts()]
        print_table(("session", *COUNTED, "title"), rows)
    else:
        projects = [(row["sessions"], *_counts(row), row["cwd"]) for row in by_project(chosen)]
        print_table(("sessions", *COUNTED, "project"), projects)
    print()


def _counts(row: Mapping[str, Any]) -> tuple[Any, ...]:
    numbers = ("prompts", "responses", "tool_calls", "tool_errors", "output_tokens")
    return (row["agent"], *(row[name] for name in numbers))


def _print_left_out(what: str, items: Sequence[tuple[str, str]]) -> None:
    if not items:
        return
    print(f"{plural(len(items), 'file')} {what}:")
    for path, reason in items[:LEFT_OUT_ROWS]:
        print(f"  {one_line(path)}: {one_line(reason)}")
    if len(items) > LEFT_OUT_ROWS:
        print(f"  and {len(items) - LEFT_OUT_ROWS:,} more")


def _print_next(pages: Sequence[Path], home: Path) -> None:
    command = f"{_short(ROOT / '.venv' / 'bin' / 'workbench')} --home {_short(home)}"
    print("\nopen in a browser:")
    for page in pages:
        print(f"  {page.absolute().as_uri()}")
    print("try next:")
    print(f"  {command} show last")
    print(f'  {command} sql "{ASK}"')
    print(f"  {command} lab")
    print("  make run FROM=~/.claude/projects VAULT=~/notes")


def _short(path: Path) -> str:
    """A path as it is typed here."""
    whole = path.absolute()
    return str(whole.relative_to(Path.cwd())) if whole.is_relative_to(Path.cwd()) else str(path)


if __name__ == "__main__":
    sys.exit(main())
