"""The name of one state of one session; apart from `landing`, because it needs no table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Final

HEAD: Final = "sessions"
"""The table whose row makes a session exist."""

VAULT_HEAD: Final = "vault_runs"
"""The table whose newest row of a vault says which rows of the vault are shown."""

OWNERS: Final = {HEAD: "session_id", VAULT_HEAD: "vault_id"}
"""The tables that say what is shown, and the column that names whose rows they are."""

ATTEMPT_BITS: Final = 23
"""The lower bits of a `landing_id` say which attempt wrote a row, the upper 40 which state of which session it is of.

A session is taken for landed when the upper bits agree: a changed session would be missed once in 10**12 times.
"""


@dataclass(frozen=True)
class LandingKey:
    """One state of one session.

    Attributes:
        session_id: The session.
        state: Names the state: session, derive version, hash of its sources, generation.
    """

    session_id: str
    state: str

    @classmethod
    def of(cls, session_id: str, derive_version: int, sources: Sequence[str], generation: int = 0) -> LandingKey:
        """The key of a session with these source hashes, in any order; `generation` grows when a session is erased."""
        content = blake2b("\n".join(sorted(sources)).encode(), digest_size=12).hexdigest()
        return cls(session_id, f"{session_id}/{derive_version}/{content}/{generation}")

    @cached_property
    def landing_id(self) -> int:
        """What the rows of this state carry until an attempt to land them adds its number to it.

        Integers, because the views join on them.
        """
        state = int.from_bytes(blake2b(self.state.encode("utf-8", "surrogatepass"), digest_size=8).digest()) >> 1
        return state >> ATTEMPT_BITS << ATTEMPT_BITS

    def is_landed_as(self, landing_id: int | None) -> bool:
        """Whether rows with this id are of this state, whichever attempt wrote them."""
        return landing_id is not None and landing_id >> ATTEMPT_BITS == self.landing_id >> ATTEMPT_BITS
