"""The steps of the main job after the import, quick ones first: what each does, finds and writes.

A step that cannot be done says why and hides none of the others. All of them go on where they were broken off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from workbench.errors import WorkbenchError
from workbench.reports.render.numbers import count, plural
from workbench.surfaces.cli.output import plain, progress_bar

if TYPE_CHECKING:
    from workbench.bench import Workbench

ARMS: Final = ("agent", "model", "version")
"""Columns of the scorecards of which the first one with several values tells the arms of the comparison."""


class Step(NamedTuple):
    """A step that was done, or was not.

    Attributes:
        name: What it is.
        told: What it found, or why it could not be done, on one line.
        page: The report it wrote.
        is_done: False where it could not be done.
    """

    name: str
    told: str
    page: Path | None = None
    is_done: bool = True


Found = tuple[str, Path | None]


def further_steps(bench: Workbench, out: Path, session_ids: Sequence[str], notes: Path) -> Iterator[Step]:
    """Replay, compare, study, read the notes, embed; a report of each.

    Args:
        bench: The home.
        out: The reports' folder.
        session_ids: The sessions that it is about.
        notes: The folder of notes.

    Yields:
        Each step when it is over.
    """
    steps: dict[str, Callable[[], Found]] = {
        "replay": lambda: _replay(bench, out, session_ids),
        "comparison": lambda: _compare(bench, out),
        "study": lambda: _study(bench, out, session_ids),
        "vault": lambda: _index(bench, notes),
        "vectors": lambda: _embed(bench, session_ids, notes),
        "notes": lambda: _notes(bench, out, notes),
    }
    for name, step in steps.items():
        try:
            told, page = step()
        except WorkbenchError as error:
            yield Step(name, f"not done: {plain(str(error))}", is_done=False)
        else:
            yield Step(name, plain(told), page)


def _replay(bench: Workbench, out: Path, session_ids: Sequence[str]) -> Found:
    if not session_ids:
        return "there is no session to replay", None
    with progress_bar("replaying", of_bytes=False) as progress:
        written = bench.report("context", out, session_ids=list(session_ids), progress=progress)
    tokens = bench.sql(
        "select sum(raw_tokens) as sent, sum(classic_tokens) as whole from compiles "
        "semi join (select max(replay_id) as replay_id from replays where mode = 'engine' and level = 'exchange' "
        "group by session_id) using (replay_id) where list_contains($ids::varchar[], session_id)",
        {"ids": list(session_ids)},
    ).row(0)
    sent, whole = (value or 0 for value in tokens)
    told = f"{plural(written.sessions, 'session')}: the context engine would have sent {count(sent)} tokens where the "
    return f"{told}whole history has {count(whole)}", written.path


def _compare(bench: Workbench, out: Path) -> Found:
    from workbench.reports.comparing import Question  # noqa: PLC0415  (--help needs none of it)
    from workbench.reports.telemetry import headline  # noqa: PLC0415

    cards = bench.scorecards()
    several = (name for name in ARMS if cards[name].drop_nulls().n_unique() > 1)
    by = next(several, None)
    if by is None:
        return f"nothing to compare: {', '.join(ARMS)} are the same in every session", None
    written = bench.telemetry_report(out, Question(by=by), command=f"workbench report telemetry --by {by}")
    return f"arms by {by}: {headline(written.compared.comparison)}", written.path


def _study(bench: Workbench, out: Path, session_ids: Sequence[str]) -> Found:
    if not session_ids:
        return "there is no session to study", None
    with progress_bar("study", of_bytes=False) as progress:
        result = bench.tune(sessions=session_ids, progress=progress)
    written = bench.tuning_report(out, result.study_id)
    return f"{result.verdict}: {result.why}", written.path


def _index(bench: Workbench, notes: Path) -> Found:
    with progress_bar("reading notes", of_bytes=False) as progress:
        run = bench.vault(notes).index(progress=progress)
    return (
        f"{plural(run.notes, 'note')}, {plural(run.links, 'link')}, {plural(run.issues, 'issue')} in {notes.name}",
        None,
    )


def _embed(bench: Workbench, session_ids: Sequence[str], notes: Path) -> Found:
    with progress_bar("embedding notes", of_bytes=False) as progress:
        done = [bench.vault(notes).embed(progress=progress)]
    if session_ids:
        with progress_bar("embedding sessions", of_bytes=False) as progress:
            done.append(bench.embed(progress=progress))
    known, new = sum(each.vectors for each in done), sum(each.embedded for each in done)
    return f"{plural(known, 'text')} have a vector by {done[-1].model}, {count(new)} of them new", None


def _notes(bench: Workbench, out: Path, notes: Path) -> Found:
    vault = bench.vault(notes)
    health = vault.health()
    written = vault.report(out)
    return ("no notes" if health.score is None else f"health {health.score} of 100"), written.path
