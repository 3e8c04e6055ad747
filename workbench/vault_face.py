"""One vault, as Python sees it (`docs/vault.md`)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import BadInputError, NotFoundError, StoreError
from workbench.store.lake import Lake

if TYPE_CHECKING:
    import polars as pl

    from workbench.config import Config
    from workbench.experiments.link_holdout import Holdout, HoldoutSettings
    from workbench.reports.vault_job import WrittenVaultReport
    from workbench.search.query import Answer
    from workbench.search.refresh import Embedded
    from workbench.text.redaction import Redactor
    from workbench.vault.analytics import GraphFigures
    from workbench.vault.fix.apply import FixResult
    from workbench.vault.forget import VaultForgotten
    from workbench.vault.graph import NoteGraph
    from workbench.vault.growth import Growth
    from workbench.vault.index import Progress, VaultRun
    from workbench.vault.note_search import NoteSearch
    from workbench.vault.note_vectors import NoteVectors
    from workbench.vault.operations import Operations
    from workbench.vault.zettel.converse import Conversation
    from workbench.vault.zettel.explore import Exploration
    from workbench.vault.zettel.health import HealthReport
    from workbench.vault.zettel.suggest import Suggestions
    from workbench.vault.zettel.surprise import Surprises
    from workbench.vault.zettel.themes import Themes


class Vault:
    """Everything that can be done with one folder of notes.

    Args:
        lake: The tables.
        root: The folder, links resolved.
        config: The configuration.
        redactor: The seam through which what is read goes.

    Attributes:
        notices: What answers so far lack, in words; the command line prints them.
    """

    def __init__(self, lake: Lake, root: Path, config: Config, redactor: Redactor) -> None:
        from workbench.vault.index import vault_id_of  # noqa: PLC0415

        self._lake = lake
        self._redactor = redactor
        self.root = root
        self.config = config
        self.vault_id = vault_id_of(root)
        self.notices: list[str] = []
        self._read: tuple[str, Operations] | None = None

    def index(self, *, rehash: bool = False, anew: bool = False, progress: Progress | None = None) -> VaultRun:
        """Bring the rows of this vault up to date; nothing in it is written. See `vault.index.VaultIndexer.run`.

        Raises:
            NotFoundError: The folder is gone.
            BusyError: Another run over it did not end in time.
            StoreError: The tables cannot be written.
        """
        from workbench.vault.index import VaultIndexer, vault_root  # noqa: PLC0415

        limits = self.config.vault
        indexer = VaultIndexer(
            self._lake,
            vault_root(self.root),
            redactor=self._redactor,
            max_files=limits.max_files,
            max_depth=limits.max_depth,
        )
        return indexer.run(rehash=rehash, anew=anew, progress=progress)

    def watch(
        self, *, stop: threading.Event | None = None, on_change: Callable[[int], object] = lambda _: None
    ) -> Iterator[VaultRun]:
        """Bring the rows up to date now, and again after every change.

        Args:
            stop: Ends it; else Ctrl-C does.
            on_change: Told how many paths changed, before a run.

        Yields:
            What each run did.

        Raises:
            NotFoundError, BusyError, StoreError: As for `index`.
        """
        from workbench.vault.watch import changes  # noqa: PLC0415

        ended = stop or threading.Event()
        waiting = changes(self.root, ended)
        yield self.index()
        for count in waiting:
            on_change(count)
            yield self.index()

    def forget(self, *, dry_run: bool = False, step: Callable[[str], None] = lambda _: None) -> VaultForgotten:
        """Remove everything of this vault from the home, for good; its folder stays as it is. See `vault.forget`.

        Args:
            dry_run: Only tell what would go.
            step: Told the tables that come next.

        Raises:
            NotFoundError: Nothing is known of the vault.
            BusyError: Another process is at work and does not end; nothing was changed.
            StoreError: The home cannot be read or written to.
        """
        from workbench.vault.forget import forget_vault  # noqa: PLC0415

        self._read = None
        return forget_vault(self._lake, self._note_search, self.vault_id, self.root, dry_run=dry_run, step=step)

    def status(self) -> dict[str, Any]:
        """What is known of the vault, and what has changed in its folder since; see `vault.status.status_of`.

        Returns:
            Of the vectors, the model (`vector_model`; null without any) and how many notes have none
            (`notes_without_vector`) beside it.

        Raises:
            NotFoundError: It was never indexed.
        """
        from workbench.vault.status import status_of  # noqa: PLC0415

        self.check_indexed()
        model, without = self._note_search.without_vector()
        return {**status_of(self._lake, self.vault_id), "vector_model": model, "notes_without_vector": without}

    def search(self, query: str, *, mode: str | None = None, limit: int | None = None) -> pl.DataFrame:
        """Look for notes; what the answer lacks goes to `notices`.

        Args:
            query: Words to be found, or a question; nothing in it is syntax.
            mode: `keyword`, `semantic` or `hybrid`; as configured unless given.
            limit: Most notes; as configured unless given.

        Returns:
            One row a note with its best chunk, best first: `vault.note_search.COLUMNS`.

        Raises:
            NotFoundError: The vault was never indexed.
            BadInputError: There is no such mode or limit.
            StoreError: The index cannot be read.
        """
        answer = self.answer(query, mode=mode, limit=limit)
        self.notices += [*answer.lacks, *answer.notices]
        return answer.hits

    def answer(
        self, query: str, *, mode: str | None = None, limit: int | None = None, progress: Progress | None = None
    ) -> Answer:
        """Search as `search` does, and tell apart what the answer lacks.

        Args:
            query: See `search`.
            mode: See `search`.
            limit: See `search`.
            progress: Called with notes done, notes in all and the one at hand, while the search index follows.

        Raises:
            NotFoundError, BadInputError, StoreError: As for `search`.
        """
        self.check_indexed()
        return self._note_search.ask(query, mode=mode, limit=limit, progress=progress)

    def embed(self, *, progress: Progress | None = None) -> Embedded:
        """Give every note a vector. It can be interrupted: what is done stays, and the next call goes on from there.

        Args:
            progress: Called with texts done, texts in all and the model.

        Raises:
            NotFoundError: The vault was never indexed.
            EmbedderUnavailableError: There is no embedder; the message says what is missing.
            BusyError: Another process embeds.
            StoreError: The index cannot be read or written.
        """
        self.check_indexed()
        self._read = None
        done = self._note_search.embed(progress=progress)
        self._read = None  # the operations take the new vectors
        if advice := self._note_search.advice():
            self.notices.append(advice)
        return done

    @property
    def vectors(self) -> NoteVectors:
        """The notes' vectors, as the operations compare them."""
        return self.operations.vectors

    def check_indexed(self) -> None:
        """Make sure that there are rows of this vault.

        Raises:
            NotFoundError: It was never indexed.
        """
        if self._lake.sql("select 1 from vault_runs where vault_id = $1 limit 1", [self.vault_id]).is_empty():
            raise NotFoundError(f"the vault {self.root} was not indexed yet: workbench vault index {self.root}")

    @property
    def notes(self) -> pl.DataFrame:
        """The notes: path, title, folder, tags (each once), times, size; in order of path, without their texts."""
        return self._lake.sql(_NOTES, [self.vault_id])

    @property
    def links(self) -> pl.DataFrame:
        """The rows of `note_links`, in order of note and place."""
        query = "select * exclude (vault_id) from note_links where vault_id = $1 order by source_path, place"
        return self._lake.sql(query, [self.vault_id])

    def text(self, path: str) -> str:
        """The text of one note.

        Raises:
            NotFoundError: There is no such note.
        """
        found = self._lake.sql("select text from notes where vault_id = $1 and path = $2", [self.vault_id, path])
        if found.is_empty():
            raise NotFoundError(f"there is no note {path!r} in the vault {self.root}")
        return str(found.item())

    def sql(self, query: str, parameters: Sequence[Any] = ()) -> pl.DataFrame:
        """Ask the tables; `$vault` in the query stands for this vault's id.

        Args:
            query: DuckDB's SQL.
            parameters: Values for `?`; none together with `$vault`.

        Raises:
            QueryError: DuckDB refused it.
        """
        return self._lake.sql(query, {"vault": self.vault_id} if "$vault" in query else parameters)

    @property
    def operations(self) -> Operations:
        """The vault as its last run left it, for the operations; read anew after another run.

        Raises:
            NotFoundError: It was never indexed.
        """
        from workbench.vault.operations import Operations  # noqa: PLC0415

        query = "select max(run_id) from vault_runs where vault_id = $1"
        run_id = self._lake.sql(query, [self.vault_id]).item()
        if run_id is None:
            self.check_indexed()
        if self._read is None or self._read[0] != run_id:
            aliases = self._lake.sql("select path, alias, kind from note_aliases where vault_id = $1", [self.vault_id])
            read = Operations(self.notes, self.links, aliases, self.config.vault, self._note_search.vectors)
            self._read = (run_id, read)
        return self._read[1]

    @cached_property
    def _note_search(self) -> NoteSearch:
        from workbench.vault.note_search import NoteSearch  # noqa: PLC0415

        return NoteSearch(self._lake, self.config, self.vault_id, str(self.root))

    @property
    def graph(self) -> NoteGraph:
        """The link graph; see `vault.graph.NoteGraph`."""
        return self.operations.graph

    def figures(self) -> GraphFigures:
        """PageRank, betweenness, communities, bridges; see `vault.analytics.analyse`."""
        return self.operations.figures()

    def growth(self) -> Growth:
        """Notes and links over time, from the history of the git repository that the vault lies in, if any."""
        from workbench.vault.growth import growth  # noqa: PLC0415

        return growth(self.root)

    def explore(self, note: str, **options: Any) -> Exploration:
        """Walk from a note along its links.

        Args:
            note: Its path, name, title or alias.
            options: `depth`, `direction`, `mode`, as `zettel.explore.explore` has them; the configured ones unless
                given.

        Raises:
            NotFoundError: There is no such note, or the vault was never indexed; so for all operations.
        """
        return self.operations.explore(note, **options)

    def surprise(self, note: str, **options: Any) -> Surprises:
        """Notes alike in meaning and far apart by links.

        Args:
            note: Its path, name, title or alias.
            options: `limit`, `min_similarity`, `min_graph_distance`, `mode`, as `zettel.surprise.surprise` has them.

        Returns:
            With the `snippet` of each note: the piece of it closest in meaning to the reference.
        """
        return self.operations.surprise(note, snippets=self._note_search.closest_pieces, **options)

    def suggest(self, note: str, **options: Any) -> Suggestions:
        """Links that a note could have.

        Args:
            note: Its path, name, title or alias.
            options: `limit`, `exclude_linked`, as `zettel.suggest.suggest` has them.
        """
        return self.operations.suggest(note, **options)

    def themes(self, **options: Any) -> Themes:
        """Groups of notes that mean much the same, over the whole vault unless `lookback_days` are given.

        Args:
            options: `lookback_days`, `clock`, `linkage`, `min_cluster_size`, `max_themes`, `similarity_threshold`,
                `now`, as `zettel.themes.themes` has them.
        """
        return self.operations.themes(**{"now": datetime.now(UTC), **options})

    def health(self, **options: Any) -> HealthReport:
        """The structural audit, with a score from 0 to 100.

        Args:
            options: `scope`, `prefix`, `recent_days`, `include`, `now`, as `zettel.health.health` has them.
        """
        return self.operations.health(**{"now": datetime.now(UTC), **options})

    def converse(self, question: str, *, across: str = "folder", **options: Any) -> tuple[Conversation, list[str]]:
        """Notes that bear on a question, and what connects their domains.

        Args:
            question: In plain words.
            across: What a domain is: the top `folder`, or the `theme`.
            options: `depth`, `limit`, as `zettel.converse.converse` has them.

        Returns:
            The answer, and what the search lacked.

        Raises:
            BadInputError: `across` is neither.
        """
        if across not in ("folder", "theme"):
            raise BadInputError(f"connections are across folder or theme, not {across!r}")
        read, lacks = self.operations, []

        def search(asked: str) -> pl.DataFrame:
            answer = self._note_search.chunks_about(asked)
            lacks.extend([*answer.lacks, *answer.notices])
            return answer.hits

        domains = read.domains_by_theme(now=datetime.now(UTC)) if across == "theme" else None
        texts = self._lake.sql("select path, text from notes where vault_id = $1", [self.vault_id])
        return read.converse(question, search, domains=domains, texts=texts, **options), lacks

    def link_holdout(
        self, settings: HoldoutSettings, *, as_stored: bool = False, progress: Progress | None = None
    ) -> Holdout:
        """Hide links and see whether `suggest` finds them; see `experiments.link_holdout.link_holdout`.

        Args:
            settings: How links are hidden.
            as_stored: Use the stored vectors; else notes with hidden links are embedded anew without these.
            progress: Called with repeats done.

        Raises:
            EmbedderUnavailableError: Notes are to be embedded and there is no embedder.
        """
        from workbench.experiments.link_holdout import link_holdout, note_embedder  # noqa: PLC0415

        read, search = self.operations, self._note_search
        query = "select path, title, text, modified_at from notes where vault_id = $1 order by path"
        notes = self._lake.sql(query, [self.vault_id])
        embed = None
        if len(read.vectors.paths) and not as_stored:
            embed = note_embedder(notes, read.other_names, search.embedder, self.config.search.chunk_tokens)
        texts = dict(notes.select("path", "text").iter_rows())
        return link_holdout(read, texts, embed, settings, progress=progress)

    def fix(
        self,
        *,
        apply: bool = False,
        kinds: Sequence[str] | None = None,
        min_confidence: float | None = None,
        note: str | None = None,
    ) -> FixResult:
        """Propose repairs, and write those that are sure enough if asked to; copies go into the home first.

        Args:
            apply: Write; else nothing is written.
            kinds: Only repairs of these kinds: `broken_link`, `path_alias`, `missing_parent`, `orphan`.
            min_confidence: From which a repair is written; 0.9 unless given.
            note: Only repairs in this note.

        Raises:
            NotFoundError: There is no such note, or the vault was never indexed.
            BadInputError: There is no such kind.
            StoreError: The copies cannot be kept; nothing was written.
        """
        from workbench.store.aside import keep_copies  # noqa: PLC0415
        from workbench.vault.fix.proposals import KINDS  # noqa: PLC0415
        from workbench.vault.fix.run import MIN_CONFIDENCE, FixOptions, fix_vault  # noqa: PLC0415

        read = self.operations
        if unknown := sorted(set(kinds or ()) - set(KINDS)):
            raise BadInputError(f"there is no repair {unknown[0]!r}: {', '.join(KINDS)}")
        options = FixOptions(
            kinds=[kind for kind in KINDS if kinds is None or kind in kinds],
            min_confidence=MIN_CONFIDENCE if min_confidence is None else min_confidence,
            only=None if note is None else read.resolve(note),
            is_dry_run=not apply,
        )
        moved = dict(self._lake.sql(_MOVED, {"vault": self.vault_id}).iter_rows())
        home = self._lake.home.root
        try:
            return fix_vault(read, self.root, moved, lambda files, about: keep_copies(home, files, about), options)
        except OSError as error:
            raise StoreError(f"no copies could be kept in {home}, so nothing was written: {error}") from error

    def restore_fixes(self, copies: Path) -> dict[str, str | None]:
        """Put files back as they were before `fix`.

        Args:
            copies: The folder that `fix` named.

        Returns:
            Path to why it was not put back; None where it was.

        Raises:
            NotFoundError: There are no copies.
            BadInputError: They are of another vault.
        """
        from workbench.store.aside import kept_copies  # noqa: PLC0415
        from workbench.vault.fix.apply import put_back  # noqa: PLC0415

        return put_back(self.root, *kept_copies(copies))

    def report(
        self,
        out: str | Path,
        *,
        similarity: float | None = None,
        holdout: Path | None = None,
        about: Sequence[str] = (),
    ) -> WrittenVaultReport:
        """Write the vault's report: one HTML file that needs nothing else, and a manifest of what it was made from.

        Args:
            out: A file that ends in `.html`, or a folder.
            similarity: From which two notes are of one theme; as configured unless given.
            holdout: The JSON file of a hold-out check, to be told too.
            about: Further lines for the page's foot.

        Raises:
            NotFoundError: The vault was never indexed.
            StoreError: The tables cannot be read, or the file cannot be written.
        """
        from workbench.reports.sessions_job import table_versions  # noqa: PLC0415
        from workbench.reports.vault_job import write_vault_report  # noqa: PLC0415

        return write_vault_report(
            self, Path(out), lambda: table_versions(self._lake), similarity=similarity, holdout=holdout, about=about
        )


_MOVED = """
select h.renamed_from, n.path
from notes_history h join notes n using (vault_id, note_id)
where n.vault_id = $vault and h.renamed_from is not null and h.renamed_from <> n.path
order by h.recorded_at
"""
_NOTES = """
with tags as (
    select path, list(distinct tag order by tag) as tags from note_tags where vault_id = $1 group by path
)
select
    path, title, folder, coalesce(tags, []) as tags, modified_at, created_at, recorded_at as indexed_at,
    size_bytes, words, note_id, content_hash
from notes
left join tags using (path)
where vault_id = $1
order by path
"""
