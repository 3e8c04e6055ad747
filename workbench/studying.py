"""What `Workbench` does to find out what helps: scorecards, studies of weights, comparisons (`docs/experiments.md`)."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from workbench.errors import BadInputError, NotFoundError
from workbench.store.lake import Lake

if TYPE_CHECKING:
    import polars as pl

    from workbench.config import Config
    from workbench.context.session import Level
    from workbench.experiments.inspection import Opinion, Pair
    from workbench.experiments.session_patterns import Progress
    from workbench.experiments.study.plain import SpaceResult
    from workbench.experiments.study.result import StudyResult
    from workbench.ingest.importer import ImportResult
    from workbench.providers.embedding import Embedder
    from workbench.reports.comparing import Compared, Question
    from workbench.reports.reproduce import Reproduction
    from workbench.reports.telemetry_job import WrittenComparison
    from workbench.reports.tuning_job import WrittenStudy


class Studying(ABC):
    """The methods of `Workbench` that measure and compare."""

    _lake: Lake

    @property
    @abstractmethod
    def config(self) -> Config:
        """The configuration."""

    @property
    @abstractmethod
    def embedder(self) -> Embedder:
        """The configured embedder, loaded."""

    @abstractmethod
    def resolve_session(self, name: str) -> str:
        """The session that is meant by a name."""

    @abstractmethod
    def land_logs(self, *, wait_seconds: float = 0.5) -> ImportResult | None:
        """Land new events of sessions run here."""

    # -- what sessions show --------------------------------------------------------------------------------------------

    def scorecards(self) -> pl.DataFrame:
        """What every session shows in numbers, the newest first; see `docs/experiments.md`.

        Returns:
            One row a session: what it is (`agent`, `model`, `version`, `config_hash`, `task_type`, `arm`, `tags`,
            `project_id`, `final`, ...), each metric of `telemetry.scorecard.METRICS` and its rate. A metric that the
            session's records cannot show is null, and its name stands in `not_applicable`.
        """
        from workbench.reports.scorecards import scorecards_frame  # noqa: PLC0415

        self.land_logs()
        return scorecards_frame(self._lake, self.config)

    def scorecard(self, session: str) -> dict[str, Any]:
        """One session's row of `scorecards`.

        Args:
            session: Id, prefix or `last`.

        Raises:
            NotFoundError, AmbiguousError: As for `resolve_session`.
        """
        session_id = self.resolve_session(session)
        cards = self.scorecards()
        place = cards["session_id"].index_of(session_id)
        if place is None:
            raise NotFoundError(f"session {session_id} has no scorecard: it was forgotten while they were made")
        return cards.row(place, named=True)

    def patterns(
        self, task_type: str | None = None, *, as_of: datetime | None = None, progress: Progress | None = None
    ) -> pl.DataFrame:
        """How work of a kind went: tools and outputs of the sessions of each task type, the most frequent first.

        Sessions that are new since the last time are looked into first, which means to read their outputs.

        Args:
            task_type: Only of this kind.
            as_of: As the patterns were at this moment (with a zone); at the end of the newest session unless given.
            progress: Called with sessions done, sessions in all and the one at hand.

        Returns:
            Columns of `workflow_patterns`.

        Raises:
            BadInputError: `as_of` has no zone.
        """
        from workbench.experiments.session_patterns import patterns_frame  # noqa: PLC0415

        if as_of is not None and as_of.tzinfo is None:
            raise BadInputError(f"as_of needs a time with a zone, got {as_of!r}")
        self.land_logs()
        return patterns_frame(self._lake, self.config, task_type=task_type, as_of=as_of, progress=progress)

    def label(
        self,
        session: str,
        *,
        recorded_by: str = "user",
        add_tags: Collection[str] = (),
        remove_tags: Collection[str] = (),
        **labels: Any,
    ) -> dict[str, Any]:
        """Say something of a session: `title`, `tags`, `arm` or `project`. Credentials in it are replaced first.

        Args:
            session: Id, prefix or `last`.
            recorded_by: Who says so.
            add_tags: Tags to add to those there are.
            remove_tags: Tags to take away.
            labels: Those to change; the others stay, and None takes one away.

        Returns:
            All four labels as they are now.

        Raises:
            NotFoundError, AmbiguousError: As for `resolve_session`.
            BadInputError: There is no such label, or it is no text.
            ConflictError: Others kept changing labels.
        """
        from workbench.telemetry.session_labels import label_session  # noqa: PLC0415  (60 ms)
        from workbench.text.redaction import redact  # noqa: PLC0415

        return label_session(
            self._lake.stores["session_labels"],
            self.resolve_session(session),
            labels,
            add_tags=add_tags,
            remove_tags=remove_tags,
            recorded_by=recorded_by,
            clean=redact.text if self.config.redaction.enabled else str,
        )

    # -- labels --------------------------------------------------------------------------------------------------------

    def inspect_labels(
        self, rule: str, *, count: int = 10, seed: int = 0, level: Level = "step", sessions: Collection[str] = ()
    ) -> list[Pair]:
        """Pairs of a unit and a moment on which a rule fires, one a session, for a person to judge.

        Args:
            rule: One of `experiments.labels.RULES`, or `none`: pairs on which no rule fires.
            count: How many; fewer where fewer sessions have one that nobody has judged.
            seed: Another seed draws others.
            level: What a moment is: `step` or `exchange`.
            sessions: Only of these; ids, prefixes or `last`.

        Raises:
            BadInputError: There is no such rule.
            NotFoundError, AmbiguousError: As for `resolve_session`.
        """
        from workbench.experiments.inspection import sample_pairs  # noqa: PLC0415

        self.land_logs()
        chosen = [self.resolve_session(name) for name in sessions] if sessions else None
        return sample_pairs(self._lake, self.config, rule, count=count, seed=seed, level=level, session_ids=chosen)

    def judge_label(
        self,
        session: str,
        turn: int,
        unit: str,
        rule: str,
        opinion: Opinion,
        *,
        step: int = 0,
        recorded_by: str = "user",
    ) -> Pair:
        """Keep a verdict on one pair; a later one takes the place of an earlier one.

        Args:
            session: Id, prefix or `last`.
            turn: The exchange, from 1.
            unit: The unit's id.
            rule: The rule that the pair was drawn for.
            opinion: `needed`, `not_needed` or `unclear`.
            step: The model call in the exchange; 0 for a moment by exchange.
            recorded_by: Who says so.

        Returns:
            The pair.

        Raises:
            BadInputError: There is no such rule or opinion, or the rule does not fire there.
            NotFoundError, AmbiguousError: There is no such session, moment or unit.
        """
        from workbench.experiments.inspection import find_pair, record_verdict  # noqa: PLC0415

        pair = find_pair(self._lake, self.config, self.resolve_session(session), turn, step, unit, rule)
        record_verdict(self._lake, pair, opinion, recorded_by=recorded_by)
        return pair

    def label_precision(self) -> pl.DataFrame:
        """How often each rule of the labels was right, as far as people judged; see `inspect_labels`."""
        from workbench.experiments.inspection import rule_precision  # noqa: PLC0415

        return rule_precision(self._lake)

    # -- studies -------------------------------------------------------------------------------------------------------

    def tune(
        self,
        *,
        level: str | None = None,
        budget: int | None = None,
        label: str = "vis",
        trials: int | None = None,
        learning_trials: int | None = None,
        permutations: int | None = None,
        seed: int = 0,
        semantic: bool = False,
        sessions: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> StudyResult:
        """Find out whether other weights of the context score are better than those in use; see `docs/experiments.md`.

        No model is called. Broken off, the same call goes on where it was.

        Args:
            level: `step` or `exchange`; `study.level` unless given.
            budget: Tokens that a policy may select; `study.budget_tokens` unless given.
            label: What counts as needed: `vis`, `core`, `b_ref`, `c_vis`, `c_strict` or `a_ref`.
            trials: Evenly spread points; `study.bulk_trials` unless given.
            learning_trials: Further points of each search; `study.tpe_trials` unless given.
            permutations: Studies with permuted labels at least; `study.null_permutations_min` unless given.
            seed: Of everything random.
            semantic: Judge meaning too, by the configured embedder.
            sessions: Ids, prefixes or `last`; all sessions unless given.
            progress: Called with things done, things in all and what they are.

        Raises:
            BadInputError: There is no such level or label, or a number makes no sense.
            NotFoundError, AmbiguousError: As for `resolve_session`.
            EmbedderUnavailableError: `semantic` is asked for and there is no embedder.
        """
        from workbench.experiments.study.settings import settings_of  # noqa: PLC0415
        from workbench.experiments.study_job import run_study  # noqa: PLC0415

        settings = settings_of(
            self.config.study,
            self.config.context_engine.scoring,
            level=level,
            budget=budget,
            need=label,
            trials=trials,
            learning_trials=learning_trials,
            permutations=permutations,
            seed=seed,
        )
        self.land_logs()
        embedder = self.embedder if semantic else None
        return run_study(
            self._lake,
            self.config,
            settings,
            embed=embedder.embed if embedder else None,
            embedder=embedder.model_id if embedder else None,
            session_ids=[self.resolve_session(name) for name in sessions] or None,
            progress=progress,
        )

    def tune_fusion(
        self,
        judged_set: str | os.PathLike[str],
        *,
        corpus: str | os.PathLike[str] | None = None,
        embedder: str | None = None,
        trials: int | None = None,
        learning_trials: int = 0,
        permutations: int | None = None,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> SpaceResult:
        """Find out whether other weights of hybrid search are better than those in use, on queries with known answers.

        The vectors of the documents are kept, which `eval retrieval` uses too.

        Args:
            judged_set: A folder with queries.jsonl and qrels.tsv, or the JSON file of LoCoMo or LongMemEval.
            corpus: Its documents, where they are elsewhere.
            embedder: As `embedding.model` takes it; the configured one unless given.
            trials: Evenly spread points, 64 unless given.
            learning_trials: Further points of each search.
            permutations: Studies with permuted judgements at least; `study.null_permutations_min` unless given.
            seed: Of everything random.
            progress: Called with things done, things in all and what they are.

        Raises:
            NotFoundError, BadInputError: The set cannot be read or has too few queries, a number makes no sense, or
                hybrid search joins ranks.
            EmbedderUnavailableError: The embedder is not there.
        """
        from workbench.experiments.retrieval.fusion_study import FusionAsked, run_fusion_study  # noqa: PLC0415
        from workbench.experiments.setting_studies import record_setting_study  # noqa: PLC0415

        asked = FusionAsked(
            judged_set=os.fspath(Path(judged_set).absolute()),
            corpus=None if corpus is None else os.fspath(Path(corpus).absolute()),
            embedder=embedder,
            trials=trials,
            learning_trials=learning_trials,
            permutations=permutations,
            seed=seed,
        )
        result, recipe = run_fusion_study(asked, self.config, self._lake.home.vectors, progress=progress)
        return record_setting_study(self._lake, self.config, result, recipe)

    def tune_state(
        self,
        what: Literal["idle-turns", "hydration"],
        *,
        trials: int | None = None,
        learning_trials: int = 0,
        permutations: int | None = None,
        seed: int = 0,
        sessions: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> SpaceResult:
        """Find out whether state should sink or come back otherwise than it does, by what sessions went on to use.

        Args:
            what: `idle-turns` until an active object becomes soft, or `hydration`: relevance from which one comes back.
            trials: Evenly spread points, 64 unless given.
            learning_trials: Further points of each search.
            permutations: Studies with permuted labels at least; `study.null_permutations_min` unless given.
            seed: Of everything random.
            sessions: Ids, prefixes or `last`; all sessions unless given.
            progress: Called with things done, things in all and what they are.

        Raises:
            BadInputError: A number makes no sense, or too few sessions keep a state of which something was used.
            NotFoundError, AmbiguousError: As for `resolve_session`.
        """
        from workbench.experiments.setting_studies import record_setting_study  # noqa: PLC0415
        from workbench.experiments.state_study import StateAsked, run_state_study  # noqa: PLC0415

        self.land_logs()
        asked = StateAsked(
            what=what,
            session_ids=[self.resolve_session(name) for name in sessions] or None,
            trials=trials,
            learning_trials=learning_trials,
            permutations=permutations,
            seed=seed,
        )
        result, recipe = run_state_study(self._lake, self.config, asked, progress=progress)
        return record_setting_study(self._lake, self.config, result, recipe)

    def study(self, name: str | None = None) -> StudyResult:
        """A recorded study.

        Args:
            name: Its id or the beginning of it; the newest unless given.

        Raises:
            NotFoundError: There is none.
            AmbiguousError: Several ids begin so.
        """
        from workbench.experiments.study_job import recorded_study  # noqa: PLC0415

        return recorded_study(self._lake, name).result

    def tuning_report(
        self, out: str | os.PathLike[str], study: str | None = None, *, command: str | None = None
    ) -> WrittenStudy:
        """Write a study as a page, its numbers as Parquet, and a manifest from which `reproduce` makes it again.

        Args:
            out: A file that ends in `.html`, or a folder.
            study: As for `study`.
            command: What makes it anew, for the manifest.

        Raises:
            NotFoundError, AmbiguousError: As for `study`.
            StoreError: The tables cannot be read or the files cannot be written.
        """
        from workbench.reports.tuning_job import write_tuning_report  # noqa: PLC0415

        return write_tuning_report(self._lake, Path(out), study, command=command)

    def apply_weights(self, result: StudyResult | SpaceResult, *, dry_run: bool = False) -> Path:
        """Write the weights or settings that a study found into `<home>/config.json`.

        Args:
            result: The study, of `tune`, `tune_fusion` or `tune_state`.
            dry_run: Only check whether they could be written.

        Returns:
            The file.

        Raises:
            BadInputError: The study does not show that they are better.
            ConfigError: The file cannot be written, or another one would win.
        """
        from workbench.config.write import write_settings  # noqa: PLC0415
        from workbench.experiments.setting_jobs import settings_to_apply  # noqa: PLC0415
        from workbench.experiments.study.apply import weights_to_apply  # noqa: PLC0415
        from workbench.experiments.study.result import StudyResult  # noqa: PLC0415

        values = weights_to_apply(result) if isinstance(result, StudyResult) else settings_to_apply(result, self.config)
        return write_settings(self._lake.home.root, values, dry_run=dry_run)

    # -- comparisons ---------------------------------------------------------------------------------------------------

    def compare(self, question: Question) -> Compared:
        """Compare arms of sessions, or replays of the same sessions, metric by metric; see `docs/experiments.md`.

        Args:
            question: What with what: `Question(arms={"old": "model like '%-4-5%'", "new": "model like '%-4-6%'"})`.

        Returns:
            `comparison` with its effects, and what it was made from. Nothing is kept: `record` does that.

        Raises:
            BadInputError: Arms cannot be told, are empty, overlap, or the plan is for others.
            StoreError: A table cannot be read.
        """
        from workbench.reports.comparing import make_comparison  # noqa: PLC0415

        self.land_logs()
        return make_comparison(self._lake, self.config, question)

    def record(self, compared: Compared) -> str:
        """Keep a comparison in the table `comparisons`.

        Returns:
            Its id.

        Raises:
            StoreError: The table cannot be written.
        """
        from workbench.reports.comparing import record_comparison  # noqa: PLC0415

        return record_comparison(self._lake, compared)

    def telemetry_report(
        self, out: str | os.PathLike[str], question: Question, *, command: str | None = None
    ) -> WrittenComparison:
        """Write a comparison as a page, its numbers as Parquet, and a manifest from which `reproduce` makes them again.

        Args:
            out: A file that ends in `.html`, or a folder.
            question: As for `compare`.
            command: What makes it anew, for the manifest.

        Raises:
            BadInputError: As for `compare`.
            StoreError: The tables cannot be read or the files cannot be written.
        """
        from workbench.reports.telemetry_job import write_telemetry_report  # noqa: PLC0415

        self.land_logs()
        return write_telemetry_report(self._lake, self.config, Path(out), question, command=command)

    def reproduce(self, manifest: str | os.PathLike[str], *, progress: Progress | None = None) -> Reproduction:
        """Make a report's numbers again on the very snapshots it was made from, and say what is different.

        Args:
            manifest: `NAME.manifest.json` beside the report.
            progress: Called with things done, things in all and what they are.

        Raises:
            NotFoundError: There is no such file, or the numbers are not beside it.
            BadInputError: It is no manifest of such a report, or the numbers were changed.
            StoreError: A snapshot cannot be read any more.
        """
        from workbench.reports.reproduce import reproduce  # noqa: PLC0415

        return reproduce(self._lake, self.config, Path(manifest), progress=progress)
