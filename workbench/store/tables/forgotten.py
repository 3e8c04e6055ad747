"""What was forgotten on purpose; of the group of sessions."""

from __future__ import annotations

from typing import Final

from workbench.store.schema import STRING, Column, Table

FORGOTTEN_SESSIONS: Final = Table(
    "forgotten_sessions",
    "sessions",
    "entity",
    "one session that was forgotten and is left out by imports",
    ("session_hash",),
    (Column("session_hash", STRING, "SHA-256 of the session's id; nothing else of it is kept.", required=True),),
    "design 4, Care",
)

TABLES: Final = (FORGOTTEN_SESSIONS,)
