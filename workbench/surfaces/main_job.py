"""The first thing to try: sessions to tables, and a report of them that opens in a browser.

    python -m workbench.surfaces.main_job --home .run/home --out reports [--from PATH]

Imports the sample sessions that come with the repository, or those under PATH, prints what landed and what was left
out, and writes `sessions.html`. Its home is one of its own inside the clone, never the user's. Run again, it opens no
file that did not change.

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
    from workbench.ingest.importer import ImportResult
    from workbench.reports.sessions_job import WrittenReport
    from workbench.store.lake import Lake

ROOT: Final = Path(__file__).resolve().parents[2]
"""The clone."""

SAMPLES: Final = (Path("datasets/claude-code/projects"), Path("datasets/event-log/sessions"))
"""Sample sessions, below the clone."""

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
    return exit_code_of(lambda: run(options.home, options.out, options.source))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m workbench.surfaces.main_job",
        description="Import sessions, print what landed, write a report that opens in a browser.",
    )
    parser.add_argument("--home", type=Path, default=ROOT / ".run" / "home", help="where the tables go (.run/home)")
    parser.add_argument("--out", type=Path, default=ROOT / "reports", help="where the report goes (reports)")
    parser.add_argument(
        "--from", dest="source", type=Path, metavar="PATH", help="sessions to import; the samples unless given"
    )
    return parser.parse_args(arguments)


def run(home: Path, out: Path, source: Path | None = None) -> int:
    """Import, print, report.

    Args:
        home: The home; made when it is missing.
        out: The report's folder.
        source: A file or folder of sessions; the samples unless given.

    Returns:
        0, or 1 when a file could not be read.

    Raises:
        NotFoundError: There is nothing to import from.
        StoreError: The home or the report cannot be written.
    """
    from workbench.ingest.importer import Importer  # noqa: PLC0415  (--help needs none of it)
    from workbench.reports.sessions_job import write_sessions_report  # noqa: PLC0415
    from workbench.store.home import Home  # noqa: PLC0415
    from workbench.store.lake import Lake  # noqa: PLC0415

    sources = [source.expanduser()] if source is not None else [ROOT / path for path in SAMPLES]
    _check(sources)
    started = time.perf_counter()
    lake = Lake(Home.open(home))
    with progress_bar("importing") as progress:
        result = Importer(lake, progress=progress).run(sources)
    _print_result(result, sources, time.perf_counter() - started)
    session_ids = _sessions_under(lake, sources)
    _print_table(lake, session_ids)
    _print_left_out("skipped", result.skipped)
    _print_left_out("could not be read", result.errors)
    lines = [f"Imported from {', '.join(map(_short, sources))}."]
    report = write_sessions_report(lake, out, session_ids=session_ids, about=lines)
    _print_next(report, lake.home.root)
    return 1 if result.errors else 0


def _check(sources: Sequence[Path]) -> None:
    missing = [path for path in sources if not path.exists()]
    if missing:
        where = ", ".join(map(str, missing))
        raise NotFoundError(f"there is nothing at {where}; name a file or folder of sessions with --from PATH")


def _sessions_under(lake: Lake, sources: Sequence[Path]) -> list[str]:
    """The sessions that files under the given paths tell of, whether they landed now or before."""
    query = """
        select distinct unnest(session_ids) as session_id
        from sources, (select unnest($roots::varchar[]) as root)
        where path = root or starts_with(path, root || '/')
        order by session_id
    """
    roots = [os.path.realpath(path).rstrip("/") for path in sources]
    return [str(session_id) for session_id in lake.sql(query, {"roots": roots})["session_id"]]


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


def _print_table(lake: Lake, session_ids: Sequence[str]) -> None:
    from workbench.reports.sessions_numbers import by_project  # noqa: PLC0415

    known = lake.sql("select * from sessions order by started_at desc nulls last, session_id")
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


def _print_next(report: WrittenReport, home: Path) -> None:
    command = f"{_short(ROOT / '.venv' / 'bin' / 'workbench')} --home {_short(home)}"
    print(f"report: {_short(report.path)} ({report.size_bytes / 1000:,.0f} kB)")
    print(f"  open  {report.path.absolute().as_uri()}")
    print("try next:")
    print(f"  {command} sessions")
    print(f"  {command} show last")
    print(f'  {command} sql "{ASK}"')
    print("  make run FROM=~/.claude/projects")


def _short(path: Path) -> str:
    """A path as it is typed here."""
    whole = path.absolute()
    return str(whole.relative_to(Path.cwd())) if whole.is_relative_to(Path.cwd()) else str(path)


if __name__ == "__main__":
    sys.exit(main())
