"""Large tool output, kept whole by its content and shown as a card.

A distiller that takes longer than a turn may wait is deferred: the card says that its summary is pending, and `finish`,
at the end of the turn, puts the summary in.

One shelf a session: what another session stored is not on it, so that no card names what cannot be opened. The texts
themselves are shared between sessions by the store (`blobs`).

Source: PRAANA, "Artifacts"; PRAANA src/context-engine/artifact-store.ts; specification A, 12, W11 to W13.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from workbench.context.cards import card, short_id
from workbench.context.classify import content_type_of
from workbench.context.distillers import DISTILLERS, Distilled, Registry, distil
from workbench.context.records import ContentType
from workbench.errors import WorkbenchError
from workbench.text.ids import content_hash
from workbench.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from workbench.config.context import ContextEngine


PENDING: Final = "[compression pending: retrieve_artifact has the full content]"
"""The summary of an artifact until its distiller has run. Source: PRAANA src/context-engine/distiller.ts."""


class RetrievalError(WorkbenchError):
    """What was asked of an artifact cannot be given; the message is for the agent."""


class Artifact(msgspec.Struct, frozen=True, kw_only=True):
    """One large output.

    Attributes:
        id: Short name in prompts.
        sha256: Hash of the whole text.
        source_tool: The tool that made it first.
        command: What that call was about.
        created_turn: The exchange in which it first came.
        raw_tokens: Estimated tokens of the whole text.
        summary: The distilled text.
        content_type: What kind of output it is.
        last_accessed_turn: When it last came up or was opened.
        access_count: How often it came up again or was opened.
    """

    id: str
    sha256: str
    source_tool: str
    command: str | None
    created_turn: int
    raw_tokens: int
    summary: str
    content_type: ContentType
    last_accessed_turn: int
    access_count: int = 0

    @property
    def card(self) -> str:
        """What stands in the prompt."""
        return card(self.id, self.source_tool, self.command, self.raw_tokens, self.summary)


class Ingested(msgspec.Struct, frozen=True):
    """What became of an output: the text for the prompt, its artifact if it is one, the distiller's run if one ran."""

    prompt_text: str
    artifact: Artifact | None = None
    distilled: Distilled | None = None


