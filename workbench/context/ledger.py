"""Finding an exchange of the session by its words.

Source: PRAANA src/context-engine/turn-ledger.ts; specification A, 15.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

import msgspec

from workbench.context.records import TurnRecord
from workbench.context.verbatim import compact_json
from workbench.text.bm25 import Pool, tokenize

EXCERPT_CHARS: Final = 400
"""Characters of an excerpt; a longer one ends in `...`. Source: PRAANA src/context-engine/turn-ledger.ts."""


class LedgerMatch(msgspec.Struct, frozen=True):
    """An exchange that fits a query."""

    record: TurnRecord
    score: float
    excerpt: str


def search_text(record: TurnRecord) -> str:
    """The words an exchange is found by.

    Source: PRAANA src/context-engine/turn-ledger.ts.
    """
    parts = [
        record.user_message,
        record.assistant_message,
        *record.errors,
        *record.files_read,
        *record.files_written,
        *record.artifact_ids,
        *(f"{call.tool} {compact_json(call.args)}" for call in record.tool_calls),
    ]
    return "\n".join(part for part in parts if part)


class TurnLedger:
    """All exchanges of a session, once each, their words counted as they come.

    Args:
        records: The first ones.
    """

    def __init__(self, records: Sequence[TurnRecord] = ()) -> None:
        self._records: dict[int, TurnRecord] = {}
        self._words = Pool()
        for record in records:
            self.append(record)

    def __len__(self) -> int:
        """Count the exchanges."""
        return len(self._records)

    @property
    def records(self) -> list[TurnRecord]:
        """All exchanges, oldest first."""
        return list(self._records.values())

    def newest(self, count: int) -> list[TurnRecord]:
        """The last exchanges, oldest first."""
        return [*itertools.islice(reversed(self._records.values()), count)][::-1]

    def append(self, record: TurnRecord) -> bool:
        """Take an exchange in; one that is there already stays as it is.

        Returns:
            Whether it was new.
        """
        if record.turn in self._records:
            return False
        self._records[record.turn] = record
        self._words.extend([tokenize(search_text(record))])
        return True

    def search(self, query: str, limit: int = 20) -> list[LedgerMatch]:
        """Exchanges that hold words of a query, the best first.

        Args:
            query: Text.
            limit: Most matches.

        Source: PRAANA src/context-engine/turn-ledger.ts, `search`.
        """
        scores = self._words.scores(tokenize(query))
        records = self.records
        ranked = sorted(range(len(records)), key=lambda place: -scores[place])
        return [
            LedgerMatch(records[place], float(scores[place]), excerpt(records[place]))
            for place in ranked[:limit]
            if scores[place] > 0
        ]


def excerpt(record: TurnRecord) -> str:
    """What was said and what went wrong, on one line and not too long.

    Source: PRAANA src/context-engine/turn-ledger.ts.
    """
    text = " ".join(" ".join([record.user_message, record.assistant_message, *record.errors]).split())
    return text if len(text) <= EXCERPT_CHARS else text[: EXCERPT_CHARS - 3] + "..."
