"""Frames of sessions, kept in the home's cache by content, so that a second study starts at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import msgspec

from workbench.config.context import Compiler, Scoring
from workbench.experiments.frames import FRAME_VERSION, SessionFrame, build_frame
from workbench.experiments.recorded import read_each
from workbench.experiments.replay_rows import policy_json
from workbench.store.cache import read_cache, write_cache
from workbench.text.ids import content_hash

if TYPE_CHECKING:
    from workbench.context.pool import Embed
    from workbench.context.session import Policy
    from workbench.store.lake import Lake

FOLDER: Final = "study"
_DIGITS: Final = 32

Progress = Callable[[int, int, str], None]
"""Called with sessions done, sessions in all, and the one at hand."""


@dataclass(frozen=True, slots=True)
class Framed:
    """Frames, and what they depend on.

    Attributes:
        frames: By session id, in the order asked for.
        keys: Name of the content of each frame.
        made: How many were made now; the others were there.
    """

    frames: dict[str, SessionFrame]
    keys: dict[str, str]
    made: int


def read_frames(
    lake: Lake,
    policy: Policy,
    *,
    steps_max: int,
    embed: Embed | None = None,
    embedder: str | None = None,
    session_ids: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Framed:
    """The frames of sessions at the policy's level; those that are not in the cache are made and put there.

    Broken off, what was made stays.

    Args:
        lake: The tables.
        policy: How cards are made; weights and budgets do not matter.
        steps_max: Model calls at a session's end that are looked at.
        embed: Makes vectors.
        embedder: Its model id.
        session_ids: Whole ids; all sessions, the oldest first, unless given.
        progress: Hears of each session that is made.
    """
    keys = frame_keys(lake, policy, steps_max=steps_max, embedder=embedder, session_ids=session_ids)
    found = {each: frame for each, key in keys.items() if (frame := _cached(lake, key)) is not None}
    missing = [each for each in keys if each not in found]
    for done, session in enumerate(read_each(lake, missing)):
        if progress:
            progress(done, len(missing), session.session_id)
        frame = build_frame(session, policy, steps_max=steps_max, embed=embed)
        write_cache(lake.home, _name(keys[session.session_id]), frame.to_bytes())
        found[session.session_id] = frame
    return Framed({each: found[each] for each in keys}, keys, len(missing))


def frame_keys(
    lake: Lake,
    policy: Policy,
    *,
    steps_max: int,
    embedder: str | None = None,
    session_ids: Sequence[str] | None = None,
) -> dict[str, str]:
    """Name of the content of each frame that `read_frames` would give; no frame is read for it.

    Args:
        lake: As for `read_frames`, and so are the others.
        policy: How cards are made.
        steps_max: Model calls at a session's end that are looked at.
        embedder: Model id.
        session_ids: Whole ids.
    """
    about = policy_json(_unweighted(policy))
    states = _states(lake)
    return {
        each: content_hash(f"{FRAME_VERSION} {each} {states.get(each)} {steps_max} {embedder} {about}")[:_DIGITS]
        for each in (states if session_ids is None else session_ids)
    }


def _states(lake: Lake) -> dict[str, str]:
    """Session to a name of its present content, the oldest first."""
    query = """
        select session_id, state from session_states join sessions using (session_id)
        order by started_at nulls last, session_id
    """
    return dict(lake.sql(query).iter_rows())


def _unweighted(policy: Policy) -> Policy:
    engine = msgspec.structs.replace(policy.engine, scoring=Scoring())
    return replace(policy, compiler=Compiler(), engine=engine, window=0)


def _cached(lake: Lake, key: str) -> SessionFrame | None:
    data = read_cache(lake.home, _name(key))
    try:
        return None if data is None else SessionFrame.from_bytes(data)
    except ValueError:  # a damaged file of the cache: made again
        return None


def _name(key: str) -> str:
    return f"{FOLDER}/{key}.npz"
