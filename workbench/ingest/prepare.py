"""From a batch of files to tables ready to land: reading, archiving, merging, deriving. Everything but the landing.

A batch can be prepared in any process; it is told which sources are known, and tells which sources it used for each
session, so that the importer sees whether another batch brought more of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import ClassVar, NamedTuple

import pyarrow as pa

from workbench.ingest.cycles import no_cycle_collection
from workbench.ingest.derive.session import DERIVE_VERSION
from workbench.ingest.discover import told
from workbench.ingest.forgotten import ForgottenError, InseparableError
from workbench.ingest.merge import SessionSource
from workbench.ingest.rows import BatchRows
from workbench.ingest.sources import Content, KnownSource, KnownSources, NotASourceError, SourceReader, known_source
from workbench.store.archive import Archive, Arrival
from workbench.store.landing_key import LandingKey
from workbench.store.tombstones import Tombstones
from workbench.text.redaction import Redactor, rules_version


class LeftOut(NamedTuple):
    """A file that was left out, and why."""

    path: str
    reason: str


class Settled(NamedTuple):
    """What becomes of a source's earlier contents once its new one has landed."""

    source_id: str
    older: tuple[str, ...]
    superseded: tuple[str, ...]


class Prepared(NamedTuple):
    """A batch ready to land.

    Attributes:
        keys: The landing of each session.
        used: For each session, the paths of all sources that its rows were derived from.
        tables: Rows of every derived table, and of `blobs`.
        known: The sources of the batch, as they will be known.
        settled: See `Settled`.
        skipped: Files that are no transcripts.
        errors: Files that could not be read.
        forgotten: Sessions that were met and have tombstones.
    """

    keys: list[LandingKey]
    used: dict[str, frozenset[str]]
    tables: dict[str, pa.Table]
    known: list[KnownSource]
    settled: list[Settled]
    skipped: list[LeftOut]
    errors: list[LeftOut]
    forgotten: frozenset[str] = frozenset()


class Preparer:
    """Prepares batches for one home.

    Args:
        archive: Folder of the archive.
        logs: Folder of the home's own event logs.
        known: Sources that landed before; batches prepared here are added.
        redactor: The seam of `text.redaction`.
        now: When the import began; UTC.
        tombstones: Sessions that are left out.
    """

    _reads: ClassVar[type[SourceReader]] = SourceReader

    def __init__(
        self,
        archive: Path,
        logs: Path,
        known: KnownSources,
        redactor: Redactor,
        now: datetime,
        tombstones: Tombstones | None = None,
    ) -> None:
        self.known = known
        self._archive = Archive(archive)
        self._rules = rules_version(redactor)
        self._reader = self._reads(self._archive, str(logs), redactor, now, tombstones)

    def prepare(self, paths: Sequence[str]) -> Prepared:
        """Read, archive and derive a batch; what it returns is in the archive for good.

        Raises:
            StoreError: The archive cannot be written to or is damaged.
        """
        with no_cycle_collection(), self._archive.writing() as writing:
            skipped: list[LeftOut] = []
            errors: list[LeftOut] = []
            contents = []
            for path in paths:
                try:
                    content = self._reader.open(path, self.known.at(path))
                except ForgottenError:
                    continue
                except InseparableError as error:
                    errors.append(LeftOut(told(path), str(error)))
                except NotASourceError as reason:
                    skipped.append(LeftOut(told(path), str(reason)))
                except OSError as error:
                    errors.append(LeftOut(told(path), error.strerror or str(error)))
                else:
                    contents.append(content)
                    if self._keeps(content):
                        writing.add(Arrival(content.sha256, content.data, self._rules, content.entry))
            writing.close()
            for content in contents:
                self.known.add(known_source(content))
            session_ids = sorted({session for content in contents for session in content.entry.session_ids})
            keys, used, tables = self._derive(session_ids, contents, errors)
            settled = [Settled(c.entry.source_id, c.older, c.superseded) for c in contents]
        sources, forgotten = list(map(known_source, contents)), frozenset(self._reader.forgotten)
        return Prepared(keys, used, tables, sources, settled, skipped, errors, forgotten)

    def _keeps(self, content: Content) -> bool:
        """Whether a content is to be archived."""
        return content.archived

    def again(self, session_ids: Sequence[str]) -> Prepared:
        """Derive sessions anew from all of their known sources.

        Raises:
            NotFoundError, StoreError: The archive lacks a content or is damaged.
        """
        with no_cycle_collection():
            errors: list[LeftOut] = []
            keys, used, tables = self._derive(session_ids, (), errors)
        return Prepared(keys, used, tables, [], [], [], errors)

    def _derive(
        self, session_ids: Sequence[str], fresh: Sequence[Content], errors: list[LeftOut]
    ) -> tuple[list[LandingKey], dict[str, frozenset[str]], dict[str, pa.Table]]:
        at_hand = {content.entry.path: content for content in fresh}
        rows, keys, used = BatchRows(), [], {}
        for session_id in session_ids:
            known = self.known.of_session(session_id)
            contents = []
            for source in known:
                try:
                    contents.append(at_hand.get(source.path) or self._reader.again(source))
                except (ForgottenError, InseparableError, NotASourceError, OSError) as error:
                    errors.append(LeftOut(source.path, f"landed before and is gone: {error}"))
            key = LandingKey.of(session_id, DERIVE_VERSION, [content.state for content in contents])
            rows.add(key, contents, [older for content in contents for older in self._older(content)])
            keys.append(key)
            used[session_id] = frozenset(source.path for source in known)
        return keys, used, rows.tables()

    def _older(self, content: Content) -> Iterator[SessionSource]:
        entry = content.entry
        for age, sha256 in enumerate(content.older, start=1):
            yield SessionSource(entry.source_id, age, self._reader.archived(entry.format, entry.path, sha256))