class Shelf:
    """The artifacts of one session.

    Args:
        config: Thresholds.
        distillers: By content type.
    """

    def __init__(self, config: ContextEngine, distillers: Registry = DISTILLERS) -> None:
        self._config = config
        self._distillers = distillers
        self._pending: list[str] = []
        self._artifacts: dict[str, Artifact] = {}
        self._texts: dict[str, str] = {}

    def __len__(self) -> int:
        """Count the artifacts."""
        return len(self._artifacts)

    @property
    def artifacts(self) -> list[Artifact]:
        """All of them, the oldest first."""
        return list(self._artifacts.values())

    def get(self, artifact_id: str) -> Artifact | None:
        """An artifact by its short name."""
        return self._artifacts.get(artifact_id)

    def ingest(
        self, tool: str, text: str, turn: int, *, command: str | None = None, content_type: ContentType | None = None
    ) -> Ingested:
        """Take in what a tool said.

        Args:
            tool: Its name.
            text: What it said, without the envelope.
            turn: The exchange.
            command: What the call was about.
            content_type: What kind of output it is; told by command and text unless given.

        Returns:
            The text as it is where it is short or an error, else a card.

        Source: PRAANA src/context-engine/artifact-store.ts, `ingest`.
        """
        kind = content_type or content_type_of(tool, command, text)
        tokens = estimate_tokens(text)
        if kind == "error" or tokens <= self._config.artifact_inline_threshold:
            return Ingested(text)
        sha256 = content_hash(text)
        known = self._artifacts.get(short_id(sha256))
        if known is not None:
            touched = self._touch(msgspec.structs.replace(known, command=known.command or command), turn)
            return Ingested(touched.card, touched)
        chosen = self._distillers.get(kind)
        made = None if chosen and chosen.deferred else self._distil(text, kind)
        artifact = Artifact(
            id=short_id(sha256),
            sha256=sha256,
            source_tool=tool,
            command=command,
            created_turn=turn,
            raw_tokens=tokens,
            summary=made.text if made else PENDING,
            content_type=kind,
            last_accessed_turn=turn,
        )
        self._artifacts[artifact.id] = artifact
        self._texts[artifact.id] = text
        self._pending += [] if made else [artifact.id]
        return Ingested(artifact.card, artifact, made)

    def finish(self) -> list[tuple[Artifact, Distilled | None]]:
        """Run the distillers that were put off, at the end of a turn.

        Returns:
            The artifacts that have their summaries now, and the runs; None for a run that failed: the summary says so.

        Source: PRAANA src/context-engine/artifact-store.ts, `flushDeferredDistillation`.
        """
        waiting, self._pending = self._pending, []
        return [self._finish(self._artifacts[key]) for key in waiting if key in self._artifacts]

    def _finish(self, artifact: Artifact) -> tuple[Artifact, Distilled | None]:
        made: Distilled | None = None
        try:
            made = self._distil(self._texts[artifact.id], artifact.content_type)
            summary = made.text
        except Exception as error:  # noqa: BLE001  # the distiller is not ours; what failed stands in the card
            summary = f"[compression failed: {str(error) or type(error).__name__}]\n{PENDING}"
        done = msgspec.structs.replace(artifact, summary=summary)
        self._artifacts[artifact.id] = done
        return done, made

    def _distil(self, text: str, kind: ContentType) -> Distilled:
        return distil(text, kind, self._config.distiller, registry=self._distillers)

    def retrieve(
        self,
        artifact_id: str,
        turn: int,
        *,
        grep: str | None = None,
        line_start: int | None = None,
        line_end: int | None = None,
        json_path: str | None = None,
    ) -> str:
        """The whole text of an artifact, or a part of it; opening it counts as an access.

        Args:
            artifact_id: Its short name.
            turn: The exchange.
            grep: Only lines that this pattern matches.
            line_start: First line, from 1.
            line_end: Last line.
            json_path: Names and places with dots between, into JSON.

        Raises:
            RetrievalError: There is no such artifact in this session, or the part cannot be given.

        Source: PRAANA src/context-engine/artifact-store.ts, `retrieve`.
        """
        known = self._artifacts.get(artifact_id)
        if known is None:
            raise RetrievalError(f"Artifact {artifact_id} not found")
        self._touch(known, turn)
        text = self._texts[artifact_id]
        if json_path:
            text = _by_path(text, json_path)
        if line_start is not None or line_end is not None:
            text = _lines(text, line_start, line_end)
        return _matching(text, grep) if grep else text

    def evict(self, turn: int) -> list[str]:
        """Drop what nobody used for long; what was used often is kept twice as long.

        Returns:
            The short names of what is gone.

        Source: PRAANA src/context-engine/artifact-store.ts, `evictStale`; specification A, W13 (a session at a time).
        """
        ttl, hot = self._config.artifact_ttl_turns, self._config.artifact_hot_accesses
        stale = [
            each.id
            for each in self._artifacts.values()
            if each.last_accessed_turn < turn - (2 * ttl if each.access_count >= hot else ttl)
        ]
        for artifact_id in stale:
            del self._artifacts[artifact_id], self._texts[artifact_id]
        return stale

    def high_value(self, least_accesses: int) -> list[Artifact]:
        """Artifacts that came up often, the most used first, then the newest.

        Raises:
            ValueError: `least_accesses` is below 1.

        Source: PRAANA src/context-engine/artifact-store.ts.
        """
        if least_accesses < 1:
            raise ValueError(f"least_accesses must be at least 1, not {least_accesses}")
        found = [each for each in reversed(self._artifacts.values()) if each.access_count >= least_accesses]
        return sorted(found, key=lambda each: -each.access_count)

    def cards(self, artifact_ids: Sequence[str]) -> dict[str, str]:
        """Cards by short name, of those that are on the shelf."""
        return {key: self._artifacts[key].card for key in artifact_ids if key in self._artifacts}

    def _touch(self, artifact: Artifact, turn: int) -> Artifact:
        touched = msgspec.structs.replace(artifact, last_accessed_turn=turn, access_count=artifact.access_count + 1)
        self._artifacts[artifact.id] = touched
        return touched


def _by_path(text: str, path: str) -> str:
    try:
        value: Any = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise RetrievalError(f"Artifact is not valid JSON: {error}") from error
    for part in filter(None, path.split(".")):
        value = _step(value, part)
    return value if isinstance(value, str) else msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _step(value: Any, part: str) -> Any:
    if isinstance(value, dict):
        return value.get(part)
    if isinstance(value, list) and part.isdecimal():
        return value[int(part)] if int(part) < len(value) else None
    raise RetrievalError(f"Invalid jsonPath segment: {part}")


def _lines(text: str, start: int | None, end: int | None) -> str:
    lines = text.split("\n")
    first = max(1, start or 1)
    last = min(len(lines), len(lines) if end is None else end)
    return "\n".join(lines[first - 1 : last]) if first <= last else ""


def _matching(text: str, pattern: str) -> str:
    try:
        wanted = re.compile(pattern)
    except re.error as error:
        raise RetrievalError(f"Invalid grep pattern {pattern!r}: {error}") from error
    return "\n".join(line for line in text.split("\n") if wanted.search(line))
