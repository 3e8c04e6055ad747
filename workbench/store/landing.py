"""Landing: how a session's derived rows get into the tables wholly or not at all.

A landing is one state of one session: its sources by hash, and the version of the code that derives. An attempt to land
it gives its rows a `landing_id` that no other attempt has:

1. look which landing each session has in `sessions`;
2. append the rows to every other table: nobody sees them, since views show only what `sessions` names;
3. in one commit to `sessions`, put the new rows in the place of the old ones: from here on the new state is shown;
4. delete the rows that nobody sees any more: of the landing before, and of attempts that died.

So a reader never sees half a session, neither while it grows nor after a kill, and running the same command again
completes whatever is missing. It holds without the home's lock too, which an object store has not: step 3 is refused
when any other landing was committed to `sessions` since step 1. What was found in step 2 for deletion had been written
before that commit, so its writer, if it is alive, is refused in its step 3 and starts again.

This goes beyond the first design (one overwrite a table, `sessions` last), under which a session that grows was for a
moment half old and half new, and under which two writers of one file conflict; appends do not.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from workbench.errors import ConflictError
from workbench.store.delta import DeltaStore
from workbench.store.landing_key import ATTEMPT_BITS, HEAD, LandingKey
from workbench.store.schema import LANDING_ID

ROUNDS: Final = 5
"""A landing that meets another one of the same session looks again what is there; two rounds settle it."""

WRITERS: Final = 4
"""Tables written at once: a session of 0.8 MB that grew lands in 0.3 s, one after the other in 0.5 s (two cores)."""

TURNS: Final = 50
"""How often the commit to `sessions` is tried while landings of other sessions go before; each try takes 20 ms."""

Rows = Mapping[str, pa.Table]
"""Table name to rows, with the `landing_id` of their key filled in."""


class Seen(NamedTuple):
    """What `sessions` told: its version, the landing of each session asked for, and all landings there are."""

    version: int
    landings: dict[str, int]
    current: Any


def landed(head: DeltaStore, session_ids: Sequence[str]) -> dict[str, int]:
    """The landing that each of the sessions now has.

    Args:
        head: The `sessions` table.
        session_ids: Sessions to look up.

    Returns:
        Session id to landing id; sessions that do not exist are absent.
    """
    return _look(head, session_ids).landings


def land(
    stores: Mapping[str, DeltaStore],
    keys: Sequence[LandingKey],
    derive: Callable[[Sequence[LandingKey]], Rows],
    *,
    anew: bool = False,
    beside: Callable[[], None] = lambda: None,
) -> list[LandingKey]:
    """Land a batch of sessions.

    Args:
        stores: Every derived table by name.
        keys: The states to land, one a session.
        derive: Makes the rows of the given states for every table; asked only for those that are missing, and again
            when another machine came between.
        anew: Whether states that are there already land once more, in the place of their rows.
        beside: Writes what the rows refer to; is called while they are written, and done before they are shown.

    Returns:
        The states that were landed now, in order; those that were there already are not among them.

    Raises:
        ConflictError: Another machine kept landing the same sessions.
        StoreError, SchemaError: The tables cannot be written, or the rows do not fit.
    """
    head = stores[HEAD]
    others = {name: store for name, store in stores.items() if name != HEAD}
    with ThreadPoolExecutor(WRITERS, thread_name_prefix="landing") as pool:
        for _ in range(ROUNDS):
            seen = _look(head, [key.session_id for key in keys])
            missing = [key for key in keys if anew or not key.is_landed_as(seen.landings.get(key.session_id))]
            if not missing:
                return []
            attempt = secrets.randbelow(1 << ATTEMPT_BITS)
            rows = {name: _stamped(table, attempt) for name, table in derive(missing).items()}
            stage = partial(_stage, keys=missing, seen=seen)
            besides = pool.submit(beside)
            dead = list(pool.map(stage, others.values(), [rows[name] for name in others]))
            besides.result()
            won = _commit(head, rows[HEAD], missing, seen)
            if not won:
                mine = [key.landing_id + attempt for key in missing]
                dead = [mine if rows[name].num_rows else [] for name in others]
            list(pool.map(_sweep, others.values(), dead))
            if won:
                return missing
    raise ConflictError(f"other machines kept landing the same sessions, among them {keys[0].session_id}")


def _look(head: DeltaStore, session_ids: Iterable[str]) -> Seen:
    version, rows = head.read(["session_id", LANDING_ID])
    wanted = rows.filter(pc.is_in(rows["session_id"], pa.array(session_ids, pa.string())))
    landings: dict[Any, Any] = dict(zip(wanted["session_id"].to_pylist(), wanted[LANDING_ID].to_pylist(), strict=True))
    return Seen(version, landings, rows[LANDING_ID])


def _stamped(rows: pa.Table, attempt: int) -> pa.Table:
    place = rows.schema.get_field_index(LANDING_ID)
    return rows.set_column(place, rows.schema.field(place), pc.add(rows[LANDING_ID], pa.scalar(attempt, pa.int64())))


def _stage(store: DeltaStore, rows: pa.Table, keys: Sequence[LandingKey], seen: Seen) -> list[int]:
    """Append rows that no view shows yet; returns the landings of these sessions that will be dead once one does."""
    session_ids = [key.session_id for key in keys]
    _, found = store.read([LANDING_ID])
    present = pc.unique(found[LANDING_ID])
    replaced = {seen.landings[sid] for sid in session_ids if sid in seen.landings}
    dead: set[Any] = replaced.intersection(present.to_pylist()) if replaced else set()
    orphans = present.filter(pc.invert(pc.is_in(present, seen.current.combine_chunks())))
    if len(orphans):  # somebody died in mid-landing, or is landing right now
        _, about = store.read(["session_id", LANDING_ID], pc.field(LANDING_ID).isin(orphans))
        ours = pc.is_in(about["session_id"], pa.array(session_ids, pa.string()))
        dead.update(about.filter(ours)[LANDING_ID].to_pylist())
    if rows.num_rows:
        store.append(rows)
    return sorted(dead)


def _sweep(store: DeltaStore, landing_ids: Sequence[int]) -> None:
    store.delete_where(LANDING_ID, landing_ids)


def _commit(head: DeltaStore, rows: pa.Table, keys: Sequence[LandingKey], seen: Seen) -> bool:
    """Make the new state the one that is shown; False when one of these sessions was landed by another machine."""
    session_ids = [key.session_id for key in keys]
    before = {sid: seen.landings[sid] for sid in session_ids if sid in seen.landings}
    version = seen.version
    for _ in range(TURNS):
        try:
            if before:
                head.upsert(rows, "session_id", transaction=HEAD, at=version)
            else:
                head.append(rows, transaction=HEAD, at=version)
        except ConflictError:
            version, now, _ = _look(head, session_ids)
            if now != before:
                return False
        else:
            return True
    return False
