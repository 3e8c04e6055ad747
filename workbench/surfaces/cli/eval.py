"""`workbench eval`: how well things work, measured on judged data."""

from __future__ import annotations

import json as json_module
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import plain, print_json, print_table, progress_bar

if TYPE_CHECKING:
    from workbench.experiments.retrieval.evaluation import Evaluation
    from workbench.experiments.statistics import Interval

eval_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Measure how well things work, on judged data."
)
app.add_typer(eval_app, name="eval")


class _Chunking(StrEnum):
    """Names of `experiments.retrieval.build.CHUNKINGS`, which is not loaded for `--help`."""

    PACKED = "packed"
    SECTIONS = "sections"


@eval_app.callback()
def _group() -> None:
    """Measure how well things work, on judged data."""


@eval_app.command()
def retrieval(
    context: typer.Context,
    path: Annotated[
        Path,
        typer.Argument(
            metavar="SET", help="A folder with queries.jsonl and qrels.tsv, or the JSON file of LoCoMo or LongMemEval."
        ),
    ],
    corpus: Annotated[
        Path | None,
        typer.Option(
            "--corpus", help="The documents: a folder of Markdown notes, or a .jsonl file.", show_default=False
        ),
    ] = None,
    embedder: Annotated[
        list[str] | None,
        typer.Option(
            "--embedder",
            help="A model as embedding.model takes it; give it again to compare. The configured one unless given.",
            show_default=False,
        ),
    ] = None,
    chunking: Annotated[
        list[_Chunking] | None,
        typer.Option(
            "--chunking",
            help="How documents are cut: packed (few large parts, as all that is searched) or sections (a part each, "
            "with overlap); give it again to compare.",
            show_default="packed",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write page, numbers and the values of each query there.", show_default=False),
    ] = None,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Compare grep, keyword, semantic and hybrid search on queries whose answers are known.

    The mixture of hybrid search is tuned on one half of the queries and reported on the other. Vectors are kept in the
    home; interrupted, the same command goes on from there.
    """
    from workbench.experiments.retrieval.metrics import HEADLINE  # noqa: PLC0415  (--help needs none of it)
    from workbench.experiments.retrieval.run import run_evaluation  # noqa: PLC0415
    from workbench.reports.retrieval import command_of, report_numbers, write_retrieval_report  # noqa: PLC0415

    bench = open_bench(context, home)
    with progress_bar("embedding", of_bytes=False) as progress:
        evaluations = run_evaluation(
            path, corpus, embedder or [], bench.config, bench.home.vectors, progress, chunking or [_Chunking.PACKED]
        )
    command = command_of(path, corpus, [each.model for each in evaluations], chunking or [])
    numbers = report_numbers(evaluations, command)
    written = None if out is None else write_retrieval_report(evaluations, out, command)
    if json:
        print_json(numbers)
    else:
        for each in evaluations:
            _print(each)
        for ways in numbers["chunkings"]:
            gains = ", ".join(
                f"{of} {gain[0]:+.3f} ({gain[1]:+.3f} to {gain[2]:+.3f})" for of, gain in ways["gain"].items()
            )
            print(f"{ways['model_id']}, {ways['chunking']} minus {ways['against']}, {HEADLINE}: {gains}")
        if written is not None:
            print(f"wrote {written.page}, {written.numbers.name}, {written.per_query.name} and {written.overview.name}")


def _print(each: Evaluation) -> None:
    from workbench.experiments.retrieval.metrics import HEADLINE, TOP  # noqa: PLC0415

    counts = each.counts
    print(
        f"{each.set_name}, {each.model_id}, {each.chunking}: {counts['documents']:,} documents in "
        f"{counts['chunks']:,} chunks, {counts['reporting']} queries reported, {counts['tuning']} tuned on"
    )
    with_interval = (HEADLINE, f"mrr@{TOP}")
    measures = ("recall_any@1", "recall_any@10", "tokens", "p50_ms", "p95_ms")
    rows = [
        [
            method,
            *(_with_interval(each.figure(method, name)) for name in with_interval),
            *(each.figure(method, name).estimate for name in measures),
        ]
        for method in each.methods
    ]
    print_table(("method", *with_interval, *measures), rows)
    gain = each.gain[HEADLINE]
    print(
        f"tuned: {each.choice.mixture}; {each.verdict} {each.better_single} alone: {gain.estimate:+.3f} {HEADLINE} "
        f"({gain.low:+.3f} to {gain.high:+.3f})"
    )
    for left_out in each.left_out:
        print(f"left out: {left_out}")
    print()


def _with_interval(figure: Interval) -> str:
    return f"{figure.estimate:.3f} ({figure.low:.3f} to {figure.high:.3f})"


@eval_app.command("statistics")
def statistics_(
    context: typer.Context,
    seed: Annotated[int, typer.Option("--seed", help="Of all random draws.", min=0)] = 0,
    experiments: Annotated[
        int, typer.Option("--experiments", help="Experiments a cell of the tables.", min=10)
    ] = 10_000,
    shape: Annotated[
        list[str] | None,
        typer.Option("--shape", help="Only this kind of metric; may be repeated.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write README.md and simulation.parquet there.", show_default=False),
    ] = None,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Find out how far the statistics of comparisons hold: false positives, repeated looks, coverage of intervals.

    Simulated experiments whose truth is known go through the functions that `workbench compare` uses. Ten thousand a
    cell take some minutes.
    """
    from workbench.experiments.statistics.simulation import shapes_of, simulate  # noqa: PLC0415
    from workbench.reports.statistics import command_of, frame_of, page, write_statistics  # noqa: PLC0415

    del context, home  # no home is needed; the option is there as for every command
    with progress_bar("simulating", of_bytes=False) as progress:
        found = simulate(seed=seed, experiments=experiments, shapes=shapes_of(shape or []), progress=progress)
    command = command_of(seed, experiments, shape or [])
    written = None if out is None else write_statistics(found, out, command)
    if json:
        print_json({"command": command, "seed": seed, "shares": [share.row() for share in found]})
        return
    print(page(frame_of(found), command), end="")
    if written is not None:
        print(f"wrote {plain(str(written.page))} and {written.numbers.name}")


@eval_app.command()
def links(
    context: typer.Context,
    vault: Annotated[
        Path | None,
        typer.Option("--vault", help="The folder of notes; vault.path unless given.", show_default=False),
    ] = None,
    repeats: Annotated[int, typer.Option("--repeats", help="Times that other links are hidden.", min=1)] = 5,
    share: Annotated[float, typer.Option("--share", help="Of the linked pairs, hidden at a time.", min=0, max=1)] = 0.1,
    seed: Annotated[int, typer.Option("--seed", help="Of the draws.")] = 20260301,
    as_stored: Annotated[
        bool, typer.Option("--as-stored", help="Use the stored vectors, which have seen the hidden links.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the table and its figures into this folder.", show_default=False)
    ] = None,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Hide some of a vault's links and see whether `zettel suggest` finds them, beside simpler rankings."""
    from workbench.experiments.link_holdout import HoldoutSettings  # noqa: PLC0415  (--help needs none of it)
    from workbench.reports.links import holdout_markdown, holdout_numbers  # noqa: PLC0415

    asked = open_bench(context, home).vault(vault)
    settings = HoldoutSettings(share, repeats, seed=seed)
    with progress_bar("hiding", of_bytes=False) as progress:
        found = asked.link_holdout(settings, as_stored=as_stored, progress=progress)
    command = f"workbench eval links --vault {asked.root.name} --repeats {repeats} --share {share:g} --seed {seed}"
    told = (found, asked.root.name, command + (" --as-stored" if as_stored else ""))
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        stem = f"link-holdout-{asked.root.name}"
        (out / f"{stem}.md").write_text(holdout_markdown(*told), encoding="utf-8")
        (out / f"{stem}.json").write_text(json_module.dumps(holdout_numbers(*told), indent=1) + "\n", encoding="utf-8")
    if json:
        print_json(holdout_numbers(*told))
    else:
        print(plain(holdout_markdown(*told)))
